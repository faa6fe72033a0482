package tune

import (
	"math"
	"slices"
)

// golden is the share of the larger part of an interval at which golden-section search probes it.
var golden = (3 - math.Sqrt(5)) / 2

// goldenStep is the next probe on either side of the best point, or 0 where its neighbours are near enough: next to it,
// or within a quarter of it, since the curve is flat at its peak.
func (c Config) goldenStep(curve Curve, best int) (threads int, why string) {
	at := curve[best]
	fewer := 0
	if best > 0 {
		fewer = curve[best-1].Threads
	}
	below, above := at.Threads-fewer, 0
	if best+1 < len(curve) {
		next := curve[best+1]
		if !next.Passed() && next.OPM() > at.OPM() {
			return c.limitStep(at, next), "where a line to the next number meets the limit"
		}
		above = next.Threads - at.Threads
	}
	enough := max(1, at.Threads/4)
	if best+1 < len(curve) && curve[best+1].OPM() < cliff*at.OPM() {
		enough = max(1, at.Threads/16)
	}
	probe := func(width int) int { return min(max(1, int(math.Round(golden*float64(width)))), width-1) }
	const golden = "golden section beside the best"
	switch {
	case above >= below && above > enough:
		return at.Threads + probe(above), golden
	case below > enough:
		return at.Threads - probe(below), golden
	case above > enough:
		return at.Threads + probe(above), golden
	default:
		return 0, ""
	}
}

// cliff is the share of the best OPM below which the next number of users says that the curve is not flat there.
const cliff = 0.8

// flat tells whether twice as many users or more bring about what fewer did: a plateau, or a gain that noise hid.
func (p Point) flat(fewer Point) bool {
	return p.Threads >= 2*fewer.Threads && p.OPM() > 0.95*fewer.OPM()
}

// nearLimit is the share of a point's users for which limits need not be sought more closely.
const nearLimit = 1.0 / 12

// limitStep is the next probe between a point that keeps its limits and one that does not though its OPM is higher, or
// 0 where they are next to each other or what lies between is too few users or, on a line, half of Gain at most: OPM
// bends. It goes where the limits would just be kept if strain grew evenly between the two, which it almost does in a
// store that is saturated (by Little's law, a response time is then as users), but not nearer to either than an eighth
// of the way, since it need not.
func (c Config) limitStep(below, above Point) int {
	width := above.Threads - below.Threads
	slope := (above.strain() - below.strain()) / float64(width)
	users := (1 - below.strain()) / slope // that the limits leave room for
	more := users / float64(width) * (above.OPM()/below.OPM() - 1)
	if width == 1 || users < max(1, nearLimit*float64(below.Threads)) || more < c.Gain/2 {
		return 0
	}
	share := (midLimit - below.strain()) / slope / float64(width)
	return below.Threads + min(max(1, int(math.Round(min(max(share, 0.125), 0.875)*float64(width)))), width-1)
}

// midLimit is the strain that limitStep aims at: in the middle of what is near enough.
const midLimit = 31.0 / 32

// patience is how many steps in a row may bring nothing before stepping ends.
const patience = 3

// upByOne is one user more than the most that were run without a gap above the best point, or 0 where the limits fail
// there or the last steps brought nothing.
func (c Config) upByOne(curve Curve, best int) (threads int, why string) {
	for i := best; ; i++ {
		next := curve[i].Threads + 1
		switch {
		case !curve[i].Passed(), next > c.Max, i-best >= patience:
			return 0, ""
		case i+1 == len(curve) || curve[i+1].Threads > next:
			return next, "one user more"
		}
	}
}

// best is the index of the point that the search is after: by steps, where there is a target, the fewest users that
// make it, as Jetstress tunes, and else the fewest whose OPM is within Gain of the highest; -1 on an empty curve.
func (c Config) best(kept Curve) int {
	if c.Method == Steps {
		if i := slices.IndexFunc(kept, func(p Point) bool { return p.reach() >= 1 }); i >= 0 {
			return i
		}
	}
	return kept.best(c.Gain)
}

// reach is the median trial's, by reach.
func (p Point) reach() float64 { return p.median(func(t Trial) float64 { return t.Reach }) }

// fewer is a number of users between a point that makes the target and the one below it that may make it too; 0 where
// there is none. Each user more brings at most as much as the one before it, so that fewer users reach at most what the
// line from the next point above through this one says.
func fewer(curve Curve, at int) int {
	p, least := curve[at], 1
	if at > 0 {
		least = curve[at-1].Threads + 1
	}
	if at+1 < len(curve) {
		next := curve[at+1]
		if slope := (next.reach() - p.reach()) / float64(next.Threads-p.Threads); slope > 0 {
			least = max(least, p.Threads-int(math.Floor((p.reach()-1)/slope)))
		}
	}
	if least >= p.Threads {
		return 0
	}
	return (least + p.Threads) / 2
}
