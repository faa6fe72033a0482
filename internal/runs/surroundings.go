package runs

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"ds2/internal/measure"
	"ds2/internal/outside"
	"ds2/internal/result"
	"ds2/internal/store"
)

// surroundings are what a run is made in, read before its users start and after they have ended. What was not so all
// the time is stated with both values.
type surroundings struct {
	at     [2]time.Time
	of     [2][]store.Surroundings // of each target; nil: not known
	info   []store.Info            // of each target before the run
	failed error
}

// read reads them before (0) or after (1) the run.
func (s *surroundings) read(ctx context.Context, when int, targets []store.Database) {
	ctx, cancel := outside.Within(ctx, outside.Answer)
	defer cancel()
	s.at[when], s.of[when] = time.Now(), make([]store.Surroundings, len(targets))
	if when == 0 {
		s.info = make([]store.Info, len(targets))
	}
	for i, target := range targets {
		if when == 0 {
			s.info[i], _ = store.ReadInfo(ctx, target.DB()) // whose plan has read it
		}
		ask := target.Can().Surroundings
		if ask == nil {
			continue
		}
		found, err := ask(ctx)
		if err != nil {
			s.failed = err
			continue
		}
		s.of[when][i] = found
	}
}

// What other databases of the server may commit beside a run until it is said: monitoring and autovacuum do a little.
const (
	quietCommits = 100
	quietRate    = 2 // a second
)

// changes are what was not so for the whole run, and warnings of that.
func (s *surroundings) changes(targets []store.Database) (all []result.Change, w warnings) {
	if s.failed != nil {
		w.add("whether server and schema stayed as they were is not known: %v", s.failed)
	}
	between := fmt.Sprintf("between %s and %s", s.at[0].Format(time.TimeOnly), s.at[1].Format(time.TimeOnly))
	own := map[string]bool{}
	for _, target := range targets {
		own[target.Name()] = true
	}
	told := map[string]bool{} // what several targets of a server have in common
	tell := func(format string, args ...any) {
		if text := fmt.Sprintf(format, args...); !told[text] {
			told[text] = true
			w.add("%s", text)
		}
	}
	for i, target := range targets {
		if i < len(s.info) && s.info[i][store.InfoFailed] != "" {
			w.add("%s: an audit of it failed before this run (%s), and since then it was not reset, restored or "+
				"passed by ds2 verify", target.Label(), s.info[i][store.InfoFailed])
		}
		if i >= len(s.of[0]) || i >= len(s.of[1]) || s.of[0][i] == nil || s.of[1][i] == nil {
			continue
		}
		before, after, label := s.of[0][i], s.of[1][i], target.Label()
		for _, kind := range []store.Kind{store.OfServer, store.OfSchema} {
			for _, c := range before.Changes(kind, after) {
				all = append(all, result.Change{Target: label, When: between, Change: c})
				tell("%s: %s was %s before the run and %s after it, changed %s", label, c.What, shown(c.Before),
					shown(c.After), between)
			}
		}
		if loaded := s.info[i].LoadedSchema(); loaded != nil {
			for _, c := range loaded.Changes(store.OfSchema, before) {
				all = append(all, result.Change{Target: label, When: "since the load", Change: c})
				tell("%s: %s is %s, and was %s when it was loaded", label, c.What, shown(c.After), shown(c.Before))
			}
		}
		seconds := s.at[1].Sub(s.at[0]).Seconds()
		for _, c := range before.Changes(store.OfCommits, after) {
			was, _ := strconv.ParseInt(c.Before, 10, 64)
			is, _ := strconv.ParseInt(c.After, 10, 64)
			if n := is - was; !own[c.What] && float64(n) > quietCommits+quietRate*seconds {
				tell("other clients worked on the server: database %s committed %d transactions in the run: "+
					"log, CPUs and drives are not the run's alone", c.What, n)
			}
		}
		for session := range after[store.OfSessions] {
			if _, both := before[store.OfSessions][session]; both {
				tell("another client was at work on the server before the run and after it: %s", session)
			}
		}
	}
	return all, w
}

// shown is a value, or that there is none.
func shown(value string) string {
	if value == "" {
		return "not there"
	}
	return strconv.Quote(value)
}

// ofTime warns of times in which the server, or ds2 itself, was not there.
func (w *warnings) ofTime(series measure.Series, cycles string) {
	for _, o := range series.Outages() {
		w.add("the server did not answer from %s to %s: %d %s given up, %d retries", clock(o.From), clock(o.To),
			o.GivenUp, cycles, o.Retries)
	}
	for _, gap := range series.Gaps() {
		w.add("ds2 itself stood still for %.0f s, until %s: it was stopped, or its machine was",
			(gap.To - gap.From - time.Second).Seconds(), clock(gap.To))
	}
}

// clock is a time of the run as m:ss.
func clock(t time.Duration) string {
	return fmt.Sprintf("%d:%02d", int(t.Minutes()), int(t.Seconds())%60)
}

// watch tells at once that the server has gone, and that it is back.
type watch struct {
	since time.Duration // when it was last there
	away  bool
	lost  atomic.Pointer[error]            // since the last sample
	tell  func(format string, args ...any) // nil: nobody
}

func (w *watch) sample(s measure.Sample) {
	if w.tell == nil {
		return
	}
	switch lost := w.lost.Swap(nil); {
	case s.Counts.Orders == 0 && lost != nil && !w.away:
		w.away, w.since = true, s.End-s.Length
		w.tell("warning: the server does not answer since %s of the run: %v", clock(w.since), *lost)
	case w.away && s.Counts.Orders > 0:
		w.away = false
		w.tell("the server answers again, after %s", (s.End - w.since).Round(time.Second))
	}
}
