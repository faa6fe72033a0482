package measure

import "math"

// Slope is by how much values change from one to the next, by least squares; those that are not numbers count for the distance only.
// n is how many numbers there are.
func Slope(values []float64) (slope float64, n int) {
	var sx, sy, sxx, sxy float64
	for i, y := range values {
		if math.IsNaN(y) {
			continue
		}
		x := float64(i)
		n++
		sx, sy, sxx, sxy = sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	if below := float64(n)*sxx - sx*sx; below > 0 {
		return (float64(n)*sxy - sx*sy) / below, n
	}
	return 0, n
}
