package measure

import (
	"fmt"
	"slices"
	"time"
)

// minCycles is how many whole cycles it takes to see how much they differ.
const minCycles = 3

// phases is how many begins of batches are tried in a cycle.
const phases = 20

// newCycleMeans estimates how the orders of windows of a length vary in a run of cycles, such as
// those from one checkpoint to the next, from what differs between whole cycles: the ratio
// estimator over cycles (M. A. Crane and D. L. Iglehart, "Simulating Stable Stochastic Systems III:
// Regenerative Processes and Discrete-Event Simulations", Operations Research 23(1), 1975), whose
// residual of a cycle is its orders less the mean rate times its length. Batches of cycles overlap
// as those of batchMeans do: they begin at every phase of a cycle and end at the same phase of a
// later one, so that the shape of the cycle falls out. What a window holds beyond whole cycles adds
// the variation of spans of that length. The variance is that of the orders of a window. ok is
// false where a window is shorter than a cycle, or the stretch holds too few.
func newCycleMeans(
	stretch []Sample,
	begins []time.Duration,
	window time.Duration,
) (e batchMeans, ok bool) {
	cycles := len(begins) - 1
	if cycles < minCycles {
		return e, false
	}
	whole := begins[cycles] - begins[0]
	period := whole / time.Duration(cycles)
	in := int((window + beginSlack) / period) // cycles in the window
	if in == 0 || len(stretch) < minSamples {
		return e, false
	}
	sums := newCumulative(stretch, Span{begins[0], begins[cycles]})
	batch := max(1, min(in, cycles/minBatches))
	length := func(cycle int) time.Duration { return begins[cycle+1] - begins[cycle] }
	// What a cycle of its length has on average up to a phase is no variation: it is taken off.
	var shape [phases]float64
	for step := range cycles * phases {
		cycle := step / phases
		phase := step % phases
		since := length(cycle) * time.Duration(phase) / phases
		shape[phase] += sums.between(begins[cycle], begins[cycle]+since) / float64(whole)
	}
	// the sum up to a step, of which a cycle has as many as there are phases
	at := func(step int) float64 {
		cycle := step / phases
		phase := step % phases
		if phase == 0 {
			return sums.at(begins[cycle])
		}
		return sums.at(
			begins[cycle]+length(cycle)*time.Duration(phase)/phases,
		) - shape[phase]*float64(length(cycle))
	}
	squares := 0.
	n := 0.
	for step := 0; step+batch*phases <= cycles*phases; step++ {
		sum := at(step+batch*phases) - at(step)
		squares += sum * sum
		n++
	}
	share := float64(batch) / float64(cycles)
	e.variance = squares / n / (1 - share) * float64(in) / float64(batch)
	e.freedom = 1.5 * (1/share - 1)
	if e.freedom < fewestFreedom {
		e.few = fmt.Sprintf("few independent samples: %d whole checkpoint cycles", cycles)
	}
	// What the window holds beyond whole cycles, by all spans of that length, a phase apart.
	if rest := window - time.Duration(in)*period; rest > beginSlack {
		squares = 0
		n = 0
		for from := begins[0]; from+rest <= begins[cycles]; from += period / phases {
			sum := sums.between(from, from+rest)
			squares += sum * sum
			n++
		}
		e.variance += squares / n
	}
	return e, true
}

// cumulative is by how many orders samples differ from a mean rate, added up from the first on.
type cumulative struct {
	ends []time.Duration
	sums []float64
}

// newCumulative takes the mean rate from a span.
func newCumulative(samples []Sample, of Span) cumulative {
	rate := Series{Samples: samples}.opm(of) / float64(time.Minute)
	c := cumulative{[]time.Duration{samples[0].begin()}, []float64{0}}
	for i, s := range samples {
		c.ends = append(c.ends, s.End)
		c.sums = append(c.sums, c.sums[i]+float64(s.Counts.Orders)-rate*float64(s.Length))
	}
	return c
}

// between is the sum from one time to another, samples in part by their share.
func (c cumulative) between(from, to time.Duration) float64 { return c.at(to) - c.at(from) }

// at is the sum up to a time. Amid a sample, its orders are taken to be spread evenly over it.
func (c cumulative) at(t time.Duration) float64 {
	after, found := slices.BinarySearch(c.ends, t)
	switch {
	case found || after == 0:
		return c.sums[after]
	case after == len(c.ends):
		return c.sums[after-1]
	}
	share := float64(t-c.ends[after-1]) / float64(c.ends[after]-c.ends[after-1])
	return c.sums[after-1] + share*(c.sums[after]-c.sums[after-1])
}
