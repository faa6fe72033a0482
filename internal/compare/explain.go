package compare

import (
	"math"
	"slices"

	"ds2/internal/diagnose"
	"ds2/internal/measure"
	"ds2/internal/result"
)

// EnoughToExplain is how many runs it takes to say that a condition goes with the result.
const EnoughToExplain = 4

// Explained is a condition in the runs of a bench, and whether it goes with their results:
// Pearson's correlation, tested by Student's t, and corrected for the number of conditions: of 22
// that mean nothing, one or more would else seem to in two of three benches. P is NaN of too few
// runs, and R too where all have one value.
type Explained struct {
	Name, Unit string
	Values     []*float64 // by run
	// in how many runs the condition is known, and is no outcome of more orders by nature
	Known int
	R, P  float64
}

// Explain is why the runs of a bench that have a result differ.
func Explain(b result.Bench) (runs []result.BenchRun, all []Explained) {
	for _, r := range b.Runs {
		if !r.Practice && r.Figure != nil && OtherUnit(b, r) == "" && len(r.Conditions) > 0 {
			runs = append(runs, r)
		}
	}
	if len(runs) < 2 {
		return runs, nil
	}
	var chances []float64
	made := []string{
		result.ReadsOfDevices,
		result.WritesOfDevices,
		"pages written by checkpoints",
		"database log",
	}
	for _, c := range runs[0].Conditions {
		e := Explained{Name: c.Name, Unit: c.Unit}
		var results, values []float64
		for _, r := range runs {
			v := Condition(c.Name)(r)
			e.Values = append(e.Values, v)
			if v != nil && !slices.Contains(made, c.Name) {
				results = append(results, r.Figure.Value)
				values = append(values, *v)
			}
		}
		e.Known = len(values)
		e.R, e.P = measure.Correlation(values, results)
		if e.Known < EnoughToExplain {
			e.P = math.NaN()
		}
		all = append(all, e)
		chances = append(chances, e.P)
	}
	for i, p := range measure.Holm(chances) {
		all[i].P = p
	}
	return runs, all
}

// ReadsOf are the reads of a configuration's drives, those that they can do, and the percentage
// that the first are of them; known where both were measured.
func ReadsOf(c Configuration) (reads, most, percent float64, known bool) {
	x := valuesOf(c, Condition(result.ReadsOfDevices)).values
	y := valuesOf(c, Condition(result.LimitOfReads)).values
	if len(x) == 0 || len(y) == 0 {
		return 0, 0, 0, false
	}
	reads = measure.Median(x)
	most = measure.Median(y)
	return reads, most, 100 * reads / most, true
}

// LimitedBy is what held a run back, in words.
var LimitedBy = map[string]string{
	diagnose.Errors: "errors", diagnose.Storage: "storage", diagnose.CPU: "the CPU",
	diagnose.Locks: "locks", diagnose.Client: "the client", diagnose.Network: "the network",
	diagnose.StorageAndCPU: "storage and the CPU",
	diagnose.Unclear:       "nothing that could be named",
}

// PerPrice is the result of a configuration for 1,000 of its price's currency; nil where either is
// not stated.
func PerPrice(c Configuration) (value *float64, currency string) {
	amount, currency, err := result.ParsePrice(c.Disclosure[result.PriceKey])
	if err != nil || c.Figure == nil {
		return nil, ""
	}
	return new(c.Figure.Value / amount * 1000), currency
}
