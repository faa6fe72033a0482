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

// events runs the commands of a run.
type events struct {
	// of commands that are made up for, and of those that are run in time
	ctx, inTime context.Context
	cancel      context.CancelFunc
	wg          sync.WaitGroup
	mu          sync.Mutex
	done        []result.Event
}

// start begins to wait for the times of the events, as the run phase begins. Commands may overlap.
// A run that is over before all have begun makes the rest at once, in their order and each within a
// limit, if it made any: what was suspended is to be resumed.
func (e *events) start(r *Run, began time.Time) {
	all := slices.Clone(r.options.Events)
	slices.SortStableFunc(all, func(a, b Event) int { return cmp.Compare(a.At, b.At) })
	e.wg.Go(func() {
		for i, event := range all {
			switch {
			case progress.Pause(r.stop, time.Until(began.Add(event.At))):
				e.wg.Go(func() { e.run(e.inTime, r, began, event) })
			case i > 0:
				ctx, cancel := outside.Within(e.ctx, outside.Command)
				e.run(ctx, r, began, event)
				cancel()
			default:
				return
			}
		}
	})
}

func (e *events) run(ctx context.Context, r *Run, began time.Time, event Event) {
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
	e.mu.Lock()
	defer e.mu.Unlock()
	e.done = append(e.done, done)
}

// grace is how long commands that are under way at the end of a run may take.
const grace = 5 * time.Second

// end waits for the commands, kills those that outlast the run, and gives all in the order of their
// begin.
func (e *events) end() []result.Event {
	// A suspended drive must not stay so, but no command may hold up the end of a run.
	timer := time.AfterFunc(grace, e.cancel)
	e.wg.Wait()
	timer.Stop()
	e.cancel()
	slices.SortStableFunc(e.done, func(a, b result.Event) int {
		return cmp.Compare(a.From, b.From)
	})
	return e.done
}
