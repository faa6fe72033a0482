package runs

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/device/devicetest"
	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/monitor"
	"ds2/internal/result"
	"ds2/internal/sampling"
)

// TestOtherProgramsOnTheDrive: fio reads 100 pages a second from the drive of the data, beside a
// run whose database is in memory. They are not achieved, by what servers before and after version
// 16 count of their own, and the run says so; without fio it says nothing.
func TestOtherProgramsOnTheDrive(t *testing.T) {
	t.Parallel()
	fio, err := exec.LookPath("fio")
	require.NoError(t, err)
	drive := devicetest.Mount(t, "/dev/shm", 700<<20)
	log := devicetest.Mount(t, "/dev/shm", 200<<20)
	server, o := ready(t, localpg.Options{DataDir: filepath.Join(drive.Dir, "data")})
	if strings.HasPrefix(server.Version(), "13.") { // which does not count its syncs of the log
		o.Databases[0].DB().SetMaxIdleConns(0) // the server ends connections
		pgtest.MoveLog(t, server, log.Dir)
	}
	for _, beside := range []bool{false, true} {
		o.RunTime.Duration = 8 * time.Second
		o.Dir = filepath.Join(t.TempDir(), "record")
		observe(t, &o, monitor.Options{})
		run := begin(t, o)
		if beside {
			job := []string{
				"--name=others",
				"--directory=" + drive.Dir,
				"--size=64m",
				"--rw=randread",
				"--bs=8k",
				"--direct=1",
				"--rate_iops=100",
				"--thread",
				"--time_based",
				"--runtime=60s",
			}
			lay := exec.CommandContext(t.Context(), fio, append(job, "--create_only=1")...)
			require.NoError(t, lay.Run())
			c := exec.CommandContext(t.Context(), fio, job...)
			require.NoError(t, c.Start())
			defer c.Wait()
			defer c.Process.Kill()
			laid := drive.Counts(t).Reads
			await(t, func() bool { return drive.Counts(t).Reads >= laid+50 })
		}
		drive.Sync(t) // what the load or the run before wrote is none of this one's
		reads := drive.WatchReads(t)
		r := recorded(t, run, nil)
		w := r.Windows[0]
		seen := sampling.Drives{
			Counters: r.Host,
			Machine:  r.Machine,
			From:     r.At(w.From),
			To:       r.At(w.To),
		}
		s, err := seen.Storage()
		require.NoError(t, err)
		warned := strings.Join(result.Sentences(r.Findings, result.Reserves), "\n")
		if !beside {
			assert.Zero(t, s.Others)
			assert.NotContains(t, warned, "other programs made")
			continue
		}
		did := reads(seen.From, seen.To)
		t.Logf("%.1f reads, %.1f writes, others %.1f, the kernel counted %.1f: %s",
			s.Reads, s.Writes, s.Others, did, warned)
		assert.InEpsilon(t, did, s.Others, .4)
		assert.Less(t, s.Reads, .3*did)
		assert.Contains(t, warned, "other programs made")
	}
}
