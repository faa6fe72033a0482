package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"ds2/datagen"
	"ds2/internal/load"
	"ds2/schema"
)

// loadView shows a load: on a terminal a bar for each table and a line for each statement that is running, elsewhere a
// line whenever a phase begins and every ten seconds.
type loadView struct {
	w    io.Writer
	bars *mpb.Progress // nil where there is no terminal
	halt func()        // ends the lines; nil on a terminal

	mu      sync.Mutex
	phase   schema.Phase
	tables  []*tableView
	running map[string]*statementView
	done    atomic.Pointer[loadDone] // of the whole load; nil before the first. No lock, since bars ask for it while they are drawn
	total   *mpb.Bar                 // a line with the time left; nil where there is no terminal
}

// statementView is how far a statement is that is running.
type statementView struct {
	bar   *mpb.Bar
	share float64 // 0 where nobody knows
}

// statementSteps are the steps of a statement's bar.
const statementSteps = 1000

// tableView is how much of a table is copied.
type tableView struct {
	table    datagen.Table
	rows, of int64
	bar      *mpb.Bar
}

func startLoadView(w io.Writer, parts []datagen.Part) *loadView {
	v := &loadView{w: w, running: map[string]*statementView{}}
	for _, part := range parts {
		i := slices.IndexFunc(v.tables, func(t *tableView) bool { return t.table == part.Table })
		if i < 0 {
			i = len(v.tables)
			v.tables = append(v.tables, &tableView{table: part.Table})
		}
		v.tables[i].of += part.Rows
	}
	if isTerminal(w) {
		v.bars = mpb.New(mpb.WithOutput(w), mpb.WithWidth(40))
		v.total = v.bars.New(statementSteps, mpb.NopStyle(), mpb.BarPriority(1000), mpb.BarRemoveOnComplete(),
			mpb.PrependDecorators(decor.Any(func(decor.Statistics) string { return v.left() })))
		return v
	}
	v.halt = startTicking(progressEvery, func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		fmt.Fprintln(w, v.line())
	})
	return v
}

// line is the state in words.
func (v *loadView) line() string {
	if v.phase == load.PhaseData {
		var rows, of int64
		for _, t := range v.tables {
			rows += t.rows
			of += max(t.of, t.rows)
		}
		return fmt.Sprintf("load: %s, %d of about %d rows; %s", v.phase, rows, of, v.left())
	}
	var running []string
	for name, s := range v.running {
		if s.share > 0 {
			name = fmt.Sprintf("%s %.0f %%", name, 100*s.share)
		}
		running = append(running, name)
	}
	slices.Sort(running)
	return fmt.Sprintf("load: %s, %s; %s", v.phase, strings.Join(running, ", "), v.left())
}

// loadDone is how much of a load was done at a time, and what was left.
type loadDone struct {
	share float64
	left  time.Duration // negative: unknown
	at    time.Time
}

// left is how much of the whole load is done and how long the rest will take.
func (v *loadView) left() string {
	done := v.done.Load()
	if done == nil || done.left < 0 {
		return "0 % of all"
	}
	left := max(done.left-time.Since(done.at), 0)
	return fmt.Sprintf("%.0f %% of all, about %s left", 100*done.share, left.Round(time.Second))
}

// Begin is of load.Progress.
func (v *loadView) Begin(phase schema.Phase) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.phase = phase
	if v.bars == nil {
		fmt.Fprintf(v.w, "load: %s\n", phase)
		return
	}
	for _, t := range v.tables {
		switch {
		case phase == load.PhaseData:
			t.bar = v.bars.AddBar(t.of,
				mpb.PrependDecorators(decor.Name(string(t.table), decor.WC{W: 12, C: decor.DindentRight})),
				mpb.AppendDecorators(decor.Percentage(decor.WC{W: 5}), decor.Name(" "), decor.AverageETA(decor.ET_STYLE_GO)))
		case t.bar != nil:
			t.bar.SetTotal(-1, true)
		}
	}
}

// Copied is of load.Progress.
func (v *loadView) Copied(table datagen.Table, rows, _ int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, t := range v.tables {
		if t.table == table {
			t.rows += rows
			if t.bar != nil {
				t.bar.SetCurrent(min(t.rows, t.of-1)) // the total may be an estimate: the end of the phase ends the bar
			}
		}
	}
}

// Statement is of load.Progress.
func (v *loadView) Statement(phase schema.Phase, statement string, ended bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if ended {
		if s := v.running[statement]; s.bar != nil {
			s.bar.Abort(true)
		}
		delete(v.running, statement)
		return
	}
	v.running[statement] = &statementView{}
	if v.bars != nil {
		v.running[statement].bar = v.bars.AddBar(statementSteps, mpb.BarRemoveOnComplete(),
			mpb.PrependDecorators(decor.Name(string(phase)+": "+statement+" ")),
			mpb.AppendDecorators(decor.Elapsed(decor.ET_STYLE_GO)))
	}
}

// Built is of load.Progress.
func (v *loadView) Built(statement string, share float64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	s, ok := v.running[statement]
	if !ok {
		return
	}
	s.share = share
	if s.bar != nil {
		s.bar.SetCurrent(int64(min(share*statementSteps, statementSteps-1)))
	}
}

// Done is of load.Progress.
func (v *loadView) Done(share float64, left time.Duration) {
	v.done.Store(&loadDone{share, left, time.Now()})
}

// stop ends the showing.
func (v *loadView) stop() {
	if v.bars == nil {
		v.halt()
		return
	}
	v.mu.Lock()
	for _, t := range v.tables {
		if t.bar != nil {
			t.bar.Abort(false)
		}
	}
	for _, s := range v.running {
		if s.bar != nil {
			s.bar.Abort(true)
		}
	}
	if v.total != nil {
		v.total.Abort(true)
	}
	v.mu.Unlock()
	v.bars.Wait()
}
