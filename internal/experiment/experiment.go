// Package experiment is the procedure: runs in a row and in blocks, their order, what counts, and
// how an experiment, a bench or a search for the best number of users goes on after an
// interruption. A single run is in package runs.
package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
}

// turns are the configurations of an experiment whose runs take turns, in the order of each block:
// all of them or, in sequence, one at a time.
type turns struct {
	Experiment
	configurations []*Configuration
	orders         [][]int
}

// practice stands for a block in which runs are made and discarded: a server's and a drive's first
// run is often a slow one, and in few blocks it costs most of what they can show.
const practice = 0

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
		c.resume()
	}
	for _, t := range e.takeTurns() {
		if err == nil {
			err = t.makeBlocks(ctx, stop)
		}
	}
	var out error
	for _, c := range e.Configurations {
		err = errors.Join(err, c.saveEnd(err))
		out = errors.Join(out, c.out)
	}
	if err == nil && len(takingPart(e.Configurations)) == 0 {
		err = out
	}
	return err
}

func (e Experiment) takeTurns() (all []turns) {
	if !e.Sequence {
		return []turns{{e, e.Configurations, e.Orders}}
	}
	alone := slices.Repeat([][]int{{0}}, len(e.Orders))
	for _, c := range e.Configurations {
		all = append(all, turns{e, []*Configuration{c}, alone})
	}
	return all
}

// takingPart are all configurations but those that are left out.
func takingPart(configurations []*Configuration) []*Configuration {
	return slices.DeleteFunc(slices.Clone(configurations), func(c *Configuration) bool {
		return c.out != nil
	})
}

// resume takes up the summary of a ds2 that may have ended early.
func (c *Configuration) resume() {
	b := &c.Summary
	for i := range b.Runs {
		if b.Runs[i].Status == result.Running {
			b.Runs[i].Status = result.Interrupted
			b.Runs[i].Findings = []result.Finding{result.NewFinding(result.RunUnfinished, "")}
		}
	}
	compare.Runs(b)
	leftOut := b.LeftOut || !compare.Enough(*b)
	if c.Unready != nil || b.Status == result.Failed && leftOut {
		c.out = cmp.Or(c.Unready, errors.New(b.Error))
	}
}

// saveEnd says in the summary how the configuration ended; err is what ended all of them.
func (c *Configuration) saveEnd(err error) error {
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
	return c.save()
}

// save writes the summary, and shows it.
func (c *Configuration) save() error {
	if c.Procedure.Changed != nil {
		c.Procedure.Changed(c.Name, c.Summary)
	}
	return result.SaveSummary(c.Procedure.Dir, c.Summary)
}

// makeBlocks makes the blocks that are not made yet, until they are enough.
func (t turns) makeBlocks(ctx, stop context.Context) error {
	isDone := func(c *Configuration) bool { return c.Summary.Status == result.Done }
	done := slices.ContainsFunc(t.configurations, isDone)
	block := t.nextBlock()
	goesOn := t.goesOn(block)
	if goesOn {
		t.noteLook(block-1, done)
		t.takeIn()
	}
	if block == 1 {
		if err := t.practise(ctx, stop); err != nil {
			return err
		}
	}
	for goesOn && len(takingPart(t.configurations)) > 0 {
		if err := t.makeBlock(ctx, stop, block); err != nil {
			return err
		}
		block++
		goesOn = t.goesOn(block) && len(takingPart(t.configurations)) > 0
		counts := func(c *Configuration) bool { return c.Summary.Figure != nil }
		if t.paired() && t.Looked != nil && goesOn &&
			slices.ContainsFunc(t.configurations, counts) {
			t.Looked(block - 1)
		}
	}
	if t.paired() {
		for _, c := range t.configurations {
			b := &c.Summary
			b.Spec.Runs = block - 1 // no more are asked for
			b.Until = t.Until
		}
	}
	return nil
}

// goesOn says whether a block is to be made after those before it.
func (t turns) goesOn(block int) bool { return block <= len(t.orders) && !t.enough(block-1) }

// takeIn has configurations that were left out take part again.
func (t turns) takeIn() {
	for _, c := range t.configurations {
		if c.out = c.Unready; c.out == nil {
			c.Summary.Status = result.Running
			c.Summary.Error = ""
			c.Summary.LeftOut = false
		}
	}
}

