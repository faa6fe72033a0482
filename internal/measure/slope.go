package measure

import "math"

// Slope is by how much values change from one to the next, by least squares; those that are not numbers count for the distance only.
// n is how many numbers there are; of fewer than two the slope is 0.
func Slope(values []float64) (slope float64, n int) {
	var x, y float64 // means
	for i, v := range values {
		if !math.IsNaN(v) {
			x, y, n = x+float64(i), y+v, n+1
		}
	}
	x, y = x/float64(n), y/float64(n)
	var xy, xx float64
	for i, v := range values {
		if !math.IsNaN(v) {
			xy += (float64(i) - x) * (v - y)
			xx += (float64(i) - x) * (float64(i) - x)
		}
	}
	if xx == 0 {
		return 0, n
	}
	return xy / xx, n
}
