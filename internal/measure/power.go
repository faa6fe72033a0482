package measure

import "math"

// power is the share of experiments that find what Detectable and Smallest say.
const power = 0.8

// mostBlocks bounds what More counts.
const mostBlocks = 1000

// Detectable is the smallest difference that measurements like these show in 8 of 10 cases, as the logarithm of a ratio; NaN where
// their scatter is not known.
func (c Change) Detectable() float64 { return detectable(c.deviation, c.freedom, 1) }

func detectable(deviation, freedom, looks float64) float64 {
	if !(deviation > 0) || freedom < 1 {
		return math.NaN()
	}
	return deviation * (Student(1-0.025/looks, freedom) + Student(power, freedom))
}

// More is how many more blocks, or runs of each, it takes beside n to find a change of so many percent in 8 of 10 cases; -1 where that
// is not known, or more than mostBlocks.
func (c Change) More(percent float64, n int) int {
	want := math.Abs(math.Log1p(percent / 100))
	for all := n; all <= mostBlocks; all++ {
		times := float64(all) / float64(n)
		if detectable(c.deviation/math.Sqrt(times), c.freedom+float64(all-n), 1) <= want {
			return all - n
		}
	}
	return -1
}

// Scatter is by how many percent the runs of each of some configurations scatter; NaN where there are fewer than three beside the first
// of each.
func Scatter(configurations [][]float64) float64 {
	squares, freedom := 0., 0.
	for _, values := range configurations {
		if len(values) > 1 {
			_, deviation := meanAndDeviation(logarithms(values))
			n := float64(len(values) - 1)
			squares, freedom = squares+n*deviation*deviation, freedom+n
		}
	}
	if freedom < 3 {
		return math.NaN()
	}
	return percentOf(math.Sqrt(squares / freedom))
}

// Smallest is the smallest difference, in percent, that an experiment of so many blocks finds in 8 of 10 cases where its runs scatter
// by so many percent and the order of each second block is that of the one before backwards.
func Smallest(scatter float64, configurations, blocks int, until bool) float64 {
	n := float64(blocks)
	deviation, freedom := math.Sqrt(2/n), n-2
	if configurations > 2 {
		freedom += 1 - 2/float64(configurations)
	}
	if blocks%2 == 1 { // the last block is not made up for by one backwards
		deviation *= math.Sqrt(1 + 1/(n*n-1))
	}
	return percentOf(detectable(deviation*math.Log1p(scatter/100), freedom, looksOf(until)))
}
