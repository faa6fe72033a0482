package measure

import (
	"slices"
	"time"
)

// Rates is the rates of completed orders that are shown while a run goes on, in orders a minute.
type Rates struct {
	Last10s, Last60s float64
	// the average since the end of the warm-up, and before that since the first orders
	Cumulative float64
	Since      Average // what Cumulative is made of
	Steady     float64 // of the steady part so far; 0 while there is none
}

// Average is orders, and the time in which they were completed.
type Average struct {
	Orders  int64   `json:"orders"`
	Seconds float64 `json:"seconds"`
}

// Progress is how a run stands at its last sample.
type Progress struct {
	Rates
	Last Sample // the zero Sample before the first
}

// progress accumulates samples into live rates. It takes the same space after a day as after a
// minute, so a Meter can keep it when the samples themselves are on disk.
type progress struct {
	last     Sample
	recent   Series        // the last minute
	ran      bool          // the run phase has begun
	from, to time.Duration // what the average is of
	orders   int64         // between them
	steady   batchSums     // from the first orders to the end of the run phase
}

// add takes the next sample. Once there was a run phase, the drain is no part of the averages: no
// new orders begin in it.
func (p *progress) add(s Sample) {
	p.last = s
	p.recent.Samples = append(p.recent.Samples, s)
	old := slices.IndexFunc(p.recent.Samples, func(o Sample) bool {
		return o.End > s.End-time.Minute-slack
	})
	p.recent.Samples = slices.Delete(p.recent.Samples, 0, old)

	if s.Phase == PhaseRun && !p.ran {
		p.ran = true
		p.from = s.End - s.Length
		p.orders = 0
	}
	if s.Phase == PhaseDrain && p.ran {
		return
	}
	p.to = s.End
	p.orders += s.Counts.Orders
	p.steady.add(s)
}

// now computes how the run stands.
func (p *progress) now() Progress {
	end := p.last.End
	r := Rates{
		Last10s:    p.recent.opm(Span{end - 10*time.Second, end}),
		Last60s:    p.recent.opm(Span{end - time.Minute, end}),
		Cumulative: OrdersPerMinute(p.orders, p.to-p.from),
		Since:      Average{p.orders, (p.to - p.from).Seconds()},
	}
	if p.ran {
		r.Steady = p.steady.opm()
	}
	return Progress{Rates: r, Last: p.last}
}

// Progress is how the run stood at its last sample.
func (s Series) Progress() Progress {
	var p progress
	for _, sample := range s.Samples {
		p.add(sample)
	}
	return p.now()
}

// batchSums holds the orders of a run by batches of equally many samples: batchSamples at first,
// and whenever there are maxBatches of them twice as many.
type batchSums struct {
	size    int // samples in a batch
	batches []batchSum
	last    int // samples in the last batch
}

// batchSum is the orders of one batch, and from when to when it goes.
type batchSum struct {
	orders   int64
	from, to time.Duration
}

const (
	batchSamples = 5
	maxBatches   = 2048 // of five seconds: almost three hours
)

// add puts a sample into the last batch, or into a new one where that is full.
func (b *batchSums) add(s Sample) {
	if b.size == 0 {
		b.size = batchSamples
		b.last = batchSamples
	}
	if b.last == b.size {
		if len(b.batches) == maxBatches {
			b.halve()
		}
		b.batches = append(b.batches, batchSum{from: s.End - s.Length})
		b.last = 0
	}
	last := &b.batches[len(b.batches)-1]
	last.orders += s.Counts.Orders
	last.to = s.End
	b.last++
}

// halve puts every two batches, all of them full, into one.
func (b *batchSums) halve() {
	for i := range len(b.batches) / 2 {
		first := b.batches[2*i]
		second := b.batches[2*i+1]
		b.batches[i] = batchSum{first.orders + second.orders, first.from, second.to}
	}
	b.batches, b.size = b.batches[:len(b.batches)/2], 2*b.size
}

// rates are those of the batches that are full.
func (b *batchSums) rates() []float64 {
	full := b.batches
	if b.last < b.size && len(full) > 0 {
		full = full[:len(full)-1]
	}
	rates := make([]float64, len(full))
	for i, batch := range full {
		rates[i] = OrdersPerMinute(batch.orders, batch.to-batch.from)
	}
	return rates
}

// steadyFrom is the best first batch of the steady part in the first half, as Series.Steady
// explains; false where a later one is better, or there are too few to tell.
func steadyFrom(rates []float64) (first int, ok bool) {
	half := len(rates) / 2
	return mser(rates, half), len(rates) > 2*mserUnusable && mser(rates, len(rates)) <= half
}

// opm is the rate of the steady part; 0 where there is none.
func (b *batchSums) opm() float64 {
	first, ok := steadyFrom(b.rates())
	if !ok {
		return 0
	}
	var orders int64
	for _, batch := range b.batches[first:] {
		orders += batch.orders
	}
	return OrdersPerMinute(orders, b.batches[len(b.batches)-1].to-b.batches[first].from)
}
