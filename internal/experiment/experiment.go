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
	Benches []*Bench // one of each configuration
	Orders  [][]int  // those of the configurations in each block that may be made

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
	benches []*Bench
	orders  [][]int
}

// practice stands for a block in which runs are made and discarded: a server's and a drive's first
// run is often a slow one, and in few blocks it costs most of what they can show.
const practice = 0

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
	for _, bench := range e.Benches {
		if bench.Unready == nil {
			err = errors.Join(err, bench.auditLast())
		}
		bench.resume()
	}
	for _, t := range e.takeTurns() {
		if err == nil {
			err = t.makeBlocks(ctx, stop)
		}
	}
	var out error
	for _, bench := range e.Benches {
		err = errors.Join(err, bench.saveEnd(err))
		out = errors.Join(out, bench.out)
	}
	if err == nil && len(takingPart(e.Benches)) == 0 {
		err = out
	}
	return err
}

func (e Experiment) takeTurns() (all []turns) {
	if !e.Sequence {
		return []turns{{e, e.Benches, e.Orders}}
	}
	alone := slices.Repeat([][]int{{0}}, len(e.Orders))
	for _, bench := range e.Benches {
		all = append(all, turns{e, []*Bench{bench}, alone})
	}
	return all
}

// takingPart are all configurations but those that are left out.
func takingPart(benches []*Bench) []*Bench {
	return slices.DeleteFunc(slices.Clone(benches), func(bench *Bench) bool {
		return bench.out != nil
	})
}

// resume takes up the summary of a ds2 that may have ended early.
func (bench *Bench) resume() {
	// ds2 was killed beside the run that is recorded as under way.
	b := &bench.Summary
	for i := range b.Runs {
		if b.Runs[i].Status == result.Running {
			b.Runs[i].Status = result.Interrupted
			b.Runs[i].Findings = []result.Finding{result.NewFinding(result.RunUnfinished, "")}
		}
	}
	compare.Runs(b)
	leftOut := b.LeftOut || !compare.Enough(*b)
	if bench.Unready != nil || b.Status == result.Failed && leftOut {
		bench.out = cmp.Or(bench.Unready, errors.New(b.Error))
	}
}

// saveEnd says in the summary how the configuration ended; err is what ended all of them.
func (bench *Bench) saveEnd(err error) error {
	b := &bench.Summary
	if bench.ran || b.End.IsZero() {
		b.End = time.Now()
	}
	b.Status = runs.Ended(err).Status
	b.Error = ""
	if bench.out != nil {
		b.Status = result.Failed
		err = bench.out
	}
	if b.Status == result.Failed {
		b.Error = err.Error()
	}
	return bench.save()
}

// save writes the summary, and shows it.
func (bench *Bench) save() error {
	if bench.Changed != nil {
		bench.Changed(bench.Name, bench.Summary)
	}
	return result.SaveSummary(bench.Dir, bench.Summary)
}

// makeBlocks makes the blocks that are not made yet, until they are enough.
func (t turns) makeBlocks(ctx, stop context.Context) error {
	block := t.nextBlock()
	goesOn := t.goesOn(block)
	if goesOn {
		t.noteLook(block - 1)
		for _, bench := range t.benches { // those that were left out take part again
			if bench.out = bench.Unready; bench.out == nil {
				bench.Summary.Status = result.Running
				bench.Summary.Error = ""
				bench.Summary.LeftOut = false
			}
		}
	}
	lacks := func(bench *Bench) bool { return block == 1 && !t.hasPassed(bench, practice) }
	for slices.ContainsFunc(takingPart(t.benches), lacks) {
		if err := t.makeBlock(ctx, stop, practice); err != nil {
			return err
		}
	}
	counts := func(bench *Bench) bool { return bench.Summary.Figure != nil }
	for first := block; goesOn && len(takingPart(t.benches)) > 0; goesOn = t.goesOn(block) {
		if block > first && t.comparesInBlocks() && t.Looked != nil &&
			slices.ContainsFunc(t.benches, counts) {
			t.Looked(block - 1)
		}
		if err := t.makeBlock(ctx, stop, block); err != nil {
			return err
		}
		block++
	}
	if t.comparesInBlocks() {
		for _, bench := range t.benches {
			b := &bench.Summary
			b.Spec.Runs = block - 1 // no more are asked for
			b.Until = t.Until
		}
	}
	return nil
}

// goesOn says whether a block is to be made after those before it: the differences may be known
// well enough by then.
func (t turns) goesOn(block int) bool {
	var compared []compare.Configuration
	for _, bench := range takingPart(t.benches) {
		compared = append(compared, compare.Configuration{Name: bench.Name, Bench: bench.Summary})
	}
	enough := t.Until > 0 && block > t.Least && compare.Narrow(compared, t.Until)
	return block <= len(t.orders) && !enough
}

// makeBlock makes the runs of a block, those for practice in the order of the first.
func (t turns) makeBlock(ctx, stop context.Context, block int) error {
	for _, i := range t.orders[max(block, 1)-1] {
		if err := t.makeRun(ctx, stop, t.benches[i], block); err != nil {
			return err
		}
	}
	return nil
}

// noteLook takes into the record that the result could be seen after n blocks, and whether it was
// done then, as the experiment goes on now: who ends when the result pleases has another error than
// who decided before, and the intervals make up for it.
func (t turns) noteLook(blocks int) {
	if !t.comparesInBlocks() || blocks < measure.MinBlocks {
		return
	}
	isDone := func(bench *Bench) bool { return bench.Summary.Status == result.Done }
	done := slices.ContainsFunc(t.benches, isDone)
	for _, bench := range t.benches {
		if b := &bench.Summary; !slices.ContainsFunc(b.Looks, func(l measure.Look) bool {
			return l.Blocks == blocks
		}) {
			b.Looks = append(b.Looks, measure.Look{Blocks: blocks, Done: done})
		}
	}
}

