package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/result"
)

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
