// Package experiment is the procedure: runs in a row and in blocks, their order, what counts, and
// how an experiment, a bench or a search for the best number of users goes on after an
// interruption. A single run is in package runs.
package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"ds2/internal/compare"
	"ds2/internal/driver"
	"ds2/internal/measure"
	"ds2/internal/progress"
	"ds2/internal/result"
	"ds2/internal/runs"
	"ds2/internal/store"
)

// Experiment makes the runs of several configurations in blocks, each of which has one run that
// counts of every configuration, in a different order: what changes from hour to hour then acts on
// all of them alike. A bench is the experiment of one configuration.
type Experiment struct {
	Configurations []*Configuration
	Orders         [][]int // those of the configurations in each block that may be made

	// From Least blocks on the experiment ends where the interval of every difference in OPM
	// reaches at most Until percent points from its estimate; with 0 it makes all blocks.
	Least int
	Until float64

	// all runs of one configuration come before those of the next: no blocks
	Sequence bool
	// is called when a block but the last is whole; may be nil
	Looked func(block int)
	Told   func(format string, args ...any) // is told of configurations that are left out

	whole *Experiment // that this one is a part of, while it is made
}

// Configuration is one of those that an experiment compares.
type Configuration struct {
	Name      string
	Procedure Bench
	Summary   result.Bench // what has come of it so far
	Unready   error        // why it cannot run and is left out; nil: it can

	ran      bool
	out      error // why it is left out; nil: it takes part
	failures int   // runs that failed, one after the other
}

// failuresInARow is how many runs of a configuration may fail one after the other before it is left
// out. A run fails where it ends without a result: the server is gone, too many orders were given
// up, the restore did not work.
const failuresInARow = 2

// Do makes the runs, from the start or from where the configurations' summaries end. Each run is
// made once, whatever comes of it, see package compare; only one that was broken off is made again.
// A configuration that is left out has its reason in its summary, and the others go on; the error
// is theirs where none is left. The summaries on disk are always those of the runs made so far. It
// ends in order when stop is over, which is over with ctx at the latest.
func (e Experiment) Do(ctx, stop context.Context) error {
	var err error
	for _, c := range e.Configurations {
		if c.Unready == nil {
			err = errors.Join(err, c.Procedure.auditLast(&c.Summary))
		}
		c.begin()
	}
	whole := e
	e.whole = &whole
	parts := []Experiment{e}
	if e.Sequence { // all runs of one configuration are made after those of another
		parts = nil
		for _, c := range e.Configurations {
			one := e
			one.Configurations = []*Configuration{c}
			one.Orders = slices.Repeat([][]int{{0}}, len(e.Orders))
			parts = append(parts, one)
		}
	}
	for _, part := range parts {
		if err == nil {
			err = part.blocks(ctx, stop)
		}
	}
	var out error
	for _, c := range e.Configurations {
		err = errors.Join(err, c.end(err))
		out = errors.Join(out, c.out)
	}
	if err == nil && len(e.part()) == 0 {
		err = out
	}
	return err
}

// part are the configurations that take part: all but those that are left out.
func (e Experiment) part() []*Configuration {
	return slices.DeleteFunc(slices.Clone(e.Configurations), func(c *Configuration) bool {
		return c.out != nil
	})
}

// begin takes up the summary of a ds2 that may have ended early.
func (c *Configuration) begin() {
	b := &c.Summary
	for i := range b.Runs {
		if b.Runs[i].Status == result.Running {
			b.Runs[i].Status = result.Interrupted
			b.Runs[i].Faults = []string{"ds2 ended before the run did"}
		}
	}
	compare.Runs(b)
	if c.Unready != nil || b.Status == result.Failed && !compare.Enough(*b) {
		c.out = cmp.Or(c.Unready, errors.New(b.Error))
	}
}

// end says in the summary how the configuration ended; err is what ended all of them.
func (c *Configuration) end(err error) error {
	b := &c.Summary
	if c.ran || b.End.IsZero() {
		b.End = time.Now()
	}
	b.Status = runs.Ended(err).Status
	b.Error = ""
	if c.out != nil {
		b.Status = result.Failed
		err = c.out
	}
	if b.Status == result.Failed {
		b.Error = err.Error()
	}
	return result.SaveSummary(c.Procedure.Dir, *b)
}

