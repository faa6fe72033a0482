package measure

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// An experiment is made in blocks, in each of which every configuration runs once, in a random
// order (R. A. Fisher, The Design of Experiments, 1935). A room that grows warmer, a drive that
// fills or a neighbor that starts a job then acts on all configurations alike.

// RandomBlocks gives the order of the configurations in each block. Of every few blocks half have
// an order at random and half the same orders backwards, so that a steady drift costs every
// configuration the same; and these come in random order, so that what comes back after a number of
// runs, such as an hourly job, seldom meets the same configuration each time. Fewer blocks are the
// first of more: an experiment may be continued.
func RandomBlocks(random *rand.Rand, configurations, blocks int) (orders [][]int) {
	for few := DefaultBlocks; len(orders) < blocks; few = laterBlocks {
		var some [][]int
		for range few / 2 {
			order := random.Perm(configurations)
			back := slices.Clone(order)
			slices.Reverse(back)
			some = append(some, order, back)
		}
		random.Shuffle(few, func(i, j int) { some[i], some[j] = some[j], some[i] })
		orders = append(orders, some...)
	}
	return orders[:blocks]
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
// which each order is made up for by one backwards.
const DefaultBlocks = 6

const laterBlocks = 4 // after these, in how many each order is made up for

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

// looksOf is by what levels are divided where an experiment may stop after each block, since each
// is a look; 1 where the number of blocks is planned.
func looksOf(until bool) float64 {
	if until {
		return untilLooks
	}
	return 1
}

// Enough says whether an experiment may stop: with the last block and without it, the interval of
// every difference reaches at most that many percent points from its estimate. The looks are those
// of Looks.
func Enough(configurations []string, figures []RunFigure, percent, looks float64) bool {
	last := 0
	for _, o := range figures {
		last = max(last, o.Block)
	}
	before := slices.DeleteFunc(slices.Clone(figures), func(o RunFigure) bool {
		return o.Block == last
	})
	for _, all := range [][]RunFigure{before, figures} {
		differences := Differences(configurations, all, EveryTwo(len(configurations)), looks)
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
	of [2]string
	// by block, less the mean of all: the logarithm of the ratio, and by how many runs the other
	// ran later
	rises, later          []float64
	meanRise, meanLater   float64
	laterLater, laterRise float64 // sums of squares and of products about the means
}

// newPair pairs the runs of two configurations by their blocks: what a block has in common, such as
// a warm room, falls out of the ratio of its two runs. The logarithm makes a sum of what is a
// factor between computers.
func newPair(base, other string, figures []RunFigure) pair {
	p := pair{of: [2]string{base, other}}
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
	p.meanRise = stat.Mean(p.rises, nil)
	p.meanLater = stat.Mean(p.later, nil)
	floats.AddConst(-p.meanRise, p.rises)
	floats.AddConst(-p.meanLater, p.later)
	p.laterLater = floats.Dot(p.later, p.later)
	p.laterRise = floats.Dot(p.later, p.rises)
	return p
}

// squares is the sum of squares of what a drift leaves of the rises.
func (p pair) squares(drift float64) (sum float64) {
	for i, x := range p.later {
		e := p.rises[i] - drift*x
		sum += e * e
	}
	return sum
}

// Differences compares the configurations by the blocks in which both were measured: each with the
// first, or every two of them, as is stated; those with the first come first. It is a paired
// analysis: in each block the difference of the logarithms is that of the configurations, plus a
// drift times how much later the one ran than the other. A change common to a block cancels. The
// drift is one for all pairs. So is the variance where three configurations or more vary alike, see
// pool, unless they are stated Apart; else it is each pair's own. The intervals hold for all that
// is stated together; looks is that of Looks.
func Differences(
	configurations []string,
	figures []RunFigure,
	stated Family,
	looks float64,
) []Difference {
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
	var common *pool
	if stated.of != apart {
		common = newPool(pairs, len(measured))
	}
	drift := 0.
	if weights > 0 {
		drift = rising / weights
	}
	if stated.of == withFirst {
		all = all[:min(len(all), len(configurations)-1, stated.comparisons)]
	}
	for i := range all {
		// Of the weights of all pairs that many are of independent ones: each configuration is in
		// all pairs but one.
		own := pairs[i].estimate(drift, 2*weights/float64(max(1, len(measured))))
		own.stated = stated.apart()
		if common != nil && all[i].Blocks > 0 {
			own = common.estimate(pairs[i], own.deviation)
			own.stated = stated
		}
		all[i].judge(own, weights > 0 || pairs[i].together(), looks)
	}
	return all
}

// estimate is of the logarithm of a ratio.
type estimate struct {
	logarithm, deviation, freedom float64
	stated                        Family
}

// weight is that of a pair in the drift of all: one over the variance of its rises; 0 where its own
// drift is not known.
func (p pair) weight() float64 {
	n := float64(len(p.rises))
	// A line through fewer than three points leaves no residual to know a variance by.
	if n < 3 || p.laterLater < 1e-9 {
		return 0
	}
	const exact = 1e-18
	return 1 / max(exact, p.squares(p.laterRise/p.laterLater)/(n-2))
}

// together says that in each block both ran at the same time on average, as means over values of
// factors may: no drift is between them.
func (p pair) together() bool { return p.laterLater < 1e-9 && math.Abs(p.meanLater) < 1e-9 }

// estimate is that of a pair by its own variance and the drift of all, which is known with a
// weight; 0: it is not known.
func (p pair) estimate(drift, weight float64) estimate {
	n := float64(len(p.rises))
	share := 0. // of the drift that is this pair's
	ofDrift := 0.
	if weight > 0 {
		share = min(1, p.weight()*p.laterLater/weight)
		ofDrift = p.meanLater * p.meanLater / weight
	}
	freedom := n - 1 - share
	variance := p.squares(drift)/freedom/n + ofDrift
	return estimate{p.meanRise - drift*p.meanLater, math.Sqrt(variance), freedom, Alone}
}

// pool is what the pairs of configurations that vary alike have in common, by the analysis of
// variance of randomized blocks (Fisher, 1935): the drift, by least squares, and the variance, of
// which each pair by itself knows little.
type pool struct {
	drift, ofDrift    float64 // and the variance of its estimate
	variance, freedom float64 // of the rise of a pair in a block
}

// unlikeLevel is below which probability configurations do not vary alike. It errs to the side of
// each pair's own variance, which is right in either case, and wider.
const unlikeLevel = 0.1

// newPool is nil where a pair is not known well enough, or a configuration varies more than the
// others do.
func newPool(pairs []pair, measured int) *pool {
	pairs = slices.DeleteFunc(slices.Clone(pairs), func(p pair) bool { return p.weight() == 0 })
	if measured < 3 || len(pairs) != measured*(measured-1)/2 {
		return nil
	}
	k := float64(measured)
	var later, rising float64
	for _, p := range pairs {
		later += p.laterLater
		rising += p.laterRise
	}
	c := pool{drift: rising / later}
	squares := 0.
	freedom := 0.
	squaresOf := map[string]float64{} // of the pairs with a configuration, and their freedom
	freedomOf := map[string]float64{}
	for _, p := range pairs {
		own := p.squares(c.drift)
		ownFreedom := float64(len(p.rises) - 1)
		squares += own
		freedom += ownFreedom
		for _, name := range p.of {
			squaresOf[name] += own
			freedomOf[name] += ownFreedom
		}
	}
	for name, of := range squaresOf {
		// The pairs that share a configuration are not independent: the degrees of freedom are
		// those of the runs behind them, of the one and of all others.
		with := of / freedomOf[name]
		others := freedom - freedomOf[name]
		without := (squares - of) / others
		f := distuv.F{D1: freedomOf[name] / (k - 1), D2: 2 * others / (k - 1)}
		if !(with <= without*f.Quantile(1-unlikeLevel)) {
			return nil
		}
	}
	// In complete blocks the squares of all pairs are k times those of the runs about their
	// configurations and blocks, which have (k − 1)(n − 1) degrees of freedom in n blocks. A rise
	// is of two runs, so it varies twice as much as one.
	c.freedom = 2*freedom/k - 1 // less that of the drift
	c.variance = 2 * squares / k / c.freedom
	c.ofDrift = c.variance / 2 / (later / k)
	return &c
}

// estimate is that of a pair. It is never narrower than the pair's own variance makes it: whether
// configurations vary alike is itself not certain.
func (c pool) estimate(p pair, own float64) estimate {
	variance := c.variance/float64(len(p.rises)) + p.meanLater*p.meanLater*c.ofDrift
	deviation := max(own, math.Sqrt(variance))
	return estimate{p.meanRise - c.drift*p.meanLater, deviation, c.freedom, Alone}
}

// judge computes the change from an estimate; known says that the drift is.
func (d *Difference) judge(e estimate, known bool, looks float64) {
	d.Change = Unknown()
	if d.Blocks == 0 {
		d.Why = "no block has both"
		return
	}
	d.Change.Percent = percentOf(e.logarithm)
	switch {
	case d.Blocks < MinBlocks:
		d.Why = fmt.Sprintf("an interval takes %d blocks with both, and there are %d", MinBlocks,
			d.Blocks)
	case !known:
		d.Why = "they ran in the same order in every block, so that a drift cannot be told from a difference"
	default:
		d.Change = newChange(e, looks)
	}
}
