package runs

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"ds2/internal/outside"
	"ds2/internal/progress"
	"ds2/internal/result"
	"ds2/internal/shell"
)

// Event is a command to be run at a time of the run.
type Event struct {
	At      time.Duration // since the begin of the run phase
	Command string
	Shown   string // of the command, in records and logs: without passwords
}

// events are the commands of a run that are under way.
type events struct {
	// of commands that are made up for, and of those that are run in time
	ctx, inTime context.Context
	sync.WaitGroup
}

// startEvents begins to wait for the times of the events, as the run phase begins. Commands may
// overlap: one may suspend a drive for longer than until the next is due. A run that is over before
// all have begun makes the rest at once, in their order and each within a limit, if it made any:
// what was suspended is to be resumed.
func (r *Run) startEvents(began time.Time) {
	byTime := func(a, b Event) int { return cmp.Compare(a.At, b.At) }
	all := slices.SortedStableFunc(slices.Values(r.options.Events), byTime)
	r.events.Go(func() {
		done := make([]result.Event, len(all))
		for i, event := range all {
			switch {
			case progress.Pause(r.stop, time.Until(began.Add(event.At))):
				r.events.Go(func() { done[i] = r.runEvent(r.events.inTime, began, event) })
			case i > 0:
				ctx, cancel := outside.Within(r.events.ctx, outside.Command)
				done[i] = r.runEvent(ctx, began, event)
				cancel()
			default: // nothing was disturbed, and nothing is to be put right
				return
			}
		}
		r.summary.Events = done // whoever reads them waits for all commands first
	})
}

// runEvent runs a command, and is what the record says of it: times are seconds since the first
// orders, as those of samples are.
func (r *Run) runEvent(ctx context.Context, began time.Time, event Event) result.Event {
	start := r.summary.Start
	done := result.Event{
		Asked:   began.Add(event.At).Sub(start).Seconds(),
		Command: event.Shown,
		From:    time.Since(start).Seconds(),
	}
	var said bytes.Buffer
	err := outside.Err(ctx, shell.Run(ctx, event.Command, &said, &said))
	done.To = time.Since(start).Seconds()
	r.log.Info("event", "command", event.Shown, "t", done.From, "said", said.String(), "err", err)
	if err != nil {
		done.Error = err.Error()
	}
	return done
}

// grace is how long commands that are under way at the end of a run may take, before they are
// killed: a suspended drive must not stay so, but no command may hold up the end of a run.
const grace = 5 * time.Second
