package directory

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/datagen"
)

// Files of one part come first, the largest first; then the others' parts in turn.
func TestSchedule(t *testing.T) {
	data := dataset(t, datagen.W, datagen.Options{PartRows: PartRows})
	var files []*fileWork
	named := map[string]*fileWork{}
	parts := 0
	for _, f := range data.Files() {
		named[f.Name] = newFileWork(f, &Entry{})
		files = append(files, named[f.Name])
		parts += len(f.Parts)
	}
	jobs := scheduleParts(files)
	require.Equal(t, parts, len(jobs), "jobs")
	next := map[string]int{}
	for i, j := range jobs {
		larger := i > 0 && i < 38 && j.part.Bytes > jobs[i-1].part.Bytes
		assert.False(t, larger, "part %d, of %s, is larger than the one before", i, j.part.File)
		customers := j.part.File == "us_cust.csv" || j.part.File == "row_cust.csv"
		outOfTurn := i >= 38 && (!customers || j.part.File == jobs[i-1].part.File)
		assert.False(
			t,
			outOfTurn,
			"part %d is of %s, the file of the one before, or of one part",
			i,
			j.part.File,
		)
		turn := named[j.part.File].jobs[next[j.part.File]]
		require.True(
			t,
			turn.blocks == j.blocks,
			"part %d, of %s, comes before its turn",
			i,
			j.part.File,
		)
		next[j.part.File]++
	}
}

// TestSlowDisk stops all writers: the makers make no more of 320 MB than some parts.
func TestSlowDisk(t *testing.T) {
	size := datagen.Size{Customers: 2_000_000, OrdersPerMonth: 100, Products: 1_000}
	data := dataset(t, size, datagen.Options{PartRows: PartRows})
	plan, err := NewPlan(t.TempDir(), data, all)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	ended := make(chan error, 1)
	allocated := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.TotalAlloc
	}
	before := allocated()
	go func() {
		_, err := plan.Run(ctx, func(int64) { <-release })
		ended <- err
	}()
	took := uint64(0)
	// Until nothing more is made.
	for now := allocated() - before; now != took || now < 1<<20; now = allocated() - before {
		took = now
		time.Sleep(300 * time.Millisecond)
	}
	// With the rest of a process, 64 MiB at any size.
	assert.LessOrEqual(t, took, uint64(32<<20), "bytes that were made and not written")
	cancel()
	close(release)
	assert.ErrorIs(t, <-ended, context.Canceled)
}
