package tune

import (
	"context"
	"fmt"
	"slices"
)

// Method is a way to search.
type Method string

// The methods.
const (
	// Steps is the way of the Jetstress reports (WORKLOAD.md section 7): from Start down by halves until the limits
	// hold or up by doubling until they do not, then up one by one.
	Steps Method = "steps"

	// Golden doubles or halves in the same way, then closes in on the best by golden-section search over whole numbers
	// (Kiefer, Sequential minimax search for a maximum, 1953), whose number of runs grows with the logarithm of the
	// width, for a curve that rises to one peak and falls. Where a trial above the best failed by its limits while its
	// OPM still grew, the best lies at the limits, and interpolation between the two (regula falsi) finds it in fewer
	// runs. See TestSearch for how many runs either method takes.
	Golden Method = "golden"
)

// Config says how to search.
type Config struct {
	Method Method `json:"method"`
	Start  int    `json:"start_threads"` // users of the first trial
	Max    int    `json:"max_threads"`   // users at most

	// Gain is the share of OPM that more users have to bring to be worth their latency. Fewer users with an OPM within
	// Gain of the highest are preferred.
	Gain float64 `json:"gain"`
}

// Step is a trial that a search wants.
type Step struct {
	Threads int // 0: the search is over
	Why     string
	Confirm bool // see Trial
}

// repeats is how often the best point is run once it is found, as in the reports.
const repeats = 3

// closeCall is how near to 1 a strain is too uncertain for one trial to decide.
const closeCall = 0.1

// Result is what a search found.
type Result struct {
	Curve Curve `json:"curve"`

	// Best was run three times after it had been found, and most of its trials kept the limits; it is nil where no
	// number of users did.
	Best *Point `json:"best"`

	Knee float64 `json:"knee"`          // where queueing sets in, in users; see [Curve.Knee]
	Why  string  `json:"why"`           // in a sentence, what ended the search above the best
	Fit  string  `json:"fit,omitempty"` // what a fit to the whole curve says where it does not agree with Best
}

// Search runs trials until it knows the fewest users whose OPM is within Gain of the highest that keeps the limits, and
// has run them three times more, which are the result. It holds on three assumptions: more users never lower a latency;
// OPM over users rises to one peak or plateau; and a figure that misses its limit by a tenth does so by more than
// noise. A closer figure is measured three times before it decides, so is a number of users that two trials disagree
// on, and none is found to fail by a single trial. Every trial's outcome enters by the median, and a best point that
// fails its repeats is given up for fewer users. The curve so far is returned also when a trial ends in an error.
func Search(ctx context.Context, c Config, run func(context.Context, Step) (Trial, error)) (Result, error) {
	var curve Curve
	for {
		step := c.next(curve)
		if step.Threads == 0 {
			return c.result(curve, step.Why), nil
		}
		trial, err := run(ctx, step)
		if err != nil {
			return c.result(curve, BrokenOff), fmt.Errorf("run with --threads %d: %w", step.Threads, err)
		}
		trial.Threads, trial.Why, trial.Confirm = step.Threads, step.Why, step.Confirm
		curve = curve.with(trial)
	}
}

// BrokenOff is why a search that an error ended is over.
const BrokenOff = "the search was broken off"

func (c Config) result(curve Curve, why string) Result {
	r := Result{Curve: curve, Knee: curve.Knee(), Why: why}
	kept := curve.kept()
	if i := c.found(kept); i >= 0 {
		r.Best = &kept[i]
		if n, more := c.fitted(curve, kept[i]); n > 0 {
			r.Fit = fmt.Sprintf("a fit of the universal scalability law to all trials puts the best at %d users, "+
				"with %.0f %% more", n, 100*more)
		}
	}
	return r
}

// found is the index of the point that is the result; -1 where none was confirmed. One that was confirmed stands: what
// now looks better was not.
func (c Config) found(kept Curve) int {
	if i := c.best(kept); i >= 0 && kept[i].confirmed() {
		return i
	}
	return slices.IndexFunc(kept, func(p Point) bool { return p.confirmed() && (c.Method != Steps || p.reach() == 0) })
}

