package driver

import (
	"cmp"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"ds2/internal/measure"
	"ds2/internal/progress"
	"ds2/internal/result"
)

// In an open loop customers come whether or not the store keeps up. An order's response time then
// counts from when it was due, so that a slow store cannot hide the orders it held up (coordinated
// omission).

// backlog is how long orders may wait for a free user: when as many are waiting as fall due in this
// time, the next is dropped, and counted. How long it would have waited at least is known when
// those before it have been begun: so long it counts to have taken.
const backlog = 10 * time.Second

// arrival is an order that fell due, and when those did that were dropped since the one before.
type arrival struct {
	at      time.Time
	dropped []time.Time
}

// noteWait notes of an arrival that is begun or given up how long the dropped ones before it would
// have waited at least.
func (a arrival) noteWait(tally *measure.Order) {
	for _, at := range a.dropped {
		tally.Waited(time.Since(at))
	}
}

// offerArrivals starts a goroutine for each target that lets orders fall due, from the start of the
// ramp until the run stops. Users take them in turn from the channel of their target. In a closed
// loop the channels are nil.
func (d *Driver) offerArrivals(wg *sync.WaitGroup) []chan arrival {
	due := make([]chan arrival, len(d.config.Targets))
	c := d.config
	if c.Rate == 0 {
		return due
	}
	d.SetRate(c.Rate)
	held := c.Rate / float64(len(due)) * cmp.Or(c.backlog, backlog).Seconds()
	for i := range due {
		due[i] = make(chan arrival, int(math.Ceil(held)))
		recorder := d.meter.NewRecorder(i)
		random := rand.New(rand.NewPCG(c.Seed, 1<<63+uint64(c.UserOffset+i))) // no user's
		wg.Go(func() { d.offerTo(due[i], recorder, random) })
	}
	return due
}

// SetRate changes the rate of an open loop, over all targets, from the next order on.
func (d *Driver) SetRate(rate float64) {
	d.rate.Store(math.Float64bits(rate / float64(len(d.config.Targets))))
}

// offerTo lets orders fall due on one target. Those still waiting when the run stops are dropped.
func (d *Driver) offerTo(due chan arrival, recorder *measure.Recorder, random *rand.Rand) {
	var tally measure.Order
	next := arrival{at: d.start}
	for {
		gap := 1.0
		if d.config.Spacing == result.Poisson {
			gap = random.ExpFloat64()
		}
		rate := math.Float64frombits(d.rate.Load())
		next.at = next.at.Add(time.Duration(gap / rate * float64(time.Second)))
		if !progress.Pause(d.stop, time.Until(next.at)) {
			break
		}
		tally.Offered++
		select {
		case due <- next:
			next.dropped = nil
		default:
			tally.Dropped++
			next.dropped = append(next.dropped, next.at)
		}
		recorder.Record(&tally)
	}
	close(due)
	for left := range due {
		tally.Dropped++
		left.noteWait(&tally)
		tally.Waited(time.Since(left.at))
	}
	next.noteWait(&tally)
	recorder.Record(&tally)
}
