package measure

import (
	"math"
	"slices"
	"testing"
)

// The storage report's runs (WORKLOAD.md section 6). The figures expected of them were computed apart, with Student's
// distribution integrated numerically.
var (
	ssd = []float64{64973.7, 67356.7, 64203.0}
	hdd = []float64{48172.0, 46586.3, 48142.0}
)

func TestMeanCI95(t *testing.T) {
	mean, half := MeanCI95(ssd)
	if math.Abs(mean-65511.133) > .01 || math.Abs(half-4084.184) > .01 {
		t.Errorf("mean %v ± %v", mean, half)
	}
	if mean, half := MeanCI95([]float64{5}); mean != 5 || !math.IsNaN(half) {
		t.Errorf("mean of one value %v ± %v, want 5 without an interval", mean, half)
	}
}

func TestCompare(t *testing.T) {
	c := Compare(hdd, ssd)
	if math.Abs(c.Percent-37.5199) > .001 || math.Abs(c.Low-30.5781) > .001 || math.Abs(c.High-44.8308) > .001 ||
		math.Abs(c.P-9.791e-5) > 1e-7 || !c.Significant() {
		t.Errorf("report's disks against its SSDs: %+v", c)
	}
	back := Compare(ssd, hdd)
	if math.Abs((1+c.Percent/100)*(1+back.Percent/100)-1) > 1e-9 || math.Abs((1+c.Low/100)*(1+back.High/100)-1) > 1e-9 {
		t.Errorf("the other way round: %+v against %+v", back, c)
	}
	if same := Compare(ssd, []float64{65000, 64500, 66500}); same.Significant() || same.P < .2 {
		t.Errorf("runs of one array against each other: %+v", same)
	}
	if one := Compare(hdd[:1], ssd); one.Significant() || !math.IsNaN(one.P) {
		t.Errorf("a single run: %+v", one)
	}
}

// TestIdenticalRunsInTwo are six runs of one system that were published (HammerDB, issue 822): it jumps between two
// levels. However they are taken for runs of two systems, three of each, no difference is significant, but for the one
// division of ten that puts the levels apart: a test that finds nothing there would find nothing in the storage
// report's runs either, whose ranks are the same.
func TestIdenticalRunsInTwo(t *testing.T) {
	runs := []float64{134092, 129852, 206136, 198488, 123287, 195082}
	levels := []float64{134092, 129852, 123287}
	for second := 1; second < len(runs); second++ {
		for third := second + 1; third < len(runs); third++ {
			a := []float64{runs[0], runs[second], runs[third]}
			var b []float64
			for _, run := range runs {
				if !slices.Contains(a, run) {
					b = append(b, run)
				}
			}
			if c := Compare(a, b); c.Significant() != slices.Equal(a, levels) {
				t.Errorf("%v against %v: %+v", a, b, c)
			}
		}
	}
}