// next is what to run next, or why the search is over. It looks at nothing but the curve.
func (c Config) next(curve Curve) Step {
	if len(curve) == 0 {
		return Step{Threads: c.Start, Why: "the first number of users"}
	}
	for _, p := range curve {
		if len(p.Trials) >= repeats {
			continue
		}
		if p.disputed() {
			return Step{Threads: p.Threads, Why: "again: two trials do not agree on the limits"}
		}
		if s := p.strain(); s > 1-closeCall && s < 1+closeCall {
			return Step{Threads: p.Threads, Why: "again: a figure is within a tenth of its limit"}
		}
	}
	kept := curve.kept()
	if len(kept) == 0 {
		if fewest := curve[0]; fewest.Threads > 1 {
			return Step{Threads: fewest.Threads / 2, Why: "half as many: the limits fail"}
		} else if len(fewest.Trials) == 1 {
			return Step{Threads: fewest.Threads, Why: doubt}
		}
		return Step{Why: "the limits fail already with 1 user"}
	}
	at := c.best(kept)
	best := kept[at]
	confirm := Step{best.Threads, "again: the best is run three times, now that it is found", true}
	if found := c.found(kept); found >= 0 {
		return Step{Why: c.why(curve, found)}
	}
	for _, p := range kept { // what was chosen is confirmed, whatever looks better meanwhile
		if len(p.confirming()) > 0 {
			confirm.Threads = p.Threads
			return confirm
		}
	}
	if c.Method == Steps && best.reach() >= 1 {
		if n := fewer(curve, at); n > 0 {
			return Step{Threads: n, Why: "fewer users: they may make the target too"}
		}
		return confirm
	}
	if last := kept[len(kept)-1]; len(kept) == len(curve) && last.Threads < c.Max {
		twice := min(2*last.Threads, c.Max)
		switch {
		case at == len(kept)-1:
			return Step{Threads: twice, Why: "twice as many: the limits hold, and the rate grows"}
		case c.Method == Golden && at == len(kept)-2 && last.flat(best):
			return Step{Threads: twice, Why: "twice as many again: one step without a gain may be chance"}
		}
	}
	inner := c.goldenStep
	if c.Method == Steps {
		inner = c.upByOne
	}
	if n, why := inner(curve, at); n > 0 {
		return Step{Threads: n, Why: why}
	}
	if at+1 < len(curve) && !curve[at+1].Passed() && len(curve[at+1].Trials) == 1 {
		return Step{Threads: curve[at+1].Threads, Why: doubt}
	}
	if n, _ := c.fitted(curve, best); c.Method == Golden && n > 0 {
		if _, tried := curve.find(n); !tried {
			return Step{Threads: n, Why: "where a fit of the universal scalability law puts the best"}
		}
	}
	return confirm
}

// doubt is why a number of users is tried again that failed once.
const doubt = "again: one trial does not decide that the limits fail"

// NewCurve is the curve of trials.
func NewCurve(trials []Trial) (c Curve) {
	for _, t := range trials {
		c = c.with(t)
	}
	return c
}

// mostLeft bounds what Left counts.
const mostLeft = 200

// Left is about how many more trials the search takes: those that it would make if every number of users came out on
// straight lines between those that were tried, and more users than those brought no more.
func (c Config) Left(curve Curve) (n int) {
	ahead := make(Curve, len(curve))
	for i, p := range curve {
		ahead[i] = Point{p.Threads, slices.Clone(p.Trials)}
	}
	for n < mostLeft {
		step := c.next(ahead)
		if step.Threads == 0 {
			break
		}
		t := ahead.guess(step.Threads)
		t.Confirm = step.Confirm
		ahead = ahead.with(t)
		n++
	}
	return n
}

// guess is what a trial will give, by those that were made.
func (c Curve) guess(threads int) Trial {
	i, found := c.find(threads)
	t := Trial{Threads: threads, Passed: true}
	switch share := 0.; {
	case len(c) == 0:
		return t
	case found:
		t = c[i].Median()
		t.Passed = c[i].Passed()
		return t
	case i == 0:
		share = float64(threads) / float64(c[0].Threads)
		t.OPM, t.Strain = share*c[0].OPM(), share*c[0].strain()
	case i == len(c):
		t.OPM, t.Strain = c[i-1].OPM(), c[i-1].strain()*float64(threads)/float64(c[i-1].Threads)
	default:
		a, b := c[i-1], c[i]
		share = float64(threads-a.Threads) / float64(b.Threads-a.Threads)
		t.OPM, t.Strain = a.OPM()+share*(b.OPM()-a.OPM()), a.strain()+share*(b.strain()-a.strain())
	}
	t.Passed = t.Strain < 1
	return t
}

// why says what stands above the best point of a finished search.
func (c Config) why(curve Curve, best int) string {
	switch p := curve[best]; {
	case c.Method == Steps && p.reach() >= 1 && p.Threads == 1:
		return "1 user makes the target"
	case c.Method == Steps && p.reach() >= 1:
		return fmt.Sprintf("%d users are the fewest that make the target", p.Threads)
	}
	if best+1 == len(curve) {
		return fmt.Sprintf("no more users than %d were allowed", c.Max)
	}
	if above := curve[best+1]; !above.Passed() {
		return fmt.Sprintf("the limits fail with %d users", above.Threads)
	}
	return fmt.Sprintf("more users than %d bring less than %.3g%% more", curve[best].Threads, 100*c.Gain)
}
