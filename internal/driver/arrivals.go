package driver

import (
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"ds2/internal/measure"
)

// Arrivals says when orders fall due in an open loop, in which customers come whether or not the store keeps up. An
// order's response time then counts from when it was due, so that a slow store cannot hide the orders it held up
// (coordinated omission).
type Arrivals struct {
	Rate    float64 // orders due a second, over all targets; 0 is the closed loop
	Poisson bool    // exponential times between orders, as of many customers independent of each other; else even ones
}

// backlog is how long orders may wait for a free user: when so many are waiting as fall due in this time, the next is
// dropped, and counted.
const backlog = 10 * time.Second

// offer starts a goroutine for each target that lets orders fall due, from the start of the ramp until the run stops.
// Users take them in turn from the channel of their target. In a closed loop the channels are nil.
func (d *Driver) offer(wg *sync.WaitGroup) []chan time.Time {
	due := make([]chan time.Time, len(d.config.Targets))
	a := d.config.Arrivals
	if a.Rate == 0 {
		return due
	}
	d.SetRate(a.Rate)
	a.Rate /= float64(len(due))
	for i := range due {
		due[i] = make(chan time.Time, int(math.Ceil(a.Rate*backlog.Seconds())))
		recorder := d.meter.NewRecorder(i)
		random := rand.New(rand.NewPCG(d.config.Seed, math.MaxUint64-uint64(d.config.UserOffset+i)))
		wg.Go(func() { d.offerTo(due[i], a, recorder, random) })
	}
	return due
}

// SetRate changes the rate of an open loop, over all targets, from the next order on.
func (d *Driver) SetRate(rate float64) {
	d.rate.Store(math.Float64bits(rate / float64(len(d.config.Targets))))
}

// offerTo lets orders fall due on one target. Those still waiting when the run stops are dropped.
func (d *Driver) offerTo(due chan time.Time, a Arrivals, recorder *measure.Recorder, random *rand.Rand) {
	var tally measure.Order
	for at := d.start; ; {
		gap := 1.0
		if a.Poisson {
			gap = random.ExpFloat64()
		}
		at = at.Add(time.Duration(gap / math.Float64frombits(d.rate.Load()) * float64(time.Second)))
		if !sleep(d.stop, time.Until(at)) {
			break
		}
		tally.Offered++
		select {
		case due <- at:
		default:
			tally.Dropped++
		}
		recorder.Record(&tally)
	}
	close(due)
	for range due {
		tally.Dropped++
	}
	recorder.Record(&tally)
}
