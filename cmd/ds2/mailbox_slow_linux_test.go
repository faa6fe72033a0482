package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
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

// onSlowDrives is a server whose data and whose log lie on drives of their own, which can be told to be slow, and that
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

// TestMailboxVerdict has a real PostgreSQL with 20 mailboxes of 10 MB on drives that are slowed: Jetstress's limits
// turn with slow reads of the data and with slow writes of the log, and not with slow writes of the data.
// DS2_TEST_DELAYS names other delays than those of the test, such as "read=19ms,read=21ms,log=9ms,log=11ms,write=71ms".
func TestMailboxVerdict(t *testing.T) {
	nightly.Only(t, "takes a minute")
	const reads, writes, logs = "read", "write", "log"
	type trial struct {
		what  string
		delay time.Duration
	}
	var trials []trial
	asked := cmp.Or(os.Getenv("DS2_TEST_DELAYS"), "read=10ms,read=30ms,log=4ms,log=15ms,write=71ms")
	for one := range strings.SplitSeq(asked, ",") {
		what, text, _ := strings.Cut(one, "=")
		delay, err := time.ParseDuration(text)
		require.NoError(t, err)
		trials = append(trials, trial{what, delay})
	}
	target, data, log := onSlowDrives(t)
	must(t, words("load --target %s --workload mailbox --mailboxes 20 --mailbox-size 10MB -q", target)...)
	for _, c := range trials {
		t.Run(fmt.Sprint(c.what, " ", c.delay), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "record")
			slow, done := make(chan struct{}), make(chan struct{})
			go func() { // slow from the first operations on: the driver reads all keys before
				defer close(done)
				for {
					if _, err := os.Stat(filepath.Join(dir, result.HostFile)); err == nil {
						break
					}
					select {
					case <-slow:
						return
					case <-time.After(20 * time.Millisecond):
					}
				}
				switch c.what {
				case reads:
					data.Delay(c.delay, 0)
				case writes:
					data.Delay(0, c.delay)
				case logs:
					log.Delay(0, c.delay)
				}
			}()
			code, stdout, stderr := execute(t, quick("drive", target,
				"--threads 3 --warmup-time 2s --run-time 8s --limit exchange2007 --verify none -q --out %s", dir)...)
			close(slow)
			<-done
			data.Delay(0, 0)
			log.Delay(0, 0)
			record, err := result.Read(dir)
			require.NoError(t, err, stderr)
			for _, v := range record.Limits {
				if v.Measured != nil {
					t.Logf("%s: measured %.3g, %v", v.Limit, *v.Measured, v.OK)
				}
			}
			want, fails := exitDone, ""
			switch {
			case c.what == reads && c.delay >= 20*time.Millisecond:
				want, fails = exitVerdict, "data read mean < 20ms"
			case c.what == logs && c.delay >= 10*time.Millisecond:
				want, fails = exitVerdict, "log write mean < 10ms"
			}
			assert.Equal(t, want, code, "%s\n%s", stdout, stderr)
			assert.Contains(t, stderr, fails)
			d := record.Storage
			require.True(t, d != nil && !d.Shared && d.Reads != 0 && d.LogWrites != 0, "storage %+v", d)
			for _, v := range d.Volumes {
				if v.Name == data.Name && c.what == writes {
					require.True(t, v.WriteMean != nil && *v.WriteMean >= c.delay.Seconds(),
						"the data's writes were not slow: %+v", v)
					t.Logf("%.0f writes of the data a second, of %.3g s", v.Writes, *v.WriteMean)
				}
			}
		})
	}
	must(t, "verify", "--target", target, "-q")
}
