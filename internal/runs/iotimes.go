package runs

import (
	"context"
	"math"
	"time"

	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/store"
)

// ioTimes are the times of I/Os that the targets' servers tell, where they were asked.
type ioTimes struct {
	targets  []*timedTarget
	warnings warnings
}

type timedTarget struct {
	store.IOTimes
	label   string
	leftOut int // intervals, in whole or of some kinds of I/O
	why     error
}

// begin has the targets time their I/Os. What it began before an error ends with end, too.
func (t *ioTimes) begin(ctx context.Context, targets []store.Database) error {
	for _, target := range targets {
		times, err := target.Can().TimeIO(ctx)
		if err != nil {
			return err
		}
		t.targets = append(t.targets, &timedTarget{IOTimes: times, label: target.Label()})
	}
	return nil
}

// add puts into an interval the times of its I/Os. A server that does not tell in time does not hold the run up.
func (t *ioTimes) add(iv *measure.Interval) {
	for _, target := range t.targets {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		all, err := target.Read(ctx)
		cancel()
		for _, d := range all {
			d.Name = target.label + " " + d.Name
			iv.AddIO(d)
		}
		if err != nil {
			target.leftOut, target.why = target.leftOut+1, err
		}
	}
}

// end ends the timing, also of a run that was interrupted.
func (t *ioTimes) end(ctx context.Context) (all []result.IOEvents) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second)
	defer cancel()
	const most = .05 // of the I/Os that may be missing or too many without a word
	for _, target := range t.targets {
		told, err := target.End(ctx)
		all = append(all, result.IOEvents{Target: target.label, IOTimed: told})
		if target.leftOut > 0 {
			t.warnings.add("times of I/Os of %s are left out of %d intervals, of the last one since: %v",
				target.label, target.leftOut, target.why)
		}
		if off := float64(told.Events - told.IOs); math.Abs(off) > most*float64(told.IOs) {
			t.warnings.add("events told of %d I/Os of %s, and the server counted %d: percentiles of their times are "+
				"in doubt", told.Events, target.label, told.IOs)
		}
		if err != nil {
			t.warnings.add("%v", err)
		}
	}
	return all
}