// practise makes the runs for practice, in the order of the first block.
func (t turns) practise(ctx, stop context.Context) error {
	lacks := func(c *Configuration) bool { return !t.through(c, practice) }
	for slices.ContainsFunc(takingPart(t.configurations), lacks) {
		for _, i := range t.orders[0] {
			if err := t.run(ctx, stop, t.configurations[i], practice); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t turns) makeBlock(ctx, stop context.Context, block int) error {
	for _, i := range t.orders[block-1] {
		if err := t.run(ctx, stop, t.configurations[i], block); err != nil {
			return err
		}
	}
	return nil
}

// noteLook takes into the record that the result could be seen after n blocks, and whether it was
// done then, as the experiment goes on now.
func (t turns) noteLook(blocks int, done bool) {
	if !t.paired() || blocks < measure.MinBlocks {
		return
	}
	for _, c := range t.configurations {
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

// nextBlock is the block to go on with: the first that any configuration lacks. A block that a
// configuration lacks because it was left out is not made up for, since the others' runs of it were
// made at another time.
func (t turns) nextBlock() int {
	some := takingPart(t.configurations)
	if len(some) == 0 {
		some = t.configurations
	}
	for block := range t.orders {
		if slices.ContainsFunc(some, func(c *Configuration) bool {
			return !t.through(c, block+1)
		}) {
			return block + 1
		}
	}
	return len(t.orders) + 1
}

// through says whether the run of a configuration in a block is made, or its time is over, as later
// ones are made.
func (e Experiment) through(c *Configuration, block int) bool {
	if block == practice {
		return len(runsMade(c.Summary, true)) >= c.Summary.Practice
	}
	runs := runsMade(c.Summary, false)
	if !e.paired() {
		return len(runs) >= block
	}
	return slices.ContainsFunc(runs, func(r result.BenchRun) bool { return r.Block >= block })
}

// runsMade are the runs of a bench that are over and not made again, those for practice or the
// others.
func runsMade(b result.Bench, practice bool) []result.BenchRun {
	return slices.DeleteFunc(slices.Clone(b.Runs), func(r result.BenchRun) bool {
		return r.Practice != practice || !compare.Made(r)
	})
}

// enough says whether the differences are known well enough after n blocks.
func (t turns) enough(blocks int) bool {
	var compared []compare.Configuration
	for _, c := range takingPart(t.configurations) {
		compared = append(compared, compare.Configuration{Name: c.Name, Bench: c.Summary})
	}
	return t.Until > 0 && blocks >= t.Least && compare.Narrow(compared, t.Until)
}

// run makes the run of a configuration in a block, unless it is made or the configuration is left
// out.
func (t turns) run(ctx, stop context.Context, c *Configuration, block int) error {
	if c.out != nil || t.through(c, block) {
		return nil
	}
	b := &c.Summary
	where := t.where(c, block)
	place := runs.Place{Configuration: c.Name, Number: 1}
	for _, c := range t.configurations {
		place.Number += len(c.Summary.Runs)
	}
	// A crash must not leave a run's directory that the summary does not know.
	c.ran = true
	last := addRun(b, block == practice)
	if t.paired() {
		place.Block = block
		last.Block = place.Block
		last.Number = place.Number
	}
	if err := c.save(); err != nil {
		return err
	}
	start := time.Now()
	err := c.Procedure.run(ctx, stop, b, place, where)
	last.Took = time.Since(start).Seconds()
	switch {
	case errors.Is(err, driver.ErrStopped) || ctx.Err() != nil:
		last.Status = result.Interrupted
		return cmp.Or(err, context.Cause(ctx))
	case isOfRecord(err): // no fault of the configuration
		last.Status = result.Interrupted
		last.Fail(err)
		return err
	case err != nil:
		if last.Status != result.Aborted {
			last.Status = result.Failed
		}
		last.Fail(err)
		c.Procedure.Told("%s failed: %v", last.Dir, err)
		if c.failures++; store.Classify(err) == store.Config {
			t.leaveOut(c, fmt.Errorf("%s: %w", last.Dir, err)) // as it would end each time
		} else if c.failures == failuresInARow {
			t.leaveOut(c, fmt.Errorf("%d runs in a row failed, the last: %w", c.failures, err))
		}
	default:
		c.failures = 0
	}
	compare.Runs(b)
	return c.save()
}

// isOfRecord says that the record could not be kept, whatever the server under test did.
func isOfRecord(err error) bool {
	_, failed := errors.AsType[*result.RecordError](err)
	return failed
}

// addRun adds a run to those of a bench. One that repeats an interrupted run has its number, so
// that runs of one block have one number in all configurations.
func addRun(b *result.Bench, practice bool) *result.BenchRun {
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
	c.Summary.Status = result.Failed
	c.Summary.Error = why.Error()
	c.Summary.LeftOut = true
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
	if len(e.Configurations) > 1 {
		where = "configuration " + c.Name + ", " + where
	}
	switch {
	case block == practice:
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
	for _, c := range takingPart(e.Configurations) {
		each, known := c.mean()
		if !known {
			each = c.Procedure.Planned
		}
		asked := c.Summary.Practice + len(e.Orders)
		done := min(len(runsMade(c.Summary, true)), c.Summary.Practice)
		for block := range e.Orders {
			if e.through(c, block+1) {
				done++
			}
		}
		all += asked
		made += done
		left += time.Duration(asked-done) * each
	}
	return made, all, left
}
