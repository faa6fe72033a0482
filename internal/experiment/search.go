package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"ds2/internal/compare"
	"ds2/internal/driver"
	"ds2/internal/limit"
	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/runs"
	"ds2/internal/store"
	"ds2/internal/tune"
	"ds2/internal/upkeep"
)

// Search is a search for the best number of users.
type Search struct {
	runs.Conduct
	Dir     string // of the search's record and its runs
	Options runs.Options
	Config  result.SearchConfig
	Restore upkeep.Restore
	// Trial is told each trial, how long one takes, and all that were made.
	Trial func(t result.Trial, each time.Duration, all []result.Trial)
	// one that ended before it was done, which is continued: its trials are not made again
	left result.Search
}

// Do runs the search and writes its record after each trial, also where an error ends it. A run
// whose figures cannot be used ends it with a VerdictError.
func (s Search) Do(stop runs.Stop) (result.Search, error) {
	r := result.Search{
		Spec: s.Options.Asked(), SearchConfig: s.Config, Status: result.Running,
		Start: cmp.Or(s.left.Start, time.Now()), Trials: s.left.Trials,
	}
	err := s.search(stop, &r)
	r.End = time.Now()
	if r.Status = runs.Ended(err).Status; err != nil {
		r.Why = "the search was stopped"
	}
	if r.Users > 0 {
		var b result.Bench
		b, err = s.foldConfirming(result.Confirming(r.Trials, r.Users))
		r.Headline = b.Headline
		r.Verdicts = b.Limits
	}
	return r, errors.Join(err, result.SaveSummary(s.Dir, r))
}

// search makes trials until the number of users is confirmed or none is left. An error of a trial
// ends it.
func (s Search) search(stop runs.Stop, r *result.Search) error {
	var took time.Duration // of the trials of this ds2, by which the time left is estimated
	failed := 0            // trials in a row without figures
	for made := 1; ; made++ {
		if err := result.SaveSummary(s.Dir, *r); err != nil {
			return err
		}
		next, found := tune.Next(s.Config, r.Trials)
		if next.Threads == 0 {
			r.SearchResult = found
			return nil
		}
		if err := context.Cause(stop.Hard); err != nil {
			return err
		}
		begin := time.Now()
		t, err := s.makeTrial(stop, len(r.Trials)+1, next)
		if t.Error == "" || t.Unit != "" { // it has figures
			failed = 0
		} else if failed++; failed == failuresInARow {
			err = fmt.Errorf("%d runs in a row failed, the last: %s", failed, t.Error)
		}
		if err != nil {
			return err
		}
		took += time.Since(begin)
		r.Trials = append(r.Trials, t)
		if err := s.confirmUsers(r.Trials); err != nil {
			return err
		}
		t = r.Trials[len(r.Trials)-1] // which may have stopped passing
		s.Trial(t, took/time.Duration(made), r.Trials)
	}
}

// foldConfirming is what trials that confirm a number of users come to together: a bench of them.
func (s Search) foldConfirming(trials []result.Trial) (b result.Bench, err error) {
	for _, t := range trials {
		run, err := result.ReadSummary[result.Summary](filepath.Join(s.Dir, t.Record))
		if err != nil {
			return b, err
		}
		one := result.BenchRun{Dir: t.Record, Status: run.Status}
		compare.Take(&one, run)
		b.Words = run.Words
		b.Runs = append(b.Runs, one)
	}
	compare.Runs(&b)
	return b, nil
}

// confirmUsers holds the last of the confirming trials to what they come to together: where that is
// "cannot tell", it does not pass, and the search goes on below.
func (s Search) confirmUsers(trials []result.Trial) error {
	last := &trials[len(trials)-1]
	confirming := result.Confirming(trials, last.Threads)
	if !last.Confirm || !last.Passed || len(confirming) < s.Config.Confirm {
		return nil
	}
	b, err := s.foldConfirming(confirming)
	last.Passed = limit.UpperHold(b.Limits, result.Verdict.Holds)
	last.CannotTell = !last.Passed
	return err
}

