package runs

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/diskspace"
	"ds2/internal/measure"
	"ds2/internal/monitor"
)

// TestRoomThatDoesNotFill: a file system that nothing fills lasts for ever, so nothing is said; of
// one that fills it is said when it will be full.
func TestRoomThatDoesNotFill(t *testing.T) {
	dir := t.TempDir()
	free, ok := diskspace.Free(dir)
	require.True(t, ok)
	for before, warnings := range map[int64]int{0: 0, free + free/10: 1} {
		filled := &place{Room: monitor.Room{Dir: dir, Mount: dir}}
		filled.free = slices.Repeat([]int64{before}, growthSamples) // one a second, until now
		var said []string
		run := &Run{places: []*place{filled}}
		run.options.RunTime.Duration = time.Hour
		run.options.Tell = func(format string, args ...any) {
			said = append(said, fmt.Sprintf(format, args...))
		}
		require.NoError(t, recorder{run}.checkRoom(measure.Sample{Phase: measure.PhaseRun}))
		assert.Len(t, said, warnings, said)
	}
}
