package result

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/measure"
	"ds2/internal/sampling"
	"ds2/internal/topology"
)

var hostStart = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// hostTable is a minute of two columns, the first ten seconds before the run; at second 5 the
// second column has no value.
func hostTable() *sampling.Table {
	t := &sampling.Table{Columns: []string{"disk.sda.queue", "power.watts"}}
	for second := -10; second < 50; second++ {
		values := []float64{float64(second) / 4, 123456}
		if second == 5 {
			values[1] = math.NaN()
		}
		row := sampling.Row{
			Time:   hostStart.Add(time.Duration(second) * time.Second),
			Values: values,
		}
		if second == 6 { // which has the second before, too
			row.Covers = []float64{1, 2}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func TestHostIsTheSameAfterReading(t *testing.T) {
	dir := t.TempDir()
	want := hostTable()
	require.NoError(
		t,
		errors.Join(SaveSummary(dir, summaryOf(Running)), SaveHost(dir, want, hostStart)),
	)
	r, err := Read(dir)
	require.NoError(t, err)
	require.Equal(t, len(want.Rows), len(r.Host.Rows), "rows after reading")
	queue := r.Host.Values("disk.sda.queue")
	watts := r.Host.Values("power.watts")
	for i, row := range want.Rows {
		assert.True(t, r.Host.Rows[i].Time.Equal(row.Time) && queue[i] == row.Values[0],
			"row %d is %v, want %v", i, r.Host.Rows[i], row)
		assert.InDelta(t, row.Values[1], watts[i], 50, "watts of row %d, to four digits", i)
		assert.Equal(t, row.Covers, r.Host.Rows[i].Covers, "row %d", i)
	}
}

func TestReadHostAfterCrash(t *testing.T) {
	dir := t.TempDir()
	table := hostTable()
	require.NoError(t, SaveSummary(dir, summaryOf(Running)))
	w, err := CreateHost(dir, table.Columns, hostStart)
	require.NoError(t, err)
	for _, row := range table.Rows[:30] {
		w.Write(&row)
	}
	require.NoError(t, w.Flush())
	for _, row := range table.Rows[30:] {
		w.Write(&row) // lost
	}
	require.NoError(t, w.file.Close())
	r, err := Read(dir)
	require.NoError(t, err)
	assert.Len(t, r.Host.Rows, 30, "rows after a crash")
}

// TestCheckpointsAtOnce: a damaged record may have a cycle without length, which is none.
func TestCheckpointsAtOnce(t *testing.T) {
	s := Summary{Happened: Happened{Servers: []topology.Server{{}}}}
	series := measure.Series{Samples: []measure.Sample{{End: time.Hour}}}
	at := sampling.Row{Time: s.Start.Add(time.Minute), Values: []float64{1, 1}}
	counters := &sampling.Table{
		Columns: []string{sampling.DatabaseCheckpointPages, sampling.DatabaseCheckpoints},
		Rows:    []sampling.Row{at, at},
	}
	AddCheckpoints(&s, &series, counters)
	assert.Len(t, s.Checkpoints, 2)
	assert.Len(t, series.Cycles, 1)
}

// TestIndirectCheckpoints: a server that writes changed pages all the time has no cycles, and it is
// said why.
func TestIndirectCheckpoints(t *testing.T) {
	for seconds, known := range map[string]bool{"60": false, "0": true, "": true} {
		server := topology.Server{Settings: map[string]string{targetRecovery: seconds}}
		s := Summary{Happened: Happened{Servers: []topology.Server{server}}}
		series := measure.Series{Samples: []measure.Sample{{End: time.Minute}}}
		counters := &sampling.Table{
			Columns: []string{sampling.DatabaseCheckpointPages},
			Rows:    []sampling.Row{{Time: s.Start, Values: []float64{0}}},
		}
		AddCheckpoints(&s, &series, counters)
		assert.Equal(t, known, series.Cycles != nil, "target recovery time %q", seconds)
		assert.Equal(
			t,
			!known,
			strings.Contains(series.NoCycles, "recover within 1m0s"),
			series.NoCycles,
		)
	}
}
