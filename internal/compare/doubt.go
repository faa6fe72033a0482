package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"ds2/internal/diagnose"
	"ds2/internal/measure"
	"ds2/internal/numbers"
	"ds2/internal/result"
)

// Doubt is why nothing can be told of a configuration yet, however little its runs vary.
type Doubt struct {
	Name string `json:"name"` // of the configuration
	What string `json:"what"`
	Why  string `json:"why"`
}

const warming = "still warming up"

// Drifting is the doubt about a configuration most runs of which drift the same way: what they come
// to hangs on when they were measured, however little they vary.
func Drifting(c Configuration) []Doubt {
	counted := Counted(c.Bench)
	ways := map[bool][]float64{} // upwards and not
	for _, r := range counted {
		if r.Drift != nil {
			ways[*r.Drift > 0] = append(ways[*r.Drift > 0], *r.Drift)
		}
	}
	for up, way := range ways {
		if 2*len(way) <= len(counted) {
			continue
		}
		d := Doubt{Name: c.Name, What: warming}
		if !up {
			d.What = "still slowing down"
		}
		d.Why = fmt.Sprintf(
			"%d of %d valid runs of %s drift the same way, by %+.0f %% to %+.0f %% over the window",
			len(way),
			len(counted),
			c.Name,
			slices.Min(way),
			slices.Max(way),
		)
		if len(counted) == 1 {
			d.Why = fmt.Sprintf(
				"OPM of the only valid run of %s drifts by %+.0f %% over the window",
				c.Name,
				way[0],
			)
		}
		return []Doubt{d}
	}
	return inOrder(c)
}

// orderLevel is below which probability the runs of a bench are said to rise or fall one after the
// other. Five runs can be as far below it, if each is below the one before.
const orderLevel = 0.02

// inOrder is the doubt about a bench whose runs rise or fall one after the other: what they come to
// hangs on how many were made. Blocks cancel what all configurations have in common.
func inOrder(c Configuration) []Doubt {
	var all []float64
	for _, r := range Counted(c.Bench) {
		if r.Block > 0 {
			return nil
		}
		all = append(all, r.Figure.Value)
	}
	p, up := measure.OrderTrend(all)
	if p >= orderLevel {
		return nil
	}
	way := map[bool]string{true: "rise", false: "fall"}[up]
	why := fmt.Sprintf(
		"the results of the %d valid runs of %s %s one after the other, from %.0f to %.0f %s (%s)",
		len(all), c.Name, way, all[0], all[len(all)-1], c.Unit(),
		measure.Significance(p, orderLevel),
	)
	return []Doubt{{c.Name, "still changing from run to run", why}}
}

// varyTooLittle warns of runs that vary less from one to the next than each by itself.
func varyTooLittle(c Configuration) []string {
	if sharedShare(c) == 0 {
		return nil
	}
	return []string{fmt.Sprintf(
		"the runs of %s vary less from one to the next than each varies by itself: they may all "+
			"have met the same part of something, such as a cycle of checkpoints or a cache that "+
			"fills, so the interval also has the variation within a run", c.Name,
	)}
}

// sharedShare is measure.Shared of the results of a configuration, as a share of their mean.
func sharedShare(c Configuration) float64 {
	runs := Counted(c.Bench)
	if len(runs) == 0 || c.RunsMean == nil || !(*c.RunsMean > 0) {
		return 0
	}
	return sharedBy(runs) / *c.RunsMean
}

// Parts are what the ratio of the results of two configurations is made of: Ratio is IORate divided
// by IOsPerCycle. All are those of geometric means over the runs that count.
type Parts struct {
	Name        string  `json:"name"`
	Against     string  `json:"against"`
	Ratio       float64 `json:"ratio"`
	IORate      float64 `json:"io_rate_ratio"`       // of reads and writes of the drives a second
	IOsPerCycle float64 `json:"ios_per_order_ratio"` // per order
}

