package runs

import (
	"cmp"
	"context"
	"fmt"
	"maps"
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
	between := fmt.Sprintf(
		"between %s and %s",
		s.before.at.Format(time.TimeOnly),
		s.after.at.Format(time.TimeOnly),
	)
	for i, target := range targets {
		if i < len(s.info) && s.info[i][store.InfoFailed] != "" {
			f := result.NewFinding(result.FailedBefore, s.info[i][store.InfoFailed])
			w = append(w, f.About(target.Label()))
		}
		if i >= len(s.before.of) || i >= len(s.after.of) {
			continue
		}
		before := s.before.of[i]
		after := s.after.of[i]
		if before == nil || after == nil {
			continue
		}
		var changes []result.Change
		for _, kind := range []store.Kind{store.OfServer, store.OfSchema} {
			changes = append(changes, result.CompareStates(before[kind], after[kind])...)
		}
		for k := range changes {
			changes[k].When = between
		}
		sinceLoad, _ := load.SchemaChanges(s.info[i], before)
		for _, c := range slices.Concat(changes, sinceLoad) {
			c.Target = target.Label()
			all = append(all, c)
		}
		seconds := s.after.at.Sub(s.before.at).Seconds()
		for _, c := range result.CompareStates(before[store.OfCommits], after[store.OfCommits]) {
			was, _ := strconv.ParseInt(c.Before, 10, 64)
			is, _ := strconv.ParseInt(c.After, 10, 64)
			own := slices.ContainsFunc(targets, func(t store.Database) bool {
				return t.Name() == c.What
			})
			if n := is - was; !own && float64(n) > quietCommits+quietRate*seconds {
				w.note(
					result.OtherClients,
					"other clients worked on the server: database %s committed %d transactions in the run: "+
						"log, CPUs and drives are not the run's alone",
					c.What,
					n,
				)
			}
		}
		clients := maps.Clone(after[store.OfSessions])
		maps.DeleteFunc(clients, func(session, _ string) bool {
			_, both := before[store.OfSessions][session]
			return !both
		})
		if n := len(clients); n > 0 {
			w.note(
				result.OtherClients,
				"other clients (%d) were at work on the server before the run and after it, such as %s",
				n,
				slices.Min(slices.Collect(maps.Keys(clients))),
			)
		}
	}
	return all, w
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
		tell(
			"warning: the server has not answered since %s of the run: %v",
			numbers.Clock(w.since),
			*lost,
		)
	case w.away && s.Counts.Orders > 0:
		w.away = false
		tell("the server answers again, after %s", (s.End - w.since).Round(time.Second))
	}
}
