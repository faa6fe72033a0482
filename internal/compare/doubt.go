package compare

import (
	"fmt"
	"math"

	"ds2/internal/measure"
	"ds2/internal/result"
)

// Parts are what the ratio of the results of two configurations is made of: Ratio is IORate divided
// by IOsPerCycle. All are those of geometric means over the runs that count.
type Parts struct {
	Name        string  `json:"name"`
	Against     string  `json:"against"`
	Ratio       float64 `json:"ratio"`
	IORate      float64 `json:"io_rate_ratio"`       // of reads and writes of the drives a second
	IOsPerCycle float64 `json:"ios_per_order_ratio"` // per order
}

// partsOf takes the ratio of two results apart: an array is faster because its drives do more I/Os
// a second, or because its orders need fewer, as with a cache that is filled. It is nil where the
// drives' I/Os were not counted, or where these are themselves the result.
func partsOf(first, other Configuration) *Parts {
	if first.Unit() == result.IOPS {
		return nil
	}
	ratio := func(of func(result.BenchRun) *float64) float64 {
		return 1 + measure.Compare(valuesOf(first, of).values, valuesOf(other, of).values,
			measure.Alone).Percent/100
	}
	p := Parts{Name: other.Name, Against: first.Name, IOsPerCycle: ratio(iosPerCycle)}
	// Over the same runs as the parts, so that these multiply to it.
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

// findUnlikeReads finds configurations whose orders read differently often from the drives: the
// faster one of two equal caches fills earlier, so that the ratio hangs on how long both had to
// warm up.
func (c *Comparison) findUnlikeReads(p Parts) {
	d := c.Of(p.Name, "device_reads_per_order")
	if math.Abs(math.Log(p.IOsPerCycle)) < math.Log(muchOfRatio) || d == nil ||
		d.Significant == nil || !*d.Significant {
		return
	}
	text := fmt.Sprintf("the runs of %s read %s as often from the drives per %s as those of %s, "+
		"more than they vary by: their caches are not filled alike", p.Name,
		d.FactorText(d.Percent), c.Words().Cycle, p.Against)
	c.add(result.CachesUnlike, text, p.Name, p.Against)
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
