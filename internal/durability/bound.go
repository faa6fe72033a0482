package durability

import (
	"ds2/internal/measure"
	"ds2/internal/result"
)

// Conclude adds up cuts.
func Conclude(p Plan, cuts []result.Cut) *result.Cuts {
	all := &result.Cuts{Planned: max(p.Cycles, 1), Mean: p.After.Seconds(), DeepEvery: p.DeepEvery, Cuts: cuts, To: 1}
	for _, c := range cuts {
		all.Acknowledged += c.Acknowledged
		all.Lost += c.Lost
		switch {
		case c.Lossy():
			all.Lossy++
		case c.Acknowledged == 0:
			all.Idle++
		}
	}
	if n := len(cuts) - all.Idle; n > 0 {
		all.From, all.To = share(all.Lossy, n)
	}
	return all
}

// share gives the bounds, 0 to 1, of the probability of something that came about in k of n tries, by Clopper and Pearson. Each is
// one-sided and holds at 95 % by itself, whatever comes about: were it one-sided only where nothing was lost, it would hold in fewer.
// For none of n the upper is 1-0.05^(1/n), which is about 3/n.
func share(k, n int) (from, to float64) { return measure.ClopperPearson(float64(k), float64(n), 0.05) }
