package measure

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Cycle is how a window lies in the cycle of a database's checkpoints. A window that holds part of
// one has more of the load of checkpoints, or less, than the run has in the long run.
type Cycle struct {
	Begun   int      `json:"begun"`              // checkpoints that began in the window
	Period  *float64 `json:"period_s,omitempty"` // median time from one to the next in the run
	Periods *float64 `json:"periods,omitempty"`  // of them in the window
	Whole   bool     `json:"whole"`              // it goes from the begin of one to that of another
	Why     string   `json:"why"`                // all that in words
}

// Partial says that the window holds a part of a cycle that matters.
func (c *Cycle) Partial() bool {
	return c != nil && !c.Whole && c.Periods != nil && *c.Periods < manyCycles
}

// beginSlack is how far the bound of a window may lie from the begin of a checkpoint, which is
// known to the second.
const beginSlack = 1500 * time.Millisecond

// manyCycles is from how many on a part of one more no longer matters.
const manyCycles = 10

// cycle says how span lies in the cycles; nil where unknown.
func (s Series) cycle(span Span) *Cycle {
	if s.NoCycles != "" {
		return &Cycle{Why: s.NoCycles}
	}
	if s.Cycles == nil {
		return nil
	}
	within := s.cyclesBegunIn(span)
	c := &Cycle{Begun: len(within)}
	if n := len(s.Cycles) - 1; n > 0 {
		between := make([]time.Duration, n)
		for i := range between {
			between[i] = s.Cycles[i+1] - s.Cycles[i]
		}
		// The median: a checkpoint that was asked for by hand makes two periods short, and not all.
		slices.Sort(between)
		c.Period = new(between[n/2].Seconds())
		c.Periods = new((span.To - span.From).Seconds() / *c.Period)
	}
	switch {
	case len(s.Cycles) == 0:
		c.Why = "no checkpoint started during the run, so the result includes no checkpoint I/O"
	case c.Period == nil:
		c.Why = fmt.Sprintf("only one checkpoint began during the run, at %.0f s: "+
			"the run holds no whole checkpoint cycle", s.Cycles[0].Seconds())
	case len(within) > 1 && nearlyAt(within[0], span.From) &&
		nearlyAt(within[len(within)-1], span.To):
		c.Whole = true
		c.Why = fmt.Sprintf("the window holds %d whole checkpoint cycles of about %.0f s",
			len(within)-1, *c.Period)
	case !c.Partial():
		c.Why = fmt.Sprintf("the window holds %.1f checkpoint cycles of about %.0f s", *c.Periods,
			*c.Period)
	default:
		c.Why = fmt.Sprintf(
			"the window holds only part of a checkpoint cycle: %.1f cycles of about %.0f s "+
				"(--window checkpoints=2 takes whole ones)", *c.Periods, *c.Period)
	}
	return c
}

// leastOfRun is the part of the run phase that its whole checkpoint cycles cover at least where
// they stand for it.
const leastOfRun = 0.5

// DefaultWindow is the one of a run that was asked for none: the whole checkpoint cycles of the run
// phase, where they are known and make up most of it. A part of a cycle has more of the load of
// checkpoints than the run has in the long run, or less, and all runs that begin with a checkpoint
// have the same part. Of many cycles the part of one more does not matter: it is the run phase
// then, as it is without cycles.
func (s Series) DefaultWindow() WindowSpec {
	run := s.Phase(PhaseRun)
	begins := s.begunBetween(run.From, run.To)
	if cycles := len(begins) - 1; cycles > 0 && cycles < manyCycles &&
		float64(begins[cycles]-begins[0]) >= leastOfRun*float64(run.To-run.From) {
		return WindowSpec{Name: CyclesWindow, Cycles: cycles}
	}
	return WindowSpec{Name: RunWindow, Span: run}
}

// nearlyAt says whether two times are one, as exactly as the begin of a checkpoint is known.
func nearlyAt(a, b time.Duration) bool { return (a - b).Abs() <= beginSlack }

// cyclesBegunIn gives the begins of cycles in span, its bounds included.
func (s Series) cyclesBegunIn(span Span) []time.Duration {
	return s.begunBetween(span.From-beginSlack, span.To+beginSlack)
}

// begunBetween gives the begins of cycles from one time to another, both included.
func (s Series) begunBetween(from, to time.Duration) []time.Duration {
	return slices.DeleteFunc(slices.Clone(s.Cycles), func(t time.Duration) bool {
		return t < from || t > to
	})
}

// lastCycles is the span of the last n whole cycles of the run phase.
func (s Series) lastCycles(n int) (Span, error) {
	if s.Cycles == nil {
		return Span{}, errors.New("when checkpoints began is unknown: " +
			"the database's counters were not read, or the run had several databases")
	}
	run := s.Phase(PhaseRun)
	begins := s.begunBetween(run.From, run.To)
	if len(begins) <= n {
		return Span{}, fmt.Errorf("the run phase holds fewer whole checkpoint cycles (%d): "+
			"give the run more time, or the server a shorter checkpoint_timeout", max(0, len(begins)-1))
	}
	return Span{begins[len(begins)-1-n], begins[len(begins)-1]}, nil
}