func (e Experiment) blocks(ctx, stop context.Context) error {
	block := e.first()
	isDone := func(c *Configuration) bool { return c.Summary.Status == result.Done }
	done := slices.ContainsFunc(e.Configurations, isDone)
	if block <= len(e.Orders) { // those that were left out are tried again
		for _, c := range e.Configurations {
			if c.out = c.Unready; c.out == nil {
				c.Summary.Status = result.Running
				c.Summary.Error = ""
			}
		}
	}
	e.look(block-1, done)
	if block == 1 {
		// Blocks for practice, with numbers from 0 down, are made and discarded: a server's and a
		// drive's first run is often a slow one, and in few blocks it costs most of what they can
		// show.
		for _, c := range e.Configurations {
			block = min(block, 1-c.Summary.Practice)
		}
	}
	for ; block <= len(e.Orders) && len(e.part()) > 0 && !e.enough(block-1); block++ {
		for _, i := range e.Orders[max(block, 1)-1] {
			if err := e.run(ctx, stop, e.Configurations[i], block); err != nil {
				return err
			}
		}
		more := block < len(e.Orders) && len(e.part()) > 0 && !e.enough(block)
		counts := func(c *Configuration) bool { return c.Summary.Figure != nil }
		if e.paired() && block > 0 && more && e.Looked != nil &&
			slices.ContainsFunc(e.Configurations, counts) {
			e.Looked(block)
		}
	}
	if e.paired() {
		for _, c := range e.Configurations {
			b := &c.Summary
			b.Spec.Runs = block - 1 // no more are asked for
			b.Until = e.Until
		}
	}
	return nil
}

// look takes into the record that the result could be seen after n blocks, and whether it was done
// then, if the experiment goes on now.
func (e Experiment) look(blocks int, done bool) {
	if !e.paired() || blocks < measure.MinBlocks || blocks == len(e.Orders) || e.enough(blocks) {
		return
	}
	for _, c := range e.Configurations {
		if b := &c.Summary; !slices.ContainsFunc(b.Looks, func(l measure.Look) bool {
			return l.Blocks == blocks
		}) {
			b.Looks = append(b.Looks, measure.Look{Blocks: blocks, Done: done})
		}
	}
}

// paired says whether runs are compared block by block. A bench has no blocks, since there is
// nothing to pair.
func (e Experiment) paired() bool { return len(e.Configurations) > 1 && !e.Sequence }

// first is the block to go on with: the first that any configuration lacks. A block that a
// configuration lacks because it was left out is not made up for, since the others' runs of it were
// made at another time.
func (e Experiment) first() int {
	some := e.part()
	if len(some) == 0 {
		some = e.Configurations
	}
	for block := range e.Orders {
		if slices.ContainsFunc(some, func(c *Configuration) bool {
			return !e.through(c, block+1)
		}) {
			return block + 1
		}
	}
	return len(e.Orders) + 1
}

// through says whether the run of a configuration in a block is made, or its time is over, as later
// ones are made.
func (e Experiment) through(c *Configuration, block int) bool {
	if block < 1 {
		return len(runsMade(c.Summary, true)) >= c.Summary.Practice+block
	}
	runs := runsMade(c.Summary, false)
	if !e.paired() {
		return len(runs) >= block
	}
	return slices.ContainsFunc(runs, func(r result.BenchRun) bool { return r.Block >= block })
}

// runsMade are the runs of a bench that were made, for practice or not.
func runsMade(b result.Bench, practice bool) []result.BenchRun {
	return slices.DeleteFunc(slices.Clone(b.Runs), func(r result.BenchRun) bool {
		return r.Practice != practice || !compare.Made(r)
	})
}

// enough says whether the differences are known well enough after n blocks.
func (e Experiment) enough(blocks int) bool {
	var all []compare.Configuration
	for _, c := range e.part() {
		all = append(all, compare.Configuration{Name: c.Name, Bench: c.Summary})
	}
	return e.Until > 0 && blocks >= e.Least && compare.Narrow(all, e.Until)
}

