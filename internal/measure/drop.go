package measure

import (
	"math"
	"time"

	"gonum.org/v1/gonum/stat"
)

// A drop is told from a decline and from noise by how much of what the rate varies its two levels
// explain: the best two levels of a straight line explain three quarters.
const (
	dropExplains = 0.85
	leastDrop    = 0.2 // of the rate before
	leastOfDrop  = time.Minute
	dropBin      = 10 * time.Second
	mostDropBins = 120
)

// Drop is when the rate of a part of the run fell from one level to a lower one, and stayed there,
// and by which share; false where it did not. It is that of the largest fall.
func (s Series) Drop(span Span) (at time.Duration, share float64, fell bool) {
	width := max(dropBin, (span.To-span.From)/mostDropBins)
	var rates []float64
	for from := span.From; from+width <= span.To; from += width {
		rates = append(rates, s.opm(Span{from, from + width}))
	}
	least := int(math.Ceil(float64(leastOfDrop) / float64(width)))
	mean, variance := stat.PopMeanVariance(rates, nil)
	best := 0. // of the sum of squares that two levels explain
	split := 0
	for i := least; i <= len(rates)-least; i++ {
		before := stat.Mean(rates[:i], nil) - mean
		after := stat.Mean(rates[i:], nil) - mean
		between := float64(i)*before*before + float64(len(rates)-i)*after*after
		if before > after && between > best {
			best = between
			split = i
		}
	}
	if split == 0 {
		return 0, 0, false
	}
	high := stat.Mean(rates[:split], nil)
	low := stat.Mean(rates[split:], nil)
	share = 1 - low/high
	all := variance * float64(len(rates))
	fell = best > dropExplains*all && share > leastDrop && low > 0
	return span.From + time.Duration(split)*width, share, fell
}
