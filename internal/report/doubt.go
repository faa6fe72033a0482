package report

import (
	"fmt"
	"math"
	"slices"

	"ds2/internal/compare"
	"ds2/internal/measure"
	"ds2/internal/result"
)

// Doubt is why nothing can be told of a configuration yet, however small the scatter of its runs is.
type Doubt struct {
	Name string `json:"name"` // of the configuration
	What string `json:"what"`
	Why  string `json:"why"`
}

const warming = "still warming up"

// idle is the doubt about a configuration of which a run that counts did nothing: there is no ratio to others.
func idle(c Configuration) []Doubt {
	why := valuesOf(c, result.BenchRun.Value).noRatio()
	if why == "" {
		return nil
	}
	return []Doubt{{c.Name, c.Name + " had runs of 0 " + c.Unit(), c.Unit() + ": " + why}}
}

// drifting is the doubt about a configuration most runs of which drift the same way.
func drifting(c Configuration) []Doubt {
	d := compare.DriftOf(c.Bench)
	if d == nil {
		return nil
	}
	what := warming
	if d.Most < 0 {
		what = "still slowing down"
	}
	return []Doubt{{c.Name, what, driftText(c.Name, d)}}
}

func driftText(name string, d *compare.Drift) string {
	return fmt.Sprintf("%d of the %d runs of %s that count drift the same way, by %+.0f %% to %+.0f %% over the window",
		d.Runs, d.Of, name, d.Least, d.Most)
}

// Parts are what the ratio of the results of two configurations is made of: Ratio is IORate divided by IOsPerCycle. All
// are those of geometric means over the runs that count.
type Parts struct {
	Name        string  `json:"name"`
	Against     string  `json:"against"`
	Ratio       float64 `json:"ratio"`
	IORate      float64 `json:"io_rate_ratio"`       // of reads and writes of the drives a second
	IOsPerCycle float64 `json:"ios_per_order_ratio"` // of those that an order took
}

// partsOf is nil where nobody counted the I/Os of the drives, or where these are themselves the result.
func partsOf(first, other Configuration) *Parts {
	if first.Unit() == result.IOPS {
		return nil
	}
	ratio := func(of func(result.BenchRun) *float64) float64 {
		return 1 + measure.Compare(valuesOf(first, of).values, valuesOf(other, of).values).Percent/100
	}
	p := Parts{Name: other.Name, Against: first.Name, IOsPerCycle: ratio(iosPerCycle)}
	p.Ratio = ratio(func(r result.BenchRun) *float64 {
		if iosPerCycle(r) == nil {
			return nil
		}
		return r.Value()
	})
	p.IORate = p.Ratio * p.IOsPerCycle
	if math.IsNaN(p.IORate) {
		return nil
	}
	return &p
}

// iosPerCycle are reads and writes of the drives for one order.
func iosPerCycle(r result.BenchRun) *float64 {
	if c := r.Costs; c != nil && c.Reads != nil && c.Writes != nil && *c.Reads+*c.Writes > 0 {
		return new(*c.Reads + *c.Writes)
	}
	return nil
}

// muchOfRatio is from which factor on a part of a ratio decides what the ratio says.
const muchOfRatio = 1.1

// unlikeReads is the doubt about configurations whose orders read differently often from the drives: the faster one of
// two equal caches fills earlier, so that the ratio hangs on how long both had to warm up.
func (c Comparison) unlikeReads(p Parts) []Doubt {
	if math.Abs(math.Log(p.IOsPerCycle)) < math.Log(muchOfRatio) {
		return nil
	}
	d := c.of(p.Name, "device_reads_per_order")
	if d == nil || d.Significant == nil || !*d.Significant {
		return nil
	}
	why := fmt.Sprintf("the runs of %s read %s as often from the drives for %s as those of %s, which is more than "+
		"their scatter: their caches are not filled alike", p.Name, d.factor(d.Percent), c.words().A(), p.Against)
	return []Doubt{{p.Name, warming, why}}
}

// times is a factor: "2.51 ×".
func times(factor float64) string { return fmt.Sprintf("%.3g ×", factor) }

func (p Parts) text(unit string, words result.Words) string {
	return fmt.Sprintf("%s of %s is %s that of %s: %s the I/Os a second, divided by %s the I/Os of %s.",
		unit, p.Name, times(p.Ratio), p.Against, times(p.IORate), times(p.IOsPerCycle), words.A())
}

// doubt is why nothing can be told of two configurations; nil: something can.
func (c Comparison) doubt(first, other string) *Doubt {
	for _, d := range c.Doubts {
		if d.Name == first || d.Name == other {
			return &d
		}
	}
	if d := c.of(other, mainFigure); d != nil && d.blind() {
		return &Doubt{other, "the runs scatter too much", d.shown()}
	}
	return nil
}

// doesNotCount stands in place of the interval of an estimate of which nothing can be told.
const doesNotCount = "does not count"

// doubtful says that a difference is an estimate of which nothing can be told.
func (c Comparison) doubtful(d Difference) bool {
	return d.Figure == c.main() && d.blind() ||
		slices.ContainsFunc(c.Doubts, func(o Doubt) bool { return o.Name == d.Name || o.Name == d.Against })
}

// faint says that a figure shows no difference of a configuration from the first, or of the first from any.
func (c Comparison) faint(f compared, name string) bool {
	compared := false
	for _, d := range c.Differences {
		if d.Figure != c.named(f.name) || d.Name != name && d.Against != name {
			continue
		}
		compared = true
		stands := d.Significant == nil && f.name != mainFigure || d.Significant != nil && *d.Significant
		if stands && !c.doubtful(d) {
			return false
		}
	}
	return compared
}

// shown is what a blind difference's runs could have shown.
func (d Difference) shown() string {
	least := "of about +" + worth(*d.Detectable, *d.Detectable) + " %"
	if *d.Detectable > 100*(mostOfInterval-1) {
		least = fmt.Sprintf("of more than × %d", mostOfInterval)
	}
	return "these runs could only have shown a difference " + least + ": more blocks or longer runs show smaller ones"
}
