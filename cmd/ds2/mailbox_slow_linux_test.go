package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/device/devicetest"
	"ds2/internal/diagnose"
	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/nightly"
	"ds2/internal/result"
)

// onSlowDrives is a server of a version whose data and whose log lie on separate drives, which can
// be held back.
func onSlowDrives(t *testing.T, version int) (server *localpg.Server, data, log *devicetest.Slow) {
	t.Helper()
	data = devicetest.MountSlow(t, "ext4", "/dev/shm", 1000<<20)
	log = devicetest.MountSlow(t, "ext4", "/dev/shm", 200<<20)
	server = pgtest.Start(t, localpg.Options{
		Version: version, DataDir: filepath.Join(data.Dir, "data"), Settings: map[string]string{
			"shared_buffers":     "16MB",
			"max_wal_size":       "64MB",
			"checkpoint_timeout": "30s",
			"autovacuum":         "off",
		},
	})
	pgtest.MoveLog(t, server, log.Dir)
	return server, data, log
}

// holdMemory holds a server and the kernel's cache of its files to n bytes. What it gives ends
// that.
func holdMemory(t *testing.T, server *localpg.Server, bytes int64) (end func()) {
	t.Helper()
	group := fmt.Sprintf("/sys/fs/cgroup/memory/ds2-slow-%d", os.Getpid())
	limit := "memory.limit_in_bytes"
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil {
		group = fmt.Sprintf("/sys/fs/cgroup/ds2-slow-%d", os.Getpid())
		limit = "memory.max"
	}
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Skipf("no control group can be made: %v", err)
	}
	if err := os.WriteFile(
		filepath.Join(group, limit),
		[]byte(strconv.FormatInt(bytes, 10)),
		0,
	); err != nil {
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
		for range 100 { // until the kernel has seen that it is empty
			if os.Remove(group) == nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Errorf("%s stays", group)
	}
}

// TestMailboxVerdict has users work on drives that are held back, or the server above them:
// Jetstress's limits turn with slow reads of the data and slow writes of the log, wherever these
// wait, and not with slow writes of the data. A result names the layer above the drives where it is
// that.
func TestMailboxVerdict(t *testing.T) {
	nightly.Only(t, "takes minutes")
	for _, version := range []int{15, 18} {
		t.Run(fmt.Sprintf("PostgreSQL %d", version), func(t *testing.T) {
			testMailboxVerdict(t, version)
		})
	}
}

func testMailboxVerdict(t *testing.T, version int) {
	const slowReads, slowLog = "data read mean < 20ms", "log write mean < 10ms"
	server, data, log := onSlowDrives(t, version)
	must(
		t,
		words(
			"load --target %s --workload mailbox --mailboxes 20 --mailbox-size 10MB -q",
			server.URL("mail"),
		)...)
	must(t, words("load --target %s --size 200MB -q", server.URL("ds2"))...)
	t.Cleanup(holdMemory(t, server, 90<<20))
	devicetest.Forget(t, server.DataDir())
	for _, c := range []struct {
		why                      string
		workload                 string
		reads, writes, logWrites int // a second; 0: any number
		above, logAbove          int // of these, what reaches the drives
		want                     int
		fails                    string
	}{
		{"reads", "mail", 300, 0, 0, 0, 0, exitDone, ""},
		{"slow reads", "mail", 20, 0, 0, 0, 0, exitVerdict, slowReads},
		{"reads held above the drive", "mail", 0, 0, 0, 20, 0, exitVerdict, slowReads},
		{"reads", "ds2", 0, 0, 0, 0, 0, exitDone, ""},
		{"slow reads", "ds2", 20, 0, 0, 0, 0, exitVerdict, slowReads},
		{"reads held above the drive", "ds2", 0, 0, 0, 20, 0, exitVerdict, slowReads},
		{"writes of the log", "mail", 0, 0, 300, 0, 0, exitDone, ""},
		{"slow writes of the log", "mail", 0, 0, 30, 0, 0, exitVerdict, slowLog},
		{"writes of the log held above the drive", "mail", 0, 0, 0, 0, 30, exitVerdict, slowLog},
		{"slow writes of the data", "mail", 0, 40, 0, 0, 0, exitDone, ""},
	} {
		t.Run(c.workload+", "+c.why, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "record")
			over := make(chan struct{})
			hold := func(reads, writes, logWrites, above, logAbove int) {
				data.Hold(t, reads, writes)
				data.HoldAbove(t, above, 0)
				log.Hold(t, 0, logWrites)
				log.HoldAbove(t, 0, logAbove)
			}
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
				hold(c.reads, c.writes, c.logWrites, c.above, c.logAbove)
			})
			code, stdout, stderr := execute(t, quick(
				"drive",
				server.URL(c.workload),
				"--threads 3 --warmup-time 2s --run-time 8s --limit exchange2007 --verify none -q --out %s",
				out,
			)...)
			close(over)
			slowing.Wait()
			hold(0, 0, 0, 0, 0)
			record := recordOf(t, out)
			t.Logf("limits %+v", record.Limits)
			warnings := strings.Join(result.Sentences(record.Findings, result.Reserves), "\n")
			held := strings.Contains(warnings, "something above them limits it")
			assert.Equal(t, c.above+c.logAbove > 0, held, warnings)
			assert.Equal(t, c.want, code, "%s\n%s", stdout, stderr)
			assert.Contains(t, stderr, c.fails)
			if c.reads == 20 {
				assert.Equal(t, diagnose.Storage, record.Bottleneck.What, record.Bottleneck.Why)
			}
			if c.workload != "mail" {
				return
			}
			d := record.Storage
			require.True(
				t,
				d != nil && !d.Shared && d.Reads != 0 && d.LogWrites != 0,
				"storage %+v",
				d,
			)
			for _, v := range d.Volumes {
				require.True(t, v.Name != data.Name || c.writes == 0 || v.WriteMean != nil &&
					*v.WriteMean >= 0.02, "the data's writes were not slow: %+v", v)
			}
		})
	}
	must(t, "verify", "--target", server.URL("mail"), "-q")
}