// partsOf is nil where the drives' I/Os were not counted, or where these are themselves the result.
func partsOf(first, other Configuration) *Parts {
	if first.Unit() == result.IOPS {
		return nil
	}
	ratio := func(of func(result.BenchRun) *float64) float64 {
		return 1 + measure.Compare(
			valuesOf(first, of).values,
			valuesOf(other, of).values,
			measure.Alone,
		).Percent/100
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

// unlikeReads is the doubt about configurations whose orders read differently often from the
// drives: the faster one of two equal caches fills earlier, so that the ratio hangs on how long
// both had to warm up.
func (c Comparison) unlikeReads(p Parts) []Doubt {
	if math.Abs(math.Log(p.IOsPerCycle)) < math.Log(muchOfRatio) {
		return nil
	}
	d := c.Of(p.Name, "device_reads_per_order")
	if d == nil || d.Significant == nil || !*d.Significant {
		return nil
	}
	why := fmt.Sprintf(
		"the runs of %s read %s as often from the drives per %s as those of %s, more than they "+
			"vary by: their caches are not filled alike",
		p.Name,
		d.FactorText(d.Percent),
		c.Words().Cycle,
		p.Against,
	)
	return []Doubt{{p.Name, warming, why}}
}

// Doubt is why nothing can be told of two configurations; nil: something can.
func (c Comparison) Doubt(first, other string) *Doubt {
	for _, d := range c.Doubts {
		if c.isOf(d.Name, first) || c.isOf(d.Name, other) {
			return &d
		}
	}
	if d := c.Of(other, c.Stated().Name); d != nil && d.Blind() {
		return &Doubt{other, "the runs vary too much", d.Shown()}
	}
	return nil
}

// isOf says that a name is that of a configuration, or of it with values of the factors.
func (c Comparison) isOf(name, of string) bool {
	return name == of || slices.ContainsFunc(c.Configurations, func(one Configuration) bool {
		return one.Name == name && one.Of == of && of != ""
	})
}

// Doubtful says that a difference is an estimate of which nothing can be told.
func (c Comparison) Doubtful(d Difference) bool {
	return d.Metric.Name == c.Stated().Name && d.Blind() ||
		slices.ContainsFunc(c.Doubts, func(o Doubt) bool {
			return o.Name == d.Name || o.Name == d.Against
		})
}

// Shown is what the runs of a blind difference show.
func (d Difference) Shown() string {
	text := fmt.Sprintf("these runs only show that it lies between %s and %s",
		d.PercentText(*d.Low), d.PercentText(*d.High))
	if 100+*d.High > 100*mostOfInterval {
		text = fmt.Sprintf("these runs leave room for more than × %d", mostOfInterval)
	}
	return text + ": more blocks or longer runs show more"
}

// widestInterval is the half of an interval, in percent of its figure, up to which a result can be
// trustworthy.
const widestInterval = 5

// Lacks says in one line what a run, a bench or a comparison lacks to be trustworthy as a statement
// about storage; empty where it lacks nothing or has no result. It takes intervals of at most ± 5 %
// of the result, or of the ratio of two; storage as the limit of most runs of each configuration;
// no failed run; and configurations run alike.
func (c Comparison) Lacks() string {
	var lacks []string
	add := func(format string, args ...any) { lacks = append(lacks, fmt.Sprintf(format, args...)) }
	several := len(c.Configurations) > 1
	alike := true
	for i, one := range c.Configurations {
		value := one.Value()
		if value == nil {
			return ""
		}
		what := "its interval"
		may := "is"
		half := one.Half()
		if runs := len(Counted(one.Bench)); half != nil && runs > 1 {
			may = "may be as wide as"
			half = new(measure.Widest(*half, float64(runs-1)))
		}
		if several {
			what = "the interval of the ratio of " + one.Name
			half = nil
			if d := c.Of(one.Name, c.Stated().Name); d != nil && d.Low != nil {
				value = new(100 + d.Percent)
				may = "may be as wide as"
				half = new(max(d.widest.High-d.Percent, d.Percent-d.widest.Low))
			}
		}
		switch {
		case several && i == 0:
		case half == nil && several:
			add("the difference of %s has no interval", one.Name)
		case half == nil:
			add("it has no interval")
		case *half > widestInterval/100.**value:
			share := 100 * *half / *value
			add(
				"%s %s ± %s %%, more than ± %d %%",
				what,
				may,
				numbers.Worth(share, share),
				widestInterval,
			)
		}
	}
	for i, one := range c.Configurations {
		who := "it"
		whose := ""
		if several {
			who = one.Name
			whose = " in runs of " + one.Name
		}
		switch by := Bottleneck(one.Bench); by {
		case diagnose.Storage:
		case "":
			add("what limited %s is unknown", who)
		default:
			add("%s was limited by %s", who, LimitedBy[by])
		}
		if failed := len(Failed(one.Bench)); failed > 0 {
			add("%d of %d runs of %s failed", failed, failed+len(Counted(one.Bench)), one.Name)
		}
		alike = alike && len(unlike(c.Configurations[0], c.Configurations[i])) == 0
		if len(changed(one)) > 0 {
			add("server or schema changed%s", whose)
		}
	}
	if !alike {
		add("they were not run alike")
	}
	if len(lacks) == 0 {
		return ""
	}
	last := len(lacks) - 1
	text := strings.Join(lacks[:last], ", ")
	if last > 0 {
		text += ", and "
	}
	return "Not yet a statement about storage: " + text + lacks[last]
}
