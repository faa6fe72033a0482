package tune

import "math"

// law is the universal scalability law, by which n users make rate·n / (1 + sigma (n−1) + kappa n (n−1)) orders
// (N. J. Gunther, Guerrilla Capacity Planning, 2007).
type law struct{ rate, sigma, kappa float64 }

func (l law) opm(n float64) float64 { return l.rate * n / (1 + l.sigma*(n-1) + l.kappa*n*(n-1)) }

// fitted is the law by least squares of n/OPM, which is linear in it, each trial weighted so that all have the same
// relative error; ok is false where fewer than three numbers of users were tried, or the law does not fit.
func fitted(curve Curve) (l law, ok bool) {
	var normal [3][4]float64
	for _, p := range curve {
		n := float64(p.Threads)
		for _, t := range p.Trials {
			if t.OPM <= 0 {
				continue
			}
			row := [4]float64{1, n - 1, n * (n - 1), n / t.OPM}
			weight := t.OPM / n * t.OPM / n
			for i := range normal {
				for j := range row {
					normal[i][j] += weight * row[i] * row[j]
				}
			}
		}
	}
	for terms := min(3, len(curve)-1); terms >= 2; terms-- { // without kappa where coherence costs nothing
		x := solved(normal, terms)
		l = law{1 / x[0], x[1] / x[0], x[2] / x[0]}
		if l.rate > 0 && l.sigma >= 0 && l.kappa >= 0 && !math.IsInf(l.rate, 0) {
			return l, true
		}
	}
	return law{}, false
}

// solved are the first terms of linear equations, by Gauss and Jordan; the others are 0.
func solved(m [3][4]float64, terms int) (x [3]float64) {
	for i := range terms {
		for k := range terms {
			if factor := m[k][i] / m[i][i]; k != i {
				for j := range m[k] {
					m[k][j] -= factor * m[i][j]
				}
			}
		}
	}
	for i := range terms {
		x[i] = m[i][3] / m[i][i]
	}
	return x
}

// fits is how far off the trials may be from the law, as a share of it, for it to be taken for what they have in
// common: that of trials that scatter by 3 or 4 %. At a knee or a cliff they are farther off.
const fits = 0.06

// levels are the OPM of each point by the law, which knows more of a point than its own trials, if it fits the curve up
// to where that falls off a cliff; else those measured.
func (c Curve) levels() []float64 {
	levels := make([]float64, len(c))
	most, end := 0., len(c)
	for i, p := range c {
		levels[i] = p.OPM()
		if levels[i] < cliff*most {
			end = min(end, i)
		}
		most = max(most, levels[i])
	}
	l, ok := fitted(c[:end])
	if !ok || l.off(c[:end]) > fits {
		return levels
	}
	for i, p := range c[:end] {
		levels[i] = l.opm(float64(p.Threads))
	}
	return levels
}

// off is the standard deviation of the trials from the law, as a share of it.
func (l law) off(curve Curve) float64 {
	squares, freedom := 0., -2.
	for _, p := range curve {
		for _, t := range p.Trials {
			share := t.OPM/l.opm(float64(p.Threads)) - 1
			squares, freedom = squares+share*share, freedom+1
		}
	}
	return math.Sqrt(squares / max(1, freedom))
}

// apart is the share of OPM by which a fit has to differ from the search to be told.
const apart = 0.03

// fitted is the fewest users that are within Gain of the best by a fit, among those that keep the limits, where that is
// better than what was found by more than noise; 0 where it is not, or there is no fit.
func (c Config) fitted(curve Curve, best Point) (threads int, more float64) {
	l, ok := fitted(curve)
	if !ok {
		return 0, 0
	}
	users, most := c.Max, 0.
	if kept := curve.kept(); len(kept) < len(curve) {
		users = kept[len(kept)-1].Threads
	}
	for n := 1; n <= users; n++ {
		most = max(most, l.opm(float64(n)))
	}
	threads = 1
	for l.opm(float64(threads)) < (1-c.Gain)*most {
		threads++
	}
	more = l.opm(float64(threads))/l.opm(float64(best.Threads)) - 1
	if more < apart || threads == best.Threads {
		return 0, 0
	}
	return threads, more
}
