package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/device/devicetest"
	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/nightly"
	"ds2/internal/result"
)

// onSlowDrives is a server whose data and whose log lie on drives of their own, which can be held back, and that
// has so little memory that its reads come from there.
func onSlowDrives(t *testing.T) (target string, data, log *devicetest.Slow) {
	t.Helper()
	data = devicetest.MountSlow(t, "ext4", devicetest.Memory(t), 700<<20)
	log = devicetest.MountSlow(t, "ext4", devicetest.Memory(t), 200<<20)
	server := pgtest.Start(t, localpg.Options{DataDir: filepath.Join(data.Dir, "data"), Settings: map[string]string{
		"shared_buffers": "16MB", "max_wal_size": "64MB", "checkpoint_timeout": "30s", "autovacuum": "off",
	}})
	server.Kill()
	wal := filepath.Join(server.DataDir(), "pg_wal")
	move := exec.Command("sh", "-ec", `cp -a "$0" "$1"; rm -r "$0"; ln -s "$1" "$0"`, wal, log.Dir+"/pg_wal")
	out, err := move.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NoError(t, server.Restart(t.Context()))
	t.Cleanup(holdMemory(t, server, 90<<20))
	return server.URL("mail"), data, log
}

// holdMemory holds a server and the kernel's cache of its files to so many bytes. What it gives ends that.
func holdMemory(t *testing.T, server *localpg.Server, bytes int64) (end func()) {
	t.Helper()
	group, limit := fmt.Sprintf("/sys/fs/cgroup/memory/ds2-slow-%d", os.Getpid()), "memory.limit_in_bytes"
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil {
		group, limit = fmt.Sprintf("/sys/fs/cgroup/ds2-slow-%d", os.Getpid()), "memory.max"
	}
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Skipf("no control group can be made: %v", err)
	}
	if err := os.WriteFile(filepath.Join(group, limit), []byte(strconv.FormatInt(bytes, 10)), 0); err != nil {
		t.Skipf("no control group can be limited: %v", err)
	}
	processes := pgtest.Processes(t, server.DataDir())
	for i, process := range processes {
		err := os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(process), 0)
		if err != nil && i == len(processes)-1 {
			t.Skipf("no process can be put into a control group: %v", err)
		}
	}
	return func() {
		server.Stop()
		for range 100 { // until the kernel has seen that nobody is in it
			if os.Remove(group) == nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Errorf("%s stays", group)
	}
}

// TestMailboxVerdict has a real PostgreSQL with 20 mailboxes of 10 MB on drives that are held back: Jetstress's limits
// turn with slow reads of the data and with slow writes of the log, and not with slow writes of the data.
func TestMailboxVerdict(t *testing.T) {
	nightly.Only(t, "takes a minute")
	target, data, log := onSlowDrives(t)
	must(t, words("load --target %s --workload mailbox --mailboxes 20 --mailbox-size 10MB -q", target)...)
	for _, c := range []struct {
		why                      string
		reads, writes, logWrites int // a second; 0: any number
		above                    int // reads that reach the data's drive a second
		want                     int
		fails                    string
	}{
		{"reads", 300, 0, 0, 0, exitDone, ""},
		{"slow reads", 20, 0, 0, 0, exitVerdict, "data read mean < 20ms"},
		{"reads held above the drive", 0, 0, 0, 20, exitVerdict, "data read mean < 20ms"},
		{"writes of the log", 0, 0, 300, 0, exitDone, ""},
		{"slow writes of the log", 0, 0, 30, 0, exitVerdict, "log write mean < 10ms"},
		{"slow writes of the data", 0, 40, 0, 0, exitDone, ""},
	} {
		t.Run(c.why, func(t *testing.T) {
			out, over := filepath.Join(t.TempDir(), "record"), make(chan struct{})
			var slowing sync.WaitGroup
			slowing.Go(func() { // from the first operations on: the driver reads all keys before
				for _, err := os.Stat(filepath.Join(out, result.HostFile)); err != nil; {
					select {
					case <-over:
						return
					case <-time.After(20 * time.Millisecond):
						_, err = os.Stat(filepath.Join(out, result.HostFile))
					}
				}
				data.Hold(t, c.reads, c.writes)
				data.HoldAbove(t, c.above, 0)
				log.Hold(t, 0, c.logWrites)
			})
			code, stdout, stderr := execute(t, quick("drive", target,
				"--threads 3 --warmup-time 2s --run-time 8s --limit exchange2007 --verify none -q --out %s", out)...)
			close(over)
			slowing.Wait()
			data.Hold(t, 0, 0)
			data.HoldAbove(t, 0, 0)
			log.Hold(t, 0, 0)
			record := recordOf(t, out)
			t.Logf("limits %+v", record.Limits)
			warnings := strings.Join(record.Bottleneck.Warnings, "\n")
			assert.Equal(t, c.above > 0, strings.Contains(warnings, "what lies above them holds"), warnings)
			assert.Equal(t, c.want, code, "%s\n%s", stdout, stderr)
			assert.Contains(t, stderr, c.fails)
			d := record.Storage
			require.True(t, d != nil && !d.Shared && d.Reads != 0 && d.LogWrites != 0, "storage %+v", d)
			for _, v := range d.Volumes {
				require.True(t, v.Name != data.Name || c.writes == 0 || v.WriteMean != nil &&
					*v.WriteMean >= 0.02, "the data's writes were not slow: %+v", v)
			}
		})
	}
	must(t, "verify", "--target", target, "-q")
}
