package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/device/devicetest"
	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/result"
)

// TestMailboxBesideOthers: fio reads 100 pages a second from the drive of the mailboxes, which are
// in memory. They are not among the achieved I/Os, and the run says how many they were; without fio
// it says nothing.
func TestMailboxBesideOthers(t *testing.T) {
	t.Parallel()
	fio, err := exec.LookPath("fio")
	if err != nil {
		t.Skip(err)
	}
	drive := devicetest.Mount(t, "/dev/shm", 900<<20)
	server := pgtest.Start(t, localpg.Options{DataDir: filepath.Join(drive.Dir, "data")})
	target := server.URL("mail")
	must(
		t,
		words(
			"load --target %s --workload mailbox --mailboxes 10 --mailbox-size 5MB -q",
			target,
		)...)
	job := words("--name=others --directory=%s --size=64m --rw=randread --bs=8k --direct=1 "+
		"--rate_iops=100 --thread --time_based --runtime=60s", drive.Dir)
	require.NoError(
		t,
		exec.CommandContext(t.Context(), fio, append(job, "--create_only=1")...).Run(),
	)
	for _, beside := range []bool{false, true} {
		if beside {
			others := exec.CommandContext(t.Context(), fio, job...)
			require.NoError(t, others.Start())
			defer others.Wait()
			defer others.Process.Kill()
			laid := drive.Counts(t).Reads
			await(t, "fio", func() bool { return drive.Counts(t).Reads >= laid+50 })
		}
		drive.Sync(t) // what the load or the run before wrote is none of this one's
		reads := drive.WatchReads(t)
		out := filepath.Join(t.TempDir(), "record")
		code, stdout, stderr := execute(t, quick("drive", target,
			"--warmup-time 4s --run-time 10s --think-time 20ms --verify none -q --out %s", out)...)
		require.Equal(t, exitDone, code, "%s\n%s", stdout, stderr)
		r := recordOf(t, out)
		w := r.Windows[0]
		did := reads(r.At(w.From), r.At(w.To))
		var said []result.Finding
		for _, f := range r.Findings {
			if f.Kind == result.OtherIO {
				said = append(said, f)
			}
		}
		require.NotNil(t, r.Storage)
		t.Logf("%.1f reads, %.1f writes, others %v, the kernel counted %.1f",
			r.Storage.Reads, r.Storage.Writes, said, did)
		if !beside {
			assert.Less(t, r.Storage.Reads, 30.)
			assert.Empty(t, said)
			continue
		}
		require.Len(t, said, 1)
		assert.InEpsilon(t, did, said[0].Figures["ios"], .4)
		assert.Less(t, r.Storage.Reads, .3*did)
		assert.Contains(t, said[0].Words(), "other programs made")
	}
}
