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
	info          []store.Info // of each target before the run, which its plan has read too
}

// surrounding is what a run is made in at one time.
type surrounding struct {
	at     time.Time
	of     []store.Surroundings // of each target; nil: not known
	failed error
}

// readSurrounding reads what a run is made in now.
func readSurrounding(ctx context.Context, targets []store.Database) surrounding {
	ctx, cancel := outside.Within(ctx, outside.Answer)
	defer cancel()
	s := surrounding{at: time.Now()}
	for _, target := range targets {
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

// readInfo reads what the databases say of themselves.
func readInfo(ctx context.Context, targets []store.Database) (all []store.Info) {
	ctx, cancel := outside.Within(ctx, outside.Answer)
	defer cancel()
	for _, target := range targets {
		info, _ := store.ReadInfo(ctx, target.DB())
		all = append(all, info)
	}
	return all
}

// What other databases of the server may commit beside a run until it is said: monitoring and
// autovacuum do a little.
const (
	quietCommits = 100
	quietRate    = 2 // a second
)

// changes are what was not so for the whole run, and the findings of that.
func (s *surroundings) changes(targets []store.Database) (all []result.Change, w noticed) {
	if failed := cmp.Or(s.after.failed, s.before.failed); failed != nil {
		w.note(result.ChangeUnknown, "%v", failed)
	}
	for i, info := range s.info {
		if failed := info[store.InfoFailed]; failed != "" {
			f := result.NewFinding(result.FailedBefore, failed)
			w = append(w, f.About(targets[i].Label()))
		}
	}
	if len(s.before.of) == 0 || len(s.after.of) == 0 {
		return nil, w
	}
	for i, target := range targets {
		before := s.before.of[i]
		after := s.after.of[i]
		if before == nil || after == nil {
			continue
		}
		changes := s.compareStates(before, after)
		sinceLoad, _ := load.SchemaChanges(s.info[i], before)
		for _, c := range slices.Concat(changes, sinceLoad) {
			c.Target = target.Label()
			all = append(all, c)
		}
		s.findCommits(&w, targets, before, after)
		findSessions(&w, before, after)
	}
	return all, w
}

// compareStates finds what changed on a server and in a schema in the run.
func (s *surroundings) compareStates(before, after store.Surroundings) (changes []result.Change) {
	for _, kind := range []store.Kind{store.OfServer, store.OfSchema} {
		changes = append(changes, result.CompareStates(before[kind], after[kind])...)
	}
	for i := range changes {
		changes[i].When = fmt.Sprintf("between %s and %s",
			s.before.at.Format(time.TimeOnly), s.after.at.Format(time.TimeOnly))
	}
	return changes
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
