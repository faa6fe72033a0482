package runs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"ds2/internal/load"
	"ds2/internal/measure"
	"ds2/internal/numbers"
	"ds2/internal/outside"
	"ds2/internal/result"
	"ds2/internal/store"
)

// surroundings are what a run is made in, read before its users start and after they have ended.
// What differs between the two is a change, with both values.
type surroundings struct {
	before, after surrounding
}

// surrounding is what a run is made in at one time.
type surrounding struct {
	at     time.Time
	of     []store.Surroundings // of each target; nil: not known
	info   []store.Info         // what each target says of itself; nil: ds2 did not load it
	failed error                // why one is not known
}

// readSurrounding reads what a run is made in now.
func readSurrounding(ctx context.Context, targets []store.Database) surrounding {
	ctx, cancel := outside.Within(ctx, outside.Answer)
	defer cancel()
	s := surrounding{at: time.Now()}
	for _, target := range targets {
		info, _ := store.ReadInfo(ctx, target.DB())
		s.info = append(s.info, info)
		var found store.Surroundings
		if engine, ok := target.(load.Describer); ok {
			var err error
			if found, err = engine.Surroundings(ctx); err != nil {
				found = nil
				s.failed = err
			}
		}
		s.of = append(s.of, found)
	}
	return s
}

// What other databases of the server may commit beside a run until it is said: monitoring and
// autovacuum do a little.
const (
	quietCommits = 100
	quietRate    = 2 // a second
)

// findChanges are what was not so for the whole run, and the findings of that.
func (s *surroundings) findChanges(targets []store.Database) (all []result.Change, w noticed) {
	if failed := cmp.Or(s.after.failed, s.before.failed); failed != nil {
		w.note(result.ChangeUnknown, "%v", failed)
	}
	for i, info := range s.before.info {
		if failed := info[store.InfoFailed]; failed != "" {
			f := result.NewFinding(result.FailedBefore, failed)
			w = append(w, f.About(targets[i].Label()))
		}
	}
	for i := range min(len(s.before.of), len(s.after.of)) { // those of a run that ended early: none
		before := s.before.of[i]
		after := s.after.of[i]
		if before == nil || after == nil {
			continue
		}
		// The server's settings and the schema are to be the same all the time.
		changes := slices.Concat(
			result.CompareStates(before[store.OfServer], after[store.OfServer]),
			result.CompareStates(before[store.OfSchema], after[store.OfSchema]))
		for k := range changes {
			changes[k].When = fmt.Sprintf("between %s and %s",
				s.before.at.Format(time.TimeOnly), s.after.at.Format(time.TimeOnly))
		}
		sinceLoad, _ := load.SchemaChanges(s.before.info[i], before)
		for _, c := range append(changes, sinceLoad...) {
			c.Target = targets[i].Label()
			all = append(all, c)
		}
		s.findCommits(&w, targets, before, after)
		findSessions(&w, before, after)
	}
	return all, w
}

// findCommits finds the databases of a server that are none of the run's and committed more than a
// little beside it.
func (s *surroundings) findCommits(
	w *noticed, targets []store.Database, before, after store.Surroundings,
) {
	quiet := quietCommits + quietRate*s.after.at.Sub(s.before.at).Seconds()
	for _, c := range result.CompareStates(before[store.OfCommits], after[store.OfCommits]) {
		was, _ := strconv.ParseInt(c.Before, 10, 64)
		is, _ := strconv.ParseInt(c.After, 10, 64)
		isOwn := func(t store.Database) bool { return t.Name() == c.What }
		if n := is - was; float64(n) > quiet && !slices.ContainsFunc(targets, isOwn) {
			w.note(result.OtherClients, "other clients worked on the server: database %s committed "+
				"%d transactions in the run: log, CPUs and drives are not the run's alone", c.What, n)
		}
	}
}

// findSessions finds the sessions of other clients that were there before the run and after it.
func findSessions(w *noticed, before, after store.Surroundings) {
	var clients []string
	for session := range after[store.OfSessions] {
		if _, both := before[store.OfSessions][session]; both {
			clients = append(clients, session)
		}
	}
	if n := len(clients); n > 0 {
		w.note(result.OtherClients, "other clients (%d) were at work on the server before the run "+
			"and after it, such as %s", n, slices.Min(clients))
	}
}

// watch tells at once that the server has gone, and that it is back.
type watch struct {
	since time.Duration // when it was last there
	away  bool
	lost  atomic.Pointer[error] // since the last sample
}

// sample tells of a second without orders in which a connection was lost, and of the first order
// after it. Orders that merely wait, as behind a lock or a checkpoint, are no such second.
func (w *watch) sample(s measure.Sample, tell func(format string, args ...any)) {
	switch lost := w.lost.Swap(nil); {
	case s.Counts.Orders == 0 && lost != nil && !w.away:
		w.away = true
		w.since = s.End - s.Length
		tell("warning: the server has not answered since %s of the run: %v", numbers.Clock(w.since),
			*lost)
	case w.away && s.Counts.Orders > 0:
		w.away = false
		tell("the server answers again, after %s", (s.End - w.since).Round(time.Second))
	}
}
