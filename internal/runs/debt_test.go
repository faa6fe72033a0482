package runs

import (
	"math"
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
	_, s := loaded(t, localpg.Options{})
	o := options(t, s)
	o.Debt, o.CheckpointFirst = true, true
	observe(t, &o, monitor.Options{})
	run := begin(t, o)
	driven(t, run)
	r, err := result.Read(o.Dir)
	require.NoError(t, err)
	d := r.Debt
	if d == nil || len(d.Steps) < 3 || d.Error != "" || d.RowsBefore == 0 || d.RowsAfter != 0 || d.Seconds <= 0 || d.Older {
		t.Fatalf("%+v", d)
	}
	ended := r.Phases[len(r.Phases)-1].To
	sum := 0.0
	for _, step := range d.Steps {
		sum += step.Seconds
		if step.At < ended || step.Target != s.Label() {
			t.Errorf("%+v, and the users left after %v s", step, ended)
		}
	}
	if math.Abs(sum-d.Seconds) > 1e-6 {
		t.Errorf("%v s in steps of together %v s", d.Seconds, sum)
	}
	if r.Machine != nil && len(r.Machine.Drives) > 0 && (d.Writes == nil || d.WrittenBytes == nil) {
		t.Errorf("the drives are observed: %+v", d.IO)
	}
	settled := 0.0
	for _, c := range r.Conditions {
		if c.Name == result.RateWithDebt {
			settled = c.Value
		}
	}
	worked := 0.0
	for _, p := range r.Phases {
		if p.Phase == "run" {
			worked = p.To
		}
	}
	if want := *r.OPM * worked / (worked + d.Seconds); math.Abs(settled-want) > 1e-9*want {
		t.Errorf("%v OPM with the deferred work, want %v", settled, want)
	}
}

// TestDebtOfDrives spreads samples of a second over steps.
func TestDebtOfDrives(t *testing.T) {
	start := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	table := monitor.Table{Columns: []string{"disk.sda.writes_per_second", "disk.sda.reads_per_second"}}
	for second, writes := range []float64{1000, 0, 10, 20, 30, 40, 0, 1000} { // samples at 1 s, 2 s, …; the first step is in the second half of its second
		table.Rows = append(table.Rows, monitor.Row{Time: start.Add(time.Duration(second+1) * time.Second), Values: []float64{writes, math.NaN()}})
	}
	s := result.Summary{Happened: result.Happened{Start: start, Debt: &result.Debt{Steps: []result.DebtStep{{At: 2.5, Seconds: 1}, {At: 3.5, Seconds: 2.2}}}}}
	addDebt(table, &s)
	d := s.Debt
	if *d.Writes != 100 || *d.Steps[0].Writes != 20 || *d.Steps[1].Writes != 80 {
		t.Errorf("%v writes, %v and %v", *d.Writes, *d.Steps[0].Writes, *d.Steps[1].Writes)
	}
	if d.Reads != nil {
		t.Errorf("%v reads that nobody counted", *d.Reads)
	}
}