// makeTrial is one run with a number of users, from the restored database to its audit.
func (s Search) makeTrial(stop runs.Stop, number int, t result.Trial) (result.Trial, error) {
	o := s.Options
	o.Threads = t.Threads
	// With one seed, where nothing is restored, the new customers of a repeat find their names
	// taken.
	o.Seed += uint64(number)
	o.RunID = fmt.Sprintf("%s-%02d", o.RunID, number)
	t.Record = fmt.Sprintf("%02d-%d-users", number, t.Threads)
	for errors.Is(result.CheckDir(filepath.Join(s.Dir, t.Record)), result.ErrNotEmpty) {
		t.Record += "-again" // a search that was interrupted left one of the same name
		o.RunID += "-again"
		o.Seed += 1 << 32
	}
	o.Dir = filepath.Join(s.Dir, t.Record)
	err := s.Restore.RestoreTargets(stop.Hard, stop.Soft, o.Databases)
	if stop.Soft.Err() != nil {
		err = driver.ErrStopped
	}
	if err != nil {
		return t, err
	}
	one, summary, outcome := s.MakeRun(stop, o)
	switch {
	// A run that fails with many users is a trial that failed, and says that these are too many.
	case outcome.Status.CameToEnd() && summary.Figure == nil:
		outcome.Err = errors.New("the run gave no figures")
		fallthrough
	case outcome.Status == result.Failed && store.Classify(outcome.Err) != store.Config &&
		!isOfRecord(outcome.Err):
		t.Error = outcome.Err.Error()
		return t, nil
	case !outcome.Status.CameToEnd():
		return t, outcome.Err
	}
	summary, err = s.Verify(stop, one)
	s.Judged(one)
	if err != nil {
		return t, err
	}
	for _, f := range summary.Findings {
		switch f.Kind { // which too many users may have a server do
		case result.NothingCompleted, result.LimitFailed, result.RunAborted:
			continue
		}
		if f.Effect == result.Fails { // the figures of such a database are worth nothing
			return t, &VerdictError{errors.New(f.Words())}
		}
	}
	t.Unit = summary.Figure.Unit
	t.Value = summary.Figure.Value
	t.P95 = summary.Windows[0].Latency[measure.WholeOrder].P95 / 1000
	t.Drives = drivesOf(summary.Conclusion)
	if t.Error = summary.Windows[0].Failed(); t.Error != "" {
		return t, nil
	}
	// A limit that nothing was measured for fails whatever the number of users.
	if t.Strain, err = limit.Strain(summary.Limits); err != nil {
		return t, &VerdictError{err}
	}
	// Lower limits, such as a least rate, more users would meet: only upper ones bound the search.
	t.Passed = limit.UpperHold(summary.Limits, result.Verdict.Kept)
	if outcome.Status == result.Aborted { // its window may lie before what it was aborted for
		t.Passed = false
		strain, err := limit.Strain(one.Verdicts())
		if err != nil {
			return t, err
		}
		t.Strain = max(t.Strain, strain)
	}
	return t, nil
}

// drivesOf is what the drives did in a run: mean latencies of the slowest drive in milliseconds,
// and reads and writes a second; nil where not measured.
func drivesOf(c result.Conclusion) (d result.TrialDrives) {
	find := func(name string) *float64 { return compare.FindCondition(c.Conditions, name) }
	d.Read = find(result.ReadLatency)
	d.Write = find(result.WriteLatency)
	d.LogWrite = find(result.LogWriteLatency)
	d.IOPS = find(result.ReadsOfDevices)
	if writes := find(result.WritesOfDevices); writes != nil && d.IOPS != nil {
		d.IOPS = new(*d.IOPS + *writes)
	}
	if c.Storage != nil {
		d.IOPS = &c.Storage.IOPS
	}
	return d
}

// VerdictError says that a run was made, and cannot be used: its audit failed, or it has no sample
// of a limit. More users or fewer would not help.
type VerdictError struct{ error }

func (e *VerdictError) Unwrap() error { return e.error }
