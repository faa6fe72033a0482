package measure

import (
	"cmp"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// ci95 is half the width of the 95 % confidence interval of the OPM of the samples of a window: an
// interval of the OPM that the run would have in the long run, of which the window is a part. The
// variation comes from all of the run that the window belongs to, in batches as long as the window,
// at most a sixth of it: how much windows like this one differ. So a run whose checkpoints come and
// go shows it, in whichever part of the cycle the window lies. Batches of a window that holds whole
// checkpoint cycles are whole cycles too, where these have the window's mean. few says why the
// interval rests on few independent samples, empty where it does not; the error says why there is
// none.
func (s Series) ci95(window []Sample) (half float64, few string, err error) {
	stretch := s.stretch(window)
	span := spanOf(window)
	begins := s.cyclesBegunIn(spanOf(stretch))
	if e, cycles := newCycleMeans(stretch, begins, span.To-span.From); cycles {
		half = e.half(window, stretch, e.variance)
		// Cycles that are all of another rate say nothing of how the window varies.
		whole := s.opm(Span{begins[0], begins[len(begins)-1]})
		if math.Abs(whole-s.opm(span)) <= half {
			return half, e.few, nil
		}
	}
	e, err := newBatchMeans(lessMean(stretch), len(window), theMean)
	if err != nil {
		return 0, "", err
	}
	return e.half(window, stretch, e.variance*float64(len(window))), e.few, nil
}

// half is half the width of the interval, from the variance of the orders of such windows. What a
// window is a part of knows its variation as if it had up to twice the degrees of freedom: a window
// that is far off makes the variation wide, too. The factor is by simulation
// (docs/evidence/2026-11-simulations.md).
func (e batchMeans) half(window, stretch []Sample, variance float64) float64 {
	span := spanOf(window)
	freedom := e.freedom * (2 - float64(len(window))/float64(len(stretch)))
	return Student(.975, freedom) * math.Sqrt(variance) * float64(time.Minute) /
		float64(span.To-span.From)
}

// stretch is the part of the run that a window belongs to: the run phase from where the start has
// worn off, and as much before and after it as the window takes in.
func (s Series) stretch(window []Sample) []Sample {
	of := s.Phase(PhaseRun)
	in := spanOf(window)
	if steady, ok := s.fromCut(); ok {
		of.From = steady.From
	}
	if of.To == 0 {
		of = in
	}
	return s.within(Span{min(of.From, in.From), max(of.To, in.To)})
}

// spanOf is from where to where samples go; there is at least one.
func spanOf(samples []Sample) Span {
	return Span{samples[0].begin(), samples[len(samples)-1].End}
}

// lessMean is by how many orders each sample differs from the mean rate of all.
func lessMean(samples []Sample) []float64 {
	orders, length := ordersOf(samples)
	rate := float64(orders) / float64(length)
	residuals := make([]float64, len(samples))
	for i, s := range samples {
		residuals[i] = float64(s.Counts.Orders) - rate*float64(s.Length)
	}
	return residuals
}

const (
	mostParts   = 24
	fewestParts = 3
	seenMemory  = 12 // parts from which on their autocorrelation can be told from chance
)

// Parts are those of a span by which a figure of it is seen to vary: whole checkpoint cycles where
// it holds some, else up to 24. They end where histograms do.
func (s Series) Parts(from, to time.Duration) (parts []Span) {
	var ends []time.Duration
	for _, iv := range s.Intervals {
		if iv.From >= from-slack && iv.To <= to+slack {
			ends = append(ends, iv.To)
		}
	}
	if len(ends) == 0 {
		return nil
	}
	var bounds []time.Duration
	cycles := s.cyclesBegunIn(Span{from, to})
	if len(cycles) > minCycles && len(cycles) <= mostParts {
		for _, begin := range cycles[1:] {
			bounds = append(bounds, slices.MinFunc(ends, func(a, b time.Duration) int {
				return cmp.Compare((a - begin).Abs(), (b - begin).Abs())
			}))
		}
		from = cycles[0]
	} else {
		for i := range min(mostParts, len(ends)) {
			bounds = append(bounds, ends[(i+1)*len(ends)/min(mostParts, len(ends))-1])
		}
	}
	for _, bound := range slices.Compact(bounds) {
		parts = append(parts, Span{from, bound})
		from = bound
	}
	return parts
}

// HalfByParts is half the width of the 95 % confidence interval of a figure of a whole, such as a
// percentile, by the same figure in its parts: sectioning (S. Asmussen and P. W. Glynn, "Stochastic
// Simulation", Springer 2007, III.5), with the memory from part to part as in batchMeans; nil of
// fewer than three parts.
func HalfByParts(values []float64) *float64 {
	n := len(values)
	if n < fewestParts {
		return nil
	}
	mean, variance := stat.MeanVariance(values, nil)
	if n >= seenMemory {
		residuals := slices.Clone(values)
		floats.AddConst(-mean, residuals)
		// Parts that resemble their neighbours tell less of the whole than as many independent
		// ones.
		variance *= max(1, inflation(lagOne(residuals, theMean), float64(n)))
	}
	return new(Student(.975, float64(n-1)) * math.Sqrt(variance/float64(n)))
}
