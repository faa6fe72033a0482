// Package experiment is the procedure: runs in a row and in blocks, their order, what counts, and how an experiment, a
// bench or a search for the best number of users goes on after an interruption. A single run is in package runs.
package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"ds2/internal/conclude"
	"ds2/internal/driver"
	"ds2/internal/measure"
	"ds2/internal/progress"
	"ds2/internal/result"
	"ds2/internal/runs"
	"ds2/internal/store"
)

// Experiment makes the runs of several configurations in blocks, each of which has one run that counts of every
// configuration, in an order of its own: what changes from hour to hour then acts on all of them alike. A bench is the
// experiment of one configuration.
type Experiment struct {
	Configurations []*Configuration
	Orders         [][]int // those of the configurations in each block that may be made

	// From Least blocks on the experiment ends where the interval of every difference in OPM reaches at most Until
	// percent points from its estimate; with 0 it makes all blocks.
	Least int
	Until float64

	Sequence bool                             // all runs of one configuration come before those of the next: no blocks
	Looked   func(block int)                  // is called when a block is whole, whose runs can be compared; may be nil
	Told     func(format string, args ...any) // is told which run begins
}

// Configuration is one of those that an experiment compares.
type Configuration struct {
	Name      string
	Procedure Bench
	Summary   result.Bench // what has come of it so far
	Unready   error        // why it cannot run and is left out; nil: it can

	wasOut          bool // when a part of the experiment that was made before ended
	ran             bool
	out             error
	failures, extra int
}

// failuresInARow is how many runs of a configuration may fail one after the other before it is left out. A run fails
// where it ends with an error and without a result: the server is gone, too many orders were given up, the restore did
// not work. A run with a fault, such as a failed audit, did not fail.
const failuresInARow = 2

// Do makes the runs, from the start or from where the configurations' summaries end. A run that failed, and one with
// faults, does not count and is repeated, unless the setup keeps faulty runs: as many extra runs of a configuration as
// were asked for, then it is left out with ErrTooFew. A run that was not steady counts, unless the setup drops it: to
// throw such runs away flatters erratic drives. A configuration that is left out has its reason in its summary, and the
// others go on; the error is theirs where none is left. The summaries on disk are always those of the runs made so far.
// It ends in order when stop is over, which is over with ctx at the latest.
func (e Experiment) Do(ctx, stop context.Context) error {
	var err error
	for _, c := range e.Configurations {
		if c.Unready == nil {
			err = errors.Join(err, c.Procedure.auditLast(&c.Summary))
		}
		c.begin()
	}
	switch {
	case err != nil:
	case e.Sequence:
		err = e.sequence(ctx, stop)
	default:
		err = e.blocks(ctx, stop)
	}
	var out []error
	for _, c := range e.Configurations {
		err = errors.Join(err, c.end(err))
		if c.out != nil {
			out = append(out, c.out)
		}
	}
	if err == nil && len(out) == len(e.Configurations) {
		err = errors.Join(out...)
	}
	return err
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
	conclude.Bench(b)
	// What only judges may have changed since, so that runs that were too few are enough now.
	c.wasOut = c.Unready != nil || b.Status == result.Failed && !conclude.Enough(*b)
	if c.wasOut {
		c.out = cmp.Or(c.Unready, errors.New(b.Error))
	}
}

// end says in the summary how the configuration ended; err is what ended all of them.
func (c *Configuration) end(err error) error {
	b := &c.Summary
	if c.ran || b.End.IsZero() {
		b.End = time.Now()
	}
	b.Status, b.Error = runs.Ended(err).Status, ""
	if c.out != nil {
		b.Status, err = result.Failed, c.out
	}
	if b.Status == result.Failed {
		b.Error = err.Error()
	}
	return result.SaveSummary(c.Procedure.Dir, *b)
}

// sequence makes all runs of one configuration after those of another.
func (e Experiment) sequence(ctx, stop context.Context) error {
	for _, c := range e.Configurations {
		one := e
		one.Configurations, one.Orders = []*Configuration{c}, slices.Repeat([][]int{{0}}, len(e.Orders))
		one.Told = c.Procedure.Told
		if err := one.blocks(ctx, stop); err != nil {
			return err
		}
	}
	return nil
}

