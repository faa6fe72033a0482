package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/result"
	"ds2/internal/texttest"
)

// TestMoreUsersThanConnections has a role that may have fewer connections than the run has users: terminal and log say
// so while the users wait.
func TestMoreUsersThanConnections(t *testing.T) {
	t.Parallel()
	target := loaded(t)
	db := openDB(t, target)
	pgtest.Exec(t, db,
		"CREATE ROLE few LOGIN PASSWORD 'few' CONNECTION LIMIT 8",
		"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO few")
	t.Cleanup(func() { pgtest.Exec(t, db, "DROP OWNED BY few; DROP ROLE few") })
	out := filepath.Join(t.TempDir(), "record")
	_, stderr := ends(t, exitFailed, words("drive --target %s --threads 20 --max-retries 1 --warmup-time 0 "+
		"--run-time 1s --metrics-addr '' --quiet --out %s", pgtest.As(t, target, "few", "few"), out)...)
	const reason = `too many connections for role "few"`
	said, end, _ := strings.Cut(stderr, "record: ")
	texttest.Contains(t, said, "users wait to be connected: ", reason)
	assert.Contains(t, end, reason)
	assert.Contains(t, read(t, filepath.Join(out, "run.log")), "users wait to be connected")
}

// TestFullDisk has the disk of the record full in mid-run: what was measured is printed.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	p := startProgram(t, quick("drive", loaded(t), "--run-time 2m --window 1s-2s --window 5s-6s --window 8s-9s "+
		"--window 11s-12s --out disk/out")...)
	disk := filepath.Join(p.Dir, "disk")
	require.NoError(t, os.Mkdir(disk, 0o755))
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=4m"); err != nil {
		t.Skip("only root can mount a small disk: ", err)
	}
	t.Cleanup(func() { syscall.Unmount(disk, syscall.MNT_DETACH) })
	p.start(t)
	p.await(t, "orders", p.holds("disk/out/run.log", "phase=run"))
	p.await(t, "the first window", func() bool {
		r, err := result.Read(filepath.Join(disk, "out"))
		return err == nil && len(r.Series.Intervals) > 0
	})
	require.ErrorIs(t, os.WriteFile(filepath.Join(disk, "ballast"), make([]byte, 4<<20), 0o600), syscall.ENOSPC)
	p.ends(t, exitFailed)
	assert.Contains(t, p.stderr.String(), "no space left on device")
	assert.Contains(t, p.stdout.String(), " OPM", "printed")
}
