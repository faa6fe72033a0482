package runs

import (
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
// What was not so all the time is stated with both values.
type surroundings struct {
	at     [2]time.Time
	of     [2][]store.Surroundings // of each target; nil: not known
	info   []store.Info            // of each target before the run, which its plan has read too
	failed error
}

// read reads them before (0) or after (1) the run.
func (s *surroundings) read(ctx context.Context, when int, targets []store.Database) {
	ctx, cancel := outside.Within(ctx, outside.Answer)
	defer cancel()
	s.at[when] = time.Now()
	for _, target := range targets {
		if when == 0 {
			info, _ := store.ReadInfo(ctx, target.DB())
			s.info = append(s.info, info)
		}
		var found store.Surroundings
		if engine, ok := target.(load.Describer); ok {
			var err error
			if found, err = engine.Surroundings(ctx); err != nil {
				found = nil
				s.failed = err
			}
		}
		s.of[when] = append(s.of[when], found)
	}
}

// What other databases of the server may commit beside a run until it is said: monitoring and
// autovacuum do a little.
const (
	quietCommits = 100
	quietRate    = 2 // a second
)

// changes are what was not so for the whole run, and the findings of that.
func (s *surroundings) changes(targets []store.Database) (all []result.Change, w noticed) {
	if s.failed != nil {
		w.note(result.ChangeUnknown, "%v", s.failed)
	}
	between := fmt.Sprintf(
		"between %s and %s",
		s.at[0].Format(time.TimeOnly),
		s.at[1].Format(time.TimeOnly),
	)
	for i, target := range targets {
		if i < len(s.info) && s.info[i][store.InfoFailed] != "" {
			f := result.NewFinding(result.FailedBefore, s.info[i][store.InfoFailed])
			w = append(w, f.About(target.Label()))
		}
		if i >= len(s.of[0]) || i >= len(s.of[1]) || s.of[0][i] == nil || s.of[1][i] == nil {
			continue
		}
		before := s.of[0][i]
		after := s.of[1][i]
		label := target.Label()
		note := func(changes []result.Change, text func(result.Change) string) {
			for _, c := range changes {
				c.Target = label
				all = append(all, c)
				w = append(w, result.NewFinding(result.SettingsChanged, text(c)).About(label))
			}
		}
		for _, kind := range []store.Kind{store.OfServer, store.OfSchema} {
			changes := result.CompareStates(before[kind], after[kind])
			for k := range changes {
				changes[k].When = between
			}
			note(changes, result.Change.During)
		}
		sinceLoad, _ := load.SchemaChanges(s.info[i], before)
		note(sinceLoad, result.Change.SinceLoad)
		seconds := s.at[1].Sub(s.at[0]).Seconds()
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
