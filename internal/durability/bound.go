package durability

import (
	"github.com/aclements/go-moremath/mathx"

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

// share gives the bounds, 0 to 1, of the probability of something that came about in k of n tries, by Clopper and Pearson, The use of
// confidence or fiducial limits illustrated in the case of the binomial, 1934. Each is one-sided and holds at 95 % by itself, whatever
// comes about: one that is one-sided only where nothing was lost holds in fewer. For none of n the upper is 1-0.05^(1/n), about 3/n.
func share(k, n int) (from, to float64) {
	const tail = 0.05
	if k > 0 {
		from = solve(func(p float64) bool { return 1-binomial(k-1, n, p) > tail })
	}
	to = 1
	if k < n {
		to = solve(func(p float64) bool { return binomial(k, n, p) < tail })
	}
	return from, to
}

// solve gives the p from which on f is true.
func solve(f func(p float64) bool) float64 {
	low, high := 0.0, 1.0
	for range 60 {
		if p := (low + high) / 2; f(p) {
			high = p
		} else {
			low = p
		}
	}
	return high
}

// binomial is the probability of k or fewer of n, each of probability p.
func binomial(k, n int, p float64) float64 {
	return mathx.BetaInc(1-p, float64(n-k), float64(k+1))
}
