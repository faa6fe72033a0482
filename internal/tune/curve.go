// Package tune searches for the number of users with which a store completes the most orders a minute and still keeps
// its limits. It decides what to run next and when to stop; how a run is made and judged is the caller's.
package tune

import (
	"cmp"
	"slices"
)

// Trial is what one run with a number of users gave.
type Trial struct {
	Threads int     `json:"threads"`
	OPM     float64 `json:"value"` // the figure that counts, OPM or another of the same sense:
	Unit    string  `json:"unit"`
	P95     float64 `json:"order_p95_seconds"`

	// Strain is the highest ratio of a measured figure to its upper limit: 0.8 keeps every limit with 20 % to spare. It
	// is 0 where there are no limits.
	Strain float64 `json:"strain"`
	Passed bool    `json:"passed"`

	// Reach is the lowest ratio of a measured figure to its lower limit, such as IOPS to their target: from 1 on the
	// trial makes them all. It is 0 where there are none.
	Reach float64 `json:"reach,omitempty"`

	Why     string `json:"why,omitempty"`     // why the search made it
	Confirm bool   `json:"confirm,omitempty"` // made when its number was chosen: those by which it was are lucky ones
	Record  string `json:"record,omitempty"`  // directory of the run's record
}

// Point is a number of users and every trial made with it.
type Point struct {
	Threads int     `json:"threads"`
	Trials  []Trial `json:"trials"` // at least one, in the order they were made
}

// Passed tells whether more than half of the trials kept the limits.
func (p Point) Passed() bool {
	kept := slices.DeleteFunc(slices.Clone(p.Trials), func(t Trial) bool { return !t.Passed })
	return 2*len(kept) > len(p.Trials)
}

// disputed tells whether some of the trials kept the limits and some did not.
func (p Point) disputed() bool {
	return slices.ContainsFunc(p.Trials, func(t Trial) bool { return t.Passed != p.Trials[0].Passed })
}

// confirming are the trials that confirm the number of users.
func (p Point) confirming() []Trial {
	return slices.DeleteFunc(slices.Clone(p.Trials), func(t Trial) bool { return !t.Confirm })
}

// confirmed says that the number of users was run often enough after it had been chosen.
func (p Point) confirmed() bool { return len(p.confirming()) >= repeats }

// Median is the trial with the median OPM, of those that confirm the number where there are enough; of an even number,
// the lower of the two in the middle.
func (p Point) Median() Trial {
	trials := p.Trials
	if p.confirmed() {
		trials = p.confirming()
	}
	byOPM := slices.SortedFunc(slices.Values(trials), func(a, b Trial) int { return cmp.Compare(a.OPM, b.OPM) })
	return byOPM[(len(byOPM)-1)/2]
}

// OPM is that of the median trial.
func (p Point) OPM() float64 { return p.Median().OPM }

// strain is the median trial's, by strain.
func (p Point) strain() float64 { return p.median(func(t Trial) float64 { return t.Strain }) }

// median is that of a figure of the trials; of an even number, the lower of the two in the middle.
func (p Point) median(of func(Trial) float64) float64 {
	all := make([]float64, len(p.Trials))
	for i, t := range p.Trials {
		all[i] = of(t)
	}
	slices.Sort(all)
	return all[(len(all)-1)/2]
}

// Curve is what is known so far: points in the order of their threads.
type Curve []Point

func (c Curve) find(threads int) (int, bool) {
	return slices.BinarySearchFunc(c, threads, func(p Point, n int) int { return cmp.Compare(p.Threads, n) })
}

// with is the curve and one trial more.
func (c Curve) with(t Trial) Curve {
	i, found := c.find(t.Threads)
	if !found {
		return slices.Insert(c, i, Point{t.Threads, []Trial{t}})
	}
	c[i].Trials = append(c[i].Trials, t)
	return c
}

// kept are the points below the first that does not keep its limits. A point above that one may have passed by chance,
// but latency grows with users, so it does not count.
func (c Curve) kept() Curve {
	if i := slices.IndexFunc(c, func(p Point) bool { return !p.Passed() }); i >= 0 {
		return c[:i]
	}
	return c
}

// best is the index of the fewest users whose level is within tolerance (a share) of the highest; -1 on an empty curve.
func (c Curve) best(tolerance float64) int {
	levels := c.levels()
	if len(levels) == 0 {
		return -1
	}
	most := slices.Max(levels)
	return slices.IndexFunc(levels, func(opm float64) bool { return opm >= most*(1-tolerance) })
}

// Knee is the number of users from which on queueing sets in: where the line of a store without queues, OPM growing
// with users as at the fewest users tried, meets the highest OPM seen. This is the saturation point N* of Lazowska,
// Zahorjan, Graham and Sevcik, Quantitative System Performance (1984), section 5.3, taken from measurements. It is 0
// without any orders, and too high where even the fewest users tried saturate the store.
func (c Curve) Knee() float64 {
	if len(c) == 0 {
		return 0
	}
	perUser, most := c[0].OPM()/float64(c[0].Threads), 0.0
	for _, p := range c {
		most = max(most, p.OPM())
	}
	if perUser == 0 {
		return 0
	}
	return most / perUser
}
