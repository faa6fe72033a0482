package tune

import (
	"math"
	"slices"
)

// best is the index of the point that the search is after: by steps, where there is a target, the fewest users that make it, as
// Jetstress tunes, and else the fewest whose OPM is within Gain of the highest; -1 on an empty curve.
func (c Config) best(kept Curve) int {
	if c.Method == Steps {
		if i := slices.IndexFunc(kept, func(p Point) bool { return p.reach() >= 1 }); i >= 0 {
			return i
		}
	}
	return kept.best(c.Gain)
}

// reach is the median trial's, by reach.
func (p Point) reach() float64 {
	all := make([]float64, len(p.Trials))
	for i, t := range p.Trials {
		all[i] = t.Reach
	}
	slices.Sort(all)
	return all[(len(all)-1)/2]
}

// fewer is a number of users between a point that makes the target and the one below it that may make it too; 0 where there is
// none. Each user more brings at most as much as the one before it, so that fewer users reach at most what the line from the
// next point above through this one says.
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