func (e Experiment) blocks(ctx, stop context.Context) error {
	block := e.first()
	e.look(block - 1)
	if block <= len(e.Orders) { // those that were left out are tried again
		for _, c := range e.Configurations {
			if c.out = c.Unready; c.out == nil {
				c.Summary.Status, c.Summary.Error = result.Running, ""
			}
		}
	}
	if block == 1 {
		block -= e.practice()
	}
	left := func() bool {
		return slices.ContainsFunc(e.Configurations, func(c *Configuration) bool { return c.out == nil })
	}
	for ; block <= len(e.Orders) && left() && !e.enough(block-1); block++ {
		for _, i := range e.Orders[max(block, 1)-1] {
			if err := e.runs(ctx, stop, e.Configurations[i], block); err != nil {
				return err
			}
		}
		if e.paired() && block > 0 && left() && e.Looked != nil {
			e.Looked(block)
		}
	}
	if e.paired() {
		for _, c := range e.Configurations {
			b := &c.Summary
			b.Setup.Runs = block - 1 // no more are asked for
			b.Until = e.Until
		}
	}
	return nil
}

// look takes into the record that the result could be seen after so many blocks, if the experiment goes on now.
func (e Experiment) look(blocks int) {
	if !e.paired() || blocks < measure.MinBlocks || blocks == len(e.Orders) || e.enough(blocks) {
		return
	}
	isDone := func(c *Configuration) bool { return c.Summary.Status == result.Done }
	done := slices.ContainsFunc(e.Configurations, isDone)
	for _, c := range e.Configurations {
		if b := &c.Summary; !slices.ContainsFunc(b.Looks, func(l measure.Look) bool { return l.Blocks == blocks }) {
			b.Looks = append(b.Looks, measure.Look{Blocks: blocks, Done: done})
		}
	}
}

// paired says whether runs are compared block by block. A bench has no blocks, since there is nothing to pair.
func (e Experiment) paired() bool { return len(e.Configurations) > 1 && !e.Sequence }

// practice is how many blocks are made and discarded before the first: a server's and a drive's first run is often a
// slow one, and in so few blocks it costs most of what they can show. Their numbers are 0 and below.
func (e Experiment) practice() (most int) {
	for _, c := range e.Configurations {
		most = max(most, c.Summary.Setup.Practice)
	}
	return most
}

// first is the block to go on with: the first that any configuration lacks. A block that a configuration lacks because
// it was left out is not made up for, since the others' runs of it were made at another time.
func (e Experiment) first() int {
	all := !slices.ContainsFunc(e.Configurations, func(c *Configuration) bool { return !c.wasOut })
	for block := range e.Orders {
		for _, c := range e.Configurations {
			if (all || !c.wasOut) && !e.through(c, block+1) {
				return block + 1
			}
		}
	}
	return len(e.Orders) + 1
}

// through says whether a configuration has its run in a block.
func (e Experiment) through(c *Configuration, block int) bool {
	if block < 1 {
		return len(practised(c.Summary)) >= c.Summary.Setup.Practice+block
	}
	if !e.paired() {
		return len(conclude.Counted(c.Summary)) >= block
	}
	return slices.ContainsFunc(c.Summary.Runs, func(r result.BenchRun) bool { return r.Counts && r.Block == block })
}

// practised are the practice runs of a bench that were made.
func practised(b result.Bench) []result.BenchRun {
	return slices.DeleteFunc(slices.Clone(b.Runs), func(r result.BenchRun) bool {
		return !r.Practice || r.Status != result.Done
	})
}

// enough says whether the differences are known well enough after so many blocks.
func (e Experiment) enough(blocks int) bool {
	var names []string
	var figures []measure.RunFigure
	for _, c := range e.Configurations {
		if c.out != nil {
			continue
		}
		names = append(names, c.Name)
		for _, r := range c.Summary.Runs {
			if r.Counts && r.Figure.Value > 0 {
				figures = append(figures, measure.RunFigure{
					Block: r.Block, Run: r.Number, Configuration: c.Name, Value: r.Figure.Value,
				})
			}
		}
	}
	looks := measure.Looks(true, e.Configurations[0].Summary.Looks, true)
	return len(names) > 1 && e.Until > 0 && blocks >= e.Least && measure.Enough(names, figures, e.Until, looks)
}

