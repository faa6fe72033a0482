package measure

// OrderTrend is the probability that runs in random order rise or fall as steadily as these, in the
// order of time: the exact test of Kendall's τ (H. B. Mann, "Nonparametric Tests Against Trend",
// Econometrica 13, 1945), over all orders of the runs. up says which way.
func OrderTrend(values []float64) (p float64, up bool) {
	n := len(values)
	falls := 0 // pairs of which the later is lower
	for i, v := range values {
		for _, later := range values[i+1:] {
			if later < v {
				falls++
			}
		}
	}
	all := n * (n - 1) / 2
	up = 2*falls < all
	// chances of each number of falls, as values come one by one to any place among those before
	chances := []float64{1}
	for k := 2; k <= n; k++ {
		next := make([]float64, len(chances)+k-1)
		for at, chance := range chances {
			for more := range k {
				next[at+more] += chance / float64(k)
			}
		}
		chances = next
	}
	for _, chance := range chances[:min(falls, all-falls)+1] {
		p += 2 * chance
	}
	return min(1, p), up
}
