package measure

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
)

// An experiment is made in blocks, in each of which every configuration runs once, in a random order (R. A. Fisher, The
// Design of Experiments, 1935). A room that grows warmer, a drive that fills or a neighbor that starts a job then acts on
// all configurations alike.

// RandomBlocks gives the order of so many configurations in each of so many blocks. The order of the first block, the
// third and so on is random; each block after one of these has its order backwards, so that a steady drift costs every
// configuration the same, and can be told from a difference after two blocks.
func RandomBlocks(random *rand.Rand, configurations, blocks int) [][]int {
	orders := make([][]int, blocks)
	for i := range orders {
		if i%2 == 0 {
			orders[i] = random.Perm(configurations)
		} else {
			orders[i] = slices.Clone(orders[i-1])
			slices.Reverse(orders[i])
		}
	}
	return orders
}

// RunFigure is the figure of one run of an experiment.
type RunFigure struct {
	Block         int
	Run           int // its number in the order in which all runs were made
	Configuration string
	Value         float64 // positive
}

// Difference is by how much one configuration differs from another.
type Difference struct {
	Base   string `json:"base"`
	Other  string `json:"other"`
	Blocks int    `json:"blocks"` // in which both were measured
	Change Change `json:"change"` // of Other against Base
	Why    string `json:"why,omitempty"`
}

// MinBlocks is how many blocks a confidence interval takes. With three or four, intervals hold the true difference too
// seldom where one run in ten goes wrong.
const MinBlocks = 5

// looks is what it costs that an experiment asks after every block whether its intervals are narrow enough (Enough): a
// scatter that is small by chance stops it. The levels are tightened by this factor, so that the intervals hold the truth
// in about 95 % all the same (TestBlocks).
const looks = 1.25

// Enough says whether an experiment may stop: with the last block and without it, the interval of every difference
// reaches at most so many percent points from its estimate.
func Enough(configurations []string, figures []RunFigure, percent float64) bool {
	last := 0
	for _, o := range figures {
		last = max(last, o.Block)
	}
	before := slices.DeleteFunc(slices.Clone(figures), func(o RunFigure) bool { return o.Block == last })
	for _, all := range [][]RunFigure{before, figures} {
		if slices.ContainsFunc(Differences(configurations, all), func(d Difference) bool { return !d.Change.Within(percent) }) {
			return false
		}
	}
	return true
}

// Differences compares every two of the configurations by the blocks in which both were measured. It is a paired
// analysis: in each block the difference of the logarithms is that of the configurations, plus a drift times how much
// later the one ran than the other; least squares over the blocks separates the two, and Student's t gives the interval.
// What is the same for a whole block falls out. The intervals hold for each pair by itself.
func Differences(configurations []string, figures []RunFigure) []Difference {
	var all []Difference
	for i, base := range configurations {
		for _, other := range configurations[i+1:] {
			all = append(all, difference(base, other, figures))
		}
	}
	return all
}

func difference(base, other string, figures []RunFigure) Difference {
	d := Difference{Base: base, Other: other}
	var rises, later []float64 // by block
	bases, others := byBlock(base, figures), byBlock(other, figures)
	for _, block := range slices.Sorted(maps.Keys(bases)) {
		b := bases[block]
		if o, ok := others[block]; ok {
			rises, later = append(rises, o.logarithm-b.logarithm), append(later, o.run-b.run)
		}
	}
	d.Blocks = len(rises)
	d.Change = Change{Percent: math.NaN(), Low: math.NaN(), High: math.NaN(), P: math.NaN()}
	switch {
	case d.Blocks == 0:
		d.Why = "no block has both"
		return d
	case d.Blocks < MinBlocks:
		d.Why = fmt.Sprintf("an interval takes %d blocks with both, and there are %d", MinBlocks, d.Blocks)
	}
	rise, deviation, ok := intercept(later, rises)
	d.Change.Percent = percentOf(rise)
	if d.Why != "" {
		return d
	}
	if !ok {
		d.Why = "they ran in the same order in every block, so that a drift cannot be told from a difference"
		return d
	}
	d.Change = newChange(rise, deviation, float64(d.Blocks-2), looks)
	return d
}

// inBlock is what a configuration gave in a block; the mean where it ran more than once.
type inBlock struct{ logarithm, run, runs float64 }

func byBlock(configuration string, figures []RunFigure) map[int]inBlock {
	blocks := map[int]inBlock{}
	for _, o := range figures {
		if o.Configuration == configuration {
			b := blocks[o.Block]
			b.runs++
			b.logarithm += (math.Log(o.Value) - b.logarithm) / b.runs
			b.run += (float64(o.Run) - b.run) / b.runs
			blocks[o.Block] = b
		}
	}
	return blocks
}

// intercept is where the line of least squares through the points crosses x = 0, with its standard deviation. Where all
// points have the same x there is no line: then it is the mean of y, and ok is false.
func intercept(x, y []float64) (at, deviation float64, ok bool) {
	n := float64(len(x))
	var meanX, meanY, xx, xy, squares float64
	for i := range x {
		meanX += x[i] / n
		meanY += y[i] / n
	}
	for i := range x {
		xx += (x[i] - meanX) * (x[i] - meanX)
		xy += (x[i] - meanX) * (y[i] - meanY)
	}
	if xx < 1e-9 {
		return meanY, math.NaN(), false
	}
	for i := range x {
		e := y[i] - meanY - xy/xx*(x[i]-meanX)
		squares += e * e
	}
	return meanY - xy/xx*meanX, math.Sqrt(squares / (n - 2) * (1/n + meanX*meanX/xx)), true
}