// runs makes runs of a configuration until one counts in a block, or it is left out.
func (e Experiment) runs(ctx, stop context.Context, c *Configuration, block int) error {
	b := &c.Summary
	for c.out == nil && !e.through(c, block) {
		if c.extra > b.Setup.Runs {
			n := b.Setup.Runs
			e.leaveOut(c, fmt.Errorf("%w: %d of %d, after %d repeats", ErrTooFew, len(conclude.Counted(*b)), n, n))
			return nil
		}
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
			last.Block, last.Number = place.Block, place.Number
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
		case err != nil:
			last.Status = result.Failed
			last.Faults = append(last.Faults, err.Error())
			if c.failures++; store.Classify(err) == store.Config {
				e.leaveOut(c, fmt.Errorf("%s: %w", last.Dir, err)) // as it would end each time
			} else if c.failures == failuresInARow {
				e.leaveOut(c, fmt.Errorf("%d runs in a row ended with an error and without a result, the last: %w",
					c.failures, err))
			}
		default:
			c.failures = 0
		}
		conclude.Bench(b)
		if !last.Counts && !(last.Practice && last.Status == result.Done) {
			c.extra++
			wrong := last.Wrong()
			if other := conclude.OtherUnit(*b, *last); other != "" {
				wrong = append(wrong, other)
			}
			c.Procedure.Told("%s does not count: %s", last.Dir, strings.Join(wrong, "; "))
		}
		if err := result.SaveSummary(c.Procedure.Dir, *b); err != nil {
			return err
		}
	}
	return nil
}

// newRun adds a run to those of a bench, in a directory of its own.
func newRun(b *result.Bench, practice bool) *result.BenchRun {
	name, number := "run", 1
	if practice {
		name = "practice"
	}
	for _, r := range b.Runs {
		if r.Practice == practice {
			number++
		}
	}
	dir := fmt.Sprintf("%s-%d", name, number)
	b.Runs = append(b.Runs, result.BenchRun{Dir: dir, Practice: practice, Status: result.Running})
	return &b.Runs[len(b.Runs)-1]
}

// leaveOut leaves a configuration out of the blocks that follow.
func (e Experiment) leaveOut(c *Configuration, why error) {
	c.out = why
	c.Summary.Status, c.Summary.Error = result.Failed, why.Error()
	if len(e.Configurations) > 1 {
		e.Told("configuration %s is left out: %s", c.Name, why)
	}
}

// where says where the experiment is, and when it will end.
func (e Experiment) where(c *Configuration, block int) string {
	made, all, left := e.Left()
	about := "about"
	switch {
	case made == 0:
		about = "at least" // nobody knows yet what restores and audits take
	case e.Until > 0:
		about = "at most about"
	}
	until := time.Now().Add(left).Format("15:04")
	where := fmt.Sprintf("run %d of %d, %s %s left, until %s", made+1, all, about, progress.Round(left), until)
	at := fmt.Sprintf("block %d of %d", block, len(e.Orders))
	if block < 1 {
		at = "practice, which counts for nothing"
	}
	if e.paired() {
		at += ", configuration " + c.Name
	}
	if e.paired() || block < 1 {
		where = at + ", " + where
	}
	return where
}

// Beside is how long the runs of a configuration that are made took on average besides what is planned: restore and
// audit.
func (c *Configuration) Beside() (took time.Duration, known bool) {
	took, known = c.mean()
	return max(0, took-c.Procedure.Planned), known
}

// mean is how long the runs of a configuration that are made took on average, from restore to audit.
func (c *Configuration) mean() (took time.Duration, known bool) {
	seconds, runs := 0., 0.
	for _, r := range slices.Concat(conclude.Counted(c.Summary), practised(c.Summary)) {
		if r.Took > 0 {
			seconds, runs = seconds+r.Took, runs+1
		}
	}
	return measure.Seconds(seconds / max(runs, 1)), runs > 0
}

// Left is how many runs that count or are practice are made, of how many, and how long the others will take if all
// blocks are made: each as long as those of its configuration took on average or, before the first, as its steps take.
func (e Experiment) Left() (made, all int, left time.Duration) {
	for _, c := range e.Configurations {
		if c.out != nil {
			continue
		}
		each, known := c.mean()
		if !known {
			each = c.Procedure.Planned
		}
		for block := 1 - c.Summary.Setup.Practice; block <= len(e.Orders); block++ {
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
