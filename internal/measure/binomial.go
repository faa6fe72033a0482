package measure

import "github.com/aclements/go-moremath/mathx"

// ClopperPearson gives the bounds of the probability of what came about in k of n tries, each of which is passed with
// probability tail (The use of confidence or fiducial limits illustrated in the case of the binomial, Biometrika 26,
// 1934).
func ClopperPearson(k, n, tail float64) (from, to float64) {
	to = 1
	if k > 0 {
		from = solve(func(p float64) bool { return atLeast(k, n, p) > tail })
	}
	if k < n {
		to = solve(func(p float64) bool { return 1-atLeast(k+1, n, p) < tail })
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

// atLeast is the probability of k or more of n, each of probability p.
func atLeast(k, n, p float64) float64 {
	if k <= 0 {
		return 1
	}
	if k > n {
		return 0
	}
	return mathx.BetaInc(p, k, n-k+1)
}