// comparesInBlocks says whether runs are compared block by block. A bench has no blocks, since
// there is nothing to pair.
func (e Experiment) comparesInBlocks() bool { return len(e.Benches) > 1 && !e.Sequence }

// nextBlock is the block to go on with: the first that any configuration lacks. A block that a
// configuration lacks because it was left out is not made up for, since the others' runs of it were
// made at another time.
func (t turns) nextBlock() (next int) {
	// Where all were left out, they are tried again where they came to.
	some := takingPart(t.benches)
	if len(some) == 0 {
		some = t.benches
	}
	next = 1
	lacks := func(bench *Bench) bool { return !t.hasPassed(bench, next) }
	for next <= len(t.orders) && !slices.ContainsFunc(some, lacks) {
		next++
	}
	return next
}

// hasPassed says whether the run of a configuration in a block is made, or its time is over, as
// later ones are made.
func (e Experiment) hasPassed(bench *Bench, block int) bool {
	if block == practice {
		return len(compare.SelectMade(bench.Summary.Runs, true)) >= bench.Summary.Practice
	}
	runs := compare.SelectMade(bench.Summary.Runs, false)
	if !e.comparesInBlocks() {
		return len(runs) >= block
	}
	return slices.ContainsFunc(runs, func(r result.BenchRun) bool { return r.Block >= block })
}

// makeRun makes the run of a configuration in a block, unless it is made or the configuration is
// left out.
func (t turns) makeRun(ctx, stop context.Context, bench *Bench, block int) error {
	if bench.out != nil || t.hasPassed(bench, block) {
		return nil
	}
	b := &bench.Summary
	where := t.describePlace(block)
	// All runs are counted, interrupted ones and those for practice too: each has a seed of its
	// own.
	place := runs.Place{Configuration: bench.Name, Number: 1}
	for _, bench := range t.benches {
		place.Number += len(bench.Summary.Runs)
	}
	// A crash must not leave a run's directory that the summary does not know.
	bench.ran = true
	last := addRun(b, block == practice)
	if t.comparesInBlocks() {
		place.Block = block
		last.Block = place.Block
		last.Number = place.Number
	}
	if err := bench.save(); err != nil {
		return err
	}
	start := time.Now()
	err := bench.conductRun(ctx, stop, place, where)
	last.Took = time.Since(start).Seconds()
	switch { // a run that was stopped is made again, and one that failed is a result
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
		bench.Told("%s failed: %v", last.Dir, err)
		if bench.failures++; store.Classify(err) == store.Config {
			t.leaveOut(bench, fmt.Errorf("%s: %w", last.Dir, err)) // as it would end each time
		} else if bench.failures == failuresInARow {
			t.leaveOut(bench,
				fmt.Errorf("%d runs in a row failed, the last: %w", bench.failures, err))
		}
	default:
		bench.failures = 0
	}
	compare.Runs(b)
	return bench.save()
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
	dir := fmt.Sprintf("%s-%d", name, len(compare.SelectMade(b.Runs, practice))+1)
	for slices.ContainsFunc(b.Runs, func(r result.BenchRun) bool { return r.Dir == dir }) {
		dir += "-again"
	}
	b.Runs = append(b.Runs, result.BenchRun{Dir: dir, Practice: practice, Status: result.Running})
	return &b.Runs[len(b.Runs)-1]
}

func (e Experiment) leaveOut(bench *Bench, why error) {
	bench.out = why
	bench.Summary.Status = result.Failed
	bench.Summary.Error = why.Error()
	bench.Summary.LeftOut = true
	if len(e.Benches) > 1 {
		e.Told("configuration %s is left out: %s", bench.Name, why)
	}
}

// describePlace says where the experiment is, and when it will end.
func (e Experiment) describePlace(block int) string {
	made, all, left := e.Left()
	// With an end by precision the number of blocks is at most what was asked for.
	about := "about"
	switch {
	case made == 0:
		about = "at least" // restores and audits have not been timed yet
	case e.Until > 0:
		about = "at most about"
	}
	until := time.Now().Add(left).Format("15:04")
	where := fmt.Sprintf("run %d of %d, %s %s left, until %s", made+1, all, about,
		progress.Round(left), until)
	switch {
	case block == practice:
		return "practice, not counted, " + where
	case e.comparesInBlocks():
		return fmt.Sprintf("block %d of %d, %s", block, len(e.Orders), where)
	}
	return where
}

// Beside is how long the runs of a configuration that are made took on average besides what is
// planned: restore and audit.
func (bench *Bench) Beside() (took time.Duration, known bool) {
	took, known = bench.meanTime()
	return max(0, took-bench.Planned), known
}

// meanTime is how long the runs of a configuration that came to their end took on average, from
// restore to audit.
func (bench *Bench) meanTime() (took time.Duration, known bool) {
	seconds := 0.
	runs := 0.
	for _, r := range bench.Summary.Runs {
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
	for _, bench := range takingPart(e.Benches) {
		each, known := bench.meanTime()
		if !known {
			each = bench.Planned
		}
		asked := bench.Summary.Practice + len(e.Orders)
		done := min(len(compare.SelectMade(bench.Summary.Runs, true)), bench.Summary.Practice)
		for block := range e.Orders {
			if e.hasPassed(bench, block+1) {
				done++
			}
		}
		all += asked
		made += done
		left += time.Duration(asked-done) * each
	}
	return made, all, left
}
