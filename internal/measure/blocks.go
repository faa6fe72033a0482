package measure

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// An experiment is made in blocks, in each of which every configuration runs once, in a random
// order (R. A. Fisher, The Design of Experiments, 1935). A room that grows warmer, a drive that
// fills or a neighbor that starts a job then acts on all configurations alike.

// RandomBlocks gives the order of the configurations in each block. The order of the first block,
// the third and so on is random; each block after one of these has its order backwards, so that a
// steady drift costs every configuration the same, and can be told from a difference after two
// blocks.
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

// RunFigure is the figure of one run of an experiment, the only one of its configuration in its
// block.
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

// MinBlocks is how many blocks a confidence interval takes. With three or four, intervals hold the
// true difference too seldom where one run in ten goes wrong.
const MinBlocks = 5

// DefaultBlocks is how many blocks an experiment has where nothing else is said: an even number, in
// which each block that has the order of the one before backwards makes up for it.
const DefaultBlocks = 6

// untilLooks is what it costs that an experiment asks after every block whether its intervals are
// narrow enough (Enough): a variation that is small by chance stops it. The levels are tightened by
// this factor, so that the intervals hold the truth in about 95 % all the same (TestBlocks).
const untilLooks = 1.25

// Look is a time at which the result of an experiment could be seen before it went on.
type Look struct {
	Blocks int  `json:"blocks"` // that were made
	Done   bool `json:"done"`   // they were all that were planned, or enough
}

// early is the level of an experiment that is not done (J. L. Haybittle, "Repeated Assessment of
// Results in Clinical Trials of Cancer Treatment", British Journal of Radiology 44, 1971; R. Peto
// and others, British Journal of Cancer 34, 1976).
const early = 0.001

// Looks is by what the level of an experiment's intervals, 0.05, is divided. until says that it
// stops where they are narrow. Who looks at a result again and again would find something in the
// end, so each look before the planned end has level early, which is taken from that of the end. An
// experiment that is done has spent its level: one that is continued all the same has a k-th part
// of it at its k-th end, which bounds what each may find by itself, but not all together.
func Looks(until bool, before []Look, done bool) float64 {
	if !done {
		return looksOf(until) * 0.05 / early
	}
	spent := 0.
	ends := 1.
	for _, l := range before {
		if l.Done {
			ends++
		} else {
			spent += early
		}
	}
	return looksOf(until) * 0.05 / max(early, 0.05/ends-spent)
}

func looksOf(until bool) float64 {
	if until {
		return untilLooks
	}
	return 1
}

// Enough says whether an experiment may stop: with the last block and without it, the interval of
// every difference reaches at most n percent points from its estimate.
func Enough(configurations []string, figures []RunFigure, percent, looks float64) bool {
	last := 0
	for _, o := range figures {
		last = max(last, o.Block)
	}
	before := slices.DeleteFunc(slices.Clone(figures), func(o RunFigure) bool {
		return o.Block == last
	})
	for _, all := range [][]RunFigure{before, figures} {
		differences := Differences(configurations, all, looks)
		if slices.ContainsFunc(differences, func(d Difference) bool {
			return !d.Change.Within(percent)
		}) {
			return false
		}
	}
	return true
}

// pair is the figures of two configurations in the blocks that have both.
type pair struct {
	// by block: the logarithm of the ratio, and by how many runs the other ran later
	rises, later          []float64
	meanRise, meanLater   float64
	laterLater, laterRise float64 // sums of squares and of products about the means
}

func newPair(base, other string, figures []RunFigure) (p pair) {
	bases := map[int]RunFigure{} // by block
	for _, f := range figures {
		if f.Configuration == base {
			bases[f.Block] = f
		}
	}
	for _, o := range figures {
		if b, ok := bases[o.Block]; ok && o.Configuration == other {
			delete(bases, o.Block) // one that was named twice counts once
			p.rises = append(p.rises, math.Log(o.Value)-math.Log(b.Value))
			p.later = append(p.later, float64(o.Run-b.Run))
		}
	}
	p.meanRise, p.meanLater = stat.Mean(p.rises, nil), stat.Mean(p.later, nil)
	for i := range p.rises {
		later := p.later[i] - p.meanLater
		p.laterLater += later * later
		p.laterRise += later * (p.rises[i] - p.meanRise)
	}
	return p
}

// squares is the sum of squares of what a drift leaves of the rises.
func (p pair) squares(drift float64) (sum float64) {
	for i, x := range p.later {
		e := p.rises[i] - p.meanRise - drift*(x-p.meanLater)
		sum += e * e
	}
	return sum
}

// Differences compares every two of the configurations by the blocks in which both were measured.
// It is a paired analysis: in each block the difference of the logarithms is that of the
// configurations, plus a drift times how much later the one ran than the other. The drift is one
// for all pairs, by least squares with each pair's weight its own; the variance is each pair's own,
// and Student's t gives the interval. A change common to a block cancels. The intervals hold for
// each pair by itself; looks is that of Looks.
func Differences(configurations []string, figures []RunFigure, looks float64) []Difference {
	var all []Difference
	var pairs []pair
	var weights, rising float64 // of the drift: sums of squares and of products over all pairs
	measured := map[string]bool{}
	for i, base := range configurations {
		for _, other := range configurations[i+1:] {
			p := newPair(base, other, figures)
			all = append(all, Difference{Base: base, Other: other, Blocks: len(p.rises)})
			pairs = append(pairs, p)
			if p.weight() > 0 {
				measured[base] = true
				measured[other] = true
				weights += p.weight() * p.laterLater
				rising += p.weight() * p.laterRise
			}
		}
	}
	for i := range all {
		// Of the weights of all pairs that many are of independent ones: each configuration is in
		// all pairs but one.
		all[i].judge(pairs[i], rising/weights, 2*weights/float64(len(measured)), looks)
	}
	return all
}

// weight is that of a pair in the drift of all: one over the variance of its rises; 0 where its own
// drift is not known.
func (p pair) weight() float64 {
	n := float64(len(p.rises))
	if n < 3 || p.laterLater < 1e-9 {
		return 0
	}
	const exact = 1e-18
	return 1 / max(exact, p.squares(p.laterRise/p.laterLater)/(n-2))
}

// judge computes the change from a pair and the drift of all, which is known with a weight.
func (d *Difference) judge(p pair, drift, weight, looks float64) {
	n := float64(d.Blocks)
	d.Change = Unknown()
	if d.Blocks == 0 {
		d.Why = "no block has both"
		return
	}
	known := weight > 0
	if !known {
		drift = 0
	}
	rise := p.meanRise - drift*p.meanLater
	d.Change.Percent = percentOf(rise)
	switch {
	case d.Blocks < MinBlocks:
		d.Why = fmt.Sprintf(
			"an interval takes %d blocks with both, and there are %d",
			MinBlocks,
			d.Blocks,
		)
		return
	case !known:
		d.Why = "they ran in the same order in every block, so that a drift cannot be told from a difference"
		return
	}
	share := min(1, p.weight()*p.laterLater/weight) // of the drift that is this pair's
	freedom := n - 1 - share
	variance := p.squares(drift)/freedom/n + p.meanLater*p.meanLater/weight
	d.Change = newChange(rise, math.Sqrt(variance), freedom, looks)
}
