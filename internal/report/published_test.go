package report

import (
	"math"
	"testing"

	"ds2/internal/result"
)

// TestPublishedComparisons compares the published runs of Jetstress (mailbox/WORKLOAD.md section 2) by their own figures: the
// median runs of S000 (24 disks and 3 SSDs) and of S004 (MD3000 and MD3220).
func TestPublishedComparisons(t *testing.T) {
	type figures struct{ total, mb, watts float64 }
	configuration := func(name string, f figures) Configuration {
		run := result.BenchRun{Dir: "run-2", Status: result.Done, Counts: true, OPM: &f.total, Conditions: []result.Condition{
			{Name: result.TotalIOPS, Value: f.total}, {Name: result.Throughput, Value: f.mb},
		}}
		b := result.Bench{Unit: result.IOPS, OPM: &f.total, Median: run.Dir}
		if f.watts > 0 {
			run.Conditions = append(run.Conditions, result.Condition{Name: result.TotalIOPSPerWatt, Value: f.total / f.watts})
		}
		b.Runs = []result.BenchRun{run}
		return Configuration{Name: name, Bench: b}
	}
	for _, c := range []struct {
		name      string
		a, b      figures
		want      map[string]float64
		tolerance float64
	}{
		// The report's 623 % of IOPS a watt are of rounded quotients, 99.1 and 13.7; these are of the figures themselves.
		{"S000", figures{3994.497, 37.089, 292.1}, figures{11497.37, 100.78, 115.83}, map[string]float64{"total_iops": 188, "mb_per_s": 172, "total_iops_per_active_w": 625.8}, 0.5},
		{"S004", figures{7499.470, 51.90, 0}, figures{18575.108, 164.20, 0}, map[string]float64{"total_iops": 147.7, "mb_per_s": 216.4}, 0.05},
	} {
		found := 0
		for _, d := range Compare([]Configuration{configuration("a", c.a), configuration("b", c.b)}).Differences {
			if want, asked := c.want[d.Figure]; asked {
				found++
				if math.Abs(d.Medians-want) > c.tolerance {
					t.Errorf("%s: %s differs by %.2f %%, published %.1f", c.name, d.Figure, d.Medians, want)
				}
			}
		}
		if found != len(c.want) {
			t.Errorf("%s: %d of %d figures are compared", c.name, found, len(c.want))
		}
	}
	if quotient := 99.1 / 13.7; math.Abs(100*(quotient-1)-623) > 0.5 {
		t.Error("the published quotients do not give the published percentage")
	}
}
