package measure

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// WindowSpec names the part of a run that a figure is taken from.
type WindowSpec struct {
	Name   string
	Auto   bool // the steady part, as Series.Steady finds it
	Cycles int  // whole checkpoint cycles, the last of the run phase
	OfRun  bool // Span counts from the begin of the run phase on, not from the first orders
	Span
}

// Known says whether the window's bounds are known before the run.
func (w WindowSpec) Known() bool { return !w.Auto && w.Cycles == 0 }

// String gives the window as ParseWindow reads it.
func (w WindowSpec) String() string {
	text := w.From.String() + "-" + w.To.String()
	switch {
	case w.Auto:
		text = AutoWindow
	case w.Cycles > 0:
		text = fmt.Sprintf("%s=%d", CyclesWindow, w.Cycles)
	case w.OfRun:
		text = runPrefix + text
	}
	if w.Cycles > 0 && w.Name == CyclesWindow { // which needs no name before it
		return text
	}
	return w.Name + "=" + text
}

const (
	// AutoWindow is the text of a WindowSpec that looks for the steady part itself
	AutoWindow = "auto"
	// CyclesWindow before a number is that of one which takes whole checkpoint cycles
	CyclesWindow = "checkpoints"
	// before the times of one that counts from the begin of the run phase on
	runPrefix = "run+"
	// RunWindow is the name of a window that is the run phase.
	RunWindow = "run"
)

// ParseWindows reads several; see ParseWindow.
func ParseWindows(texts []string) (all []WindowSpec, err error) {
	for _, text := range texts {
		w, err := ParseWindow(text)
		if err != nil {
			return nil, err
		}
		all = append(all, w)
	}
	return all, nil
}

// ParseWindow reads 1000s-1200s since the first orders, run+1000s-1200s since the begin of the run
// phase, auto, checkpoints=2, or any of them with a name before it: steady=auto,
// report=run+1000s-1200s, cycles=checkpoints=2. A number needs a unit: in other flags a bare one is
// of minutes.
func ParseWindow(text string) (WindowSpec, error) {
	name, span, named := strings.Cut(text, "=")
	if !named || strings.TrimSpace(name) == CyclesWindow {
		span = text
	}
	w := WindowSpec{Name: strings.TrimSpace(name)}
	if w.Name == "" {
		return w, fmt.Errorf("window %q has an empty name", text)
	}
	if strings.TrimSpace(span) == AutoWindow {
		w.Auto = true
		return w, nil
	}
	if cycles, number, ok := strings.Cut(span, "="); ok &&
		strings.TrimSpace(cycles) == CyclesWindow {
		n, err := strconv.ParseUint(strings.TrimSpace(number), 10, 16)
		if err != nil || n == 0 {
			return w, fmt.Errorf("window %q: %q is not a number of checkpoint cycles such as 2",
				text, number)
		}
		w.Cycles = int(n)
		return w, nil
	}
	span, w.OfRun = strings.CutPrefix(strings.TrimSpace(span), runPrefix)
	from, to, ok := strings.Cut(span, "-")
	if !ok {
		return w, fmt.Errorf(
			"invalid window %q: use auto, checkpoints=2, or a span such as run+1000s-1200s", text)
	}
	var err error
	if w.From, err = parseOffset(from); err == nil {
		w.To, err = parseOffset(to)
	}
	if err != nil {
		return w, fmt.Errorf("window %q: %w", text, err)
	}
	if w.To <= w.From {
		return w, fmt.Errorf("window %q ends before it begins", text)
	}
	return w, nil
}

// parseOffset reads a time since the begin that a window counts from.
func parseOffset(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is not a time with a unit, such as 1000s or 20m", text)
	}
	return d, nil
}
