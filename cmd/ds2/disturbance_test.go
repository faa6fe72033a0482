package main

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ds2/internal/measure"
	"ds2/internal/monitor"
	"ds2/internal/report"
	"ds2/internal/result"
	"ds2/internal/texttest"
	"ds2/internal/workload/ds2"
)

// stalled writes the record of a made-up run of 100 orders a second that an event stops for some seconds.
func stalled(t *testing.T, dir string, seconds int) string {
	t.Helper()
	const at, length, rate = 40, 90, 100
	s := result.Summary{
		Asked: result.Asked{RunID: "made", Workload: ds2.Name, Words: ds2.Workload{}.Words(), Engine: "postgres",
			Targets: []string{"host/db"}},
		Happened: result.Happened{Status: result.Done, Start: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC),
			Events: []result.Event{{Asked: at, From: at, To: at, Command: "dmsetup suspend data"}}},
	}
	w, err := result.Create(dir, s)
	require.NoError(t, err)
	meter := measure.NewMeter([]string{"read"}, s.Targets)
	user := meter.NewRecorder(0)
	meter.Enter(measure.PhaseRun)
	for second := range length {
		for range rate {
			var o measure.Order
			took := 10 * time.Millisecond
			switch {
			case second >= at && second < at+seconds:
				continue
			case second == at+seconds:
				took = time.Duration(seconds) * time.Second
			}
			o.AddLatency(0, took)
			o.Complete(0, took, took)
			user.Record(&o)
		}
		end := time.Duration(second+1) * time.Second
		require.NoError(t, w.Sample(meter.Sample(end, []measure.Users{{measure.UserRunning: 1}})))
		if (second+1)%10 == 0 {
			require.NoError(t, w.Interval(meter.Interval(end)))
		}
	}
	concluded(t, dir, w, s, monitor.Table{})
	return dir
}

// TestCompareDisturbances: a comparison of runs that were stopped for 8 s and for 2 s, and of one that an event did
// nothing to, says how many orders each lost, when the rate was back, and how long the longest order took: as text,
// page and JSON.
func TestCompareDisturbances(t *testing.T) {
	dir := t.TempDir()
	arguments := []string{"compare", "--details"}
	for name, seconds := range map[string]int{"long": 8, "short": 2, "none": 0} {
		arguments = append(arguments, name+"="+stalled(t, filepath.Join(dir, name), seconds))
	}
	slices.Sort(arguments[2:])
	texttest.Contains(t, texttest.Flat(must(t, arguments...)),
		"orders lost to events rate back after s longest order after one ms",
		"long . 5,500 1,900 10.0 800 8.00 8,028", "none . 6,000 0.0 10.0 0.00 0.00 10.1",
		"short . 5,870 490 10.0 200 2.00 2,007",
		"short cycles lost to events -75 %", "short until the rate was back, longest -75 %",
		"short longest cycle after an event -75 %")
	texttest.Contains(t, must(t, append(arguments, "-o", "html")...), "<td>800</td><td>8.00</td>",
		"<td>200</td><td>2.00</td>")
	c := decoded[report.Comparison](t, append(arguments, "-o", "json")...)
	figures := map[string]float64{}
	for _, one := range c.Configurations {
		for _, condition := range one.Runs[0].Conditions {
			figures[one.Name+" "+condition.Name] = condition.Value
		}
	}
	require.InEpsilon(t, 800, figures["long "+result.LostOrders], 1e-9)
	require.InEpsilon(t, 2, figures["short "+result.BackAfter], 1e-9)
	require.InEpsilon(t, 2000, figures["short "+result.LongestOrder], .02)
	require.Contains(t, figures, "none "+result.LostOrders)
}
