package runs

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ds2/internal/localpg"
	"ds2/internal/monitor"
	"ds2/internal/nightly"
	"ds2/internal/result"
)

// TestDebt has a run end with its deferred work.
func TestDebt(t *testing.T) {
	nightly.Long(t, "makes a run and waits for the server")
	t.Parallel()
	_, o := ready(t, localpg.Options{})
	o.Debt, o.CheckpointFirst = true, true
	observe(t, &o, monitor.Options{})
	r := recorded(t, begin(t, o), nil)
	d := r.Debt
	require.NotNil(t, d)
	require.GreaterOrEqual(t, len(d.Steps), 3)
	require.Empty(t, d.Error)
	require.NotZero(t, d.RowsBefore)
	require.Zero(t, d.RowsAfter)
	require.Positive(t, d.Seconds)
	require.False(t, d.Older)
	ended := r.Phases[len(r.Phases)-1].To
	sum := 0.0
	for _, step := range d.Steps {
		sum += step.Seconds
		require.GreaterOrEqual(t, step.At, ended, "when the users left: %+v", step)
		require.Equal(t, o.Targets[0].Label(), step.Target)
	}
	require.InDelta(t, d.Seconds, sum, 1e-6)
	if r.Machine != nil && len(r.Machine.Drives) > 0 && (d.Writes == nil || d.WrittenBytes == nil) {
		t.Errorf("the drives are observed: %+v", d.IO)
	}
	told := func(c result.Condition) bool { return c.Name == result.RateWithDebt }
	require.True(t, slices.ContainsFunc(r.Conditions, told), "the rate with the deferred work")
}

// TestDebtOfDrives spreads samples of a second over steps.
func TestDebtOfDrives(t *testing.T) {
	start := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	table := monitor.Table{Columns: []string{"disk.sda.writes_per_second", "disk.sda.reads_per_second"}}
	// Samples at 1 s, 2 s, …; the first step is in the second half of its second.
	for second, writes := range []float64{1000, 0, 10, 20, 30, 40, 0, 1000} {
		at := start.Add(time.Duration(second+1) * time.Second)
		table.Rows = append(table.Rows, monitor.Row{Time: at, Values: []float64{writes, math.NaN()}})
	}
	d := &result.Debt{Steps: []result.DebtStep{{At: 2.5, Seconds: 1}, {At: 3.5, Seconds: 2.2}}}
	addDebt(table, &result.Summary{Happened: result.Happened{Start: start, Debt: d}})
	require.Equal(t, []float64{100, 20, 80}, []float64{*d.Writes, *d.Steps[0].Writes, *d.Steps[1].Writes})
	require.Nil(t, d.Reads, "reads that nobody counted")
}