// run makes the run of a configuration in a block, unless it is made or the configuration is left
// out.
func (e Experiment) run(ctx, stop context.Context, c *Configuration, block int) error {
	if c.out != nil || e.through(c, block) {
		return nil
	}
	b := &c.Summary
	where := e.where(c, block)
	place := runs.Place{Configuration: c.Name, Number: 1}
	for _, c := range e.Configurations {
		place.Number += len(c.Summary.Runs)
	}
	// A crash must not leave a run's directory that the summary does not know.
	c.ran = true
	last := newRun(b, block < 1)
	if e.paired() {
		place.Block = max(block, 0)
		last.Block = place.Block
		last.Number = place.Number
	}
	if err := result.SaveSummary(c.Procedure.Dir, *b); err != nil {
		return err
	}
	start := time.Now()
	err := c.Procedure.run(ctx, stop, b, place, where)
	last.Took = time.Since(start).Seconds()
	switch {
	case errors.Is(err, driver.ErrStopped) || ctx.Err() != nil:
		last.Status = result.Interrupted
		return cmp.Or(err, context.Cause(ctx))
	case errors.As(err, new(*fs.PathError)):
		// of the record, on this machine: no fault of the configuration
		last.Status = result.Interrupted
		last.Faults = append(last.Faults, err.Error())
		return err
	case err != nil:
		if last.Status != result.Aborted {
			last.Status = result.Failed
		}
		last.Faults = append(last.Faults, err.Error())
		c.Procedure.Told("%s failed: %v", last.Dir, err)
		if c.failures++; store.Classify(err) == store.Config {
			e.leaveOut(c, fmt.Errorf("%s: %w", last.Dir, err)) // as it would end each time
		} else if c.failures == failuresInARow {
			e.leaveOut(c, fmt.Errorf("%d runs in a row failed, the last: %w", c.failures, err))
		}
	default:
		c.failures = 0
	}
	compare.Runs(b)
	return result.SaveSummary(c.Procedure.Dir, *b)
}

// newRun adds a run to those of a bench. One that repeats an interrupted run has its number, so
// that runs of one block have one number in all configurations.
func newRun(b *result.Bench, practice bool) *result.BenchRun {
	name := "run"
	if practice {
		name = "practice"
	}
	dir := fmt.Sprintf("%s-%d", name, len(runsMade(*b, practice))+1)
	for slices.ContainsFunc(b.Runs, func(r result.BenchRun) bool { return r.Dir == dir }) {
		dir += "-again"
	}
	b.Runs = append(b.Runs, result.BenchRun{Dir: dir, Practice: practice, Status: result.Running})
	return &b.Runs[len(b.Runs)-1]
}

func (e Experiment) leaveOut(c *Configuration, why error) {
	c.out = why
	c.Summary.Status, c.Summary.Error = result.Failed, why.Error()
	if len(e.whole.Configurations) > 1 {
		e.Told("configuration %s is left out: %s", c.Name, why)
	}
}

// where says where the experiment is, and when it will end.
func (e Experiment) where(c *Configuration, block int) string {
	made, all, left := e.whole.Left()
	about := "about"
	switch {
	case made == 0:
		about = "at least" // restores and audits have not been timed yet
	case e.Until > 0:
		about = "at most about"
	}
	until := time.Now().Add(left).Format("15:04")
	where := fmt.Sprintf(
		"run %d of %d, %s %s left, until %s",
		made+1,
		all,
		about,
		progress.Round(left),
		until,
	)
	if len(e.whole.Configurations) > 1 {
		where = "configuration " + c.Name + ", " + where
	}
	switch {
	case block < 1:
		return "practice, not counted, " + where
	case e.paired():
		return fmt.Sprintf("block %d of %d, %s", block, len(e.Orders), where)
	}
	return where
}

// Beside is how long the runs of a configuration that are made took on average besides what is
// planned: restore and audit.
func (c *Configuration) Beside() (took time.Duration, known bool) {
	took, known = c.mean()
	return max(0, took-c.Procedure.Planned), known
}

// mean is how long the runs of a configuration that came to their end took on average, from restore
// to audit.
func (c *Configuration) mean() (took time.Duration, known bool) {
	seconds := 0.
	runs := 0.
	for _, r := range c.Summary.Runs {
		if r.Took > 0 && r.Status == result.Done {
			seconds = seconds + r.Took
			runs = runs + 1
		}
	}
	return measure.Seconds(seconds / max(runs, 1)), runs > 0
}

// Left is how many runs are made, of how many, and how long the others will take if all blocks are
// made: each as long as those of its configuration took on average or, before the first, as its
// steps take.
func (e Experiment) Left() (made, all int, left time.Duration) {
	for _, c := range e.part() {
		each, known := c.mean()
		if !known {
			each = c.Procedure.Planned
		}
		for block := 1 - c.Summary.Practice; block <= len(e.Orders); block++ {
			all++
			if e.through(c, block) {
				made++
			} else {
				left += each
			}
		}
	}
	return made, all, left
}
