package tune

import "math"

// golden is the share of the larger part of an interval at which golden-section search probes it.
var golden = (3 - math.Sqrt(5)) / 2

// goldenStep is the next probe on either side of the best point, or 0 where its neighbours are near enough: next to it,
// within an eighth of it at a peak, where the curve is flat, and within a sixteenth at the limits, where it still rises.
func goldenStep(curve Curve, best int) int {
	at := curve[best]
	fewer := 0
	if best > 0 {
		fewer = curve[best-1].Threads
	}
	below, above := at.Threads-fewer, 0
	share, enough := golden, at.Threads/8
	if best+1 < len(curve) {
		next := curve[best+1]
		above = next.Threads - at.Threads
		if !next.Passed() && next.OPM() > at.OPM() {
			below, share, enough = 0, 0.5, at.Threads/16
		}
	}
	enough = max(1, enough)
	probe := func(width int) int { return min(max(1, int(math.Round(share*float64(width)))), width-1) }
	switch {
	case above >= below && above > enough:
		return at.Threads + probe(above)
	case below > enough:
		return at.Threads - probe(below)
	case above > enough:
		return at.Threads + probe(above)
	default:
		return 0
	}
}

// patience is how many steps in a row may bring nothing before stepping ends.
const patience = 3

// upByOne is one user more than the most that were run without a gap above the best point, or 0 where the limits fail
// there or the last steps brought nothing.
func (c Config) upByOne(curve Curve, best int) int {
	for i := best; ; i++ {
		next := curve[i].Threads + 1
		switch {
		case !curve[i].Passed(), next > c.Max, i-best >= patience:
			return 0
		case i+1 == len(curve) || curve[i+1].Threads > next:
			return next
		}
	}
}
