package limit

import (
	"fmt"
	"strconv"
	"strings"
)

// Gate is a change of one compared figure that must not be, such as "opm < -5 %", which is OPM that
// falls by more than 5 %; or "errors > 0".
type Gate struct {
	Text, Figure string
	compare      Comparison
	bound        float64 // percent; of errors, how many
}

// ErrorGate is the one figure of a gate that is counted and not compared.
const ErrorGate = "errors"

// ParseGate reads a gate:
//
//	gate  = figure ( "<" | ">" ) bound "%"
//	      | "errors" ( "<" | ">" ) bound
//	bound = a number, which may have a sign
func ParseGate(text string) (g Gate, err error) {
	p := &parser{text: text}
	g.Text = strings.TrimSpace(text)
	g.Figure = strings.ToLower(
		strings.TrimSpace(p.takeToken(func(r rune) bool { return r == '<' || r == '>' })))
	percent := "%"
	if g.Figure == ErrorGate {
		percent = ""
	}
	if g.Figure != "" {
		g.compare = Comparison(p.takeNext(signs))
	}
	if g.compare == Below || g.compare == Above {
		if g.bound, err = strconv.ParseFloat(p.takeNext(number+"+-"), 64); err == nil &&
			p.takeWord(number) == percent && p.isAtEnd() {
			return g, nil
		}
	}
	return g, p.fail("invalid gate: write a figure, < or >, and a change in percent, " +
		"such as 'opm < -5 %%', or 'errors > 0'")
}

// Fails says that a change must not be.
func (g Gate) Fails(change float64) bool { return g.compare.holdsFor(change, g.bound) }

// Range is a number of runs, or how many there are to be at least and at most.
type Range struct{ Least, Most int }

// mostRuns bounds what can be asked for: a thousand runs of ten minutes are a week.
const mostRuns = 1000

// ParseRange reads a range: a number such as 6, or two such as 5..9.
func ParseRange(text string) (r Range, err error) {
	p := &parser{text: text}
	if r.Least, err = strconv.Atoi(p.takeNext(count)); err == nil {
		r.Most = r.Least
		if p.takeNext(".") == ".." {
			r.Most, err = strconv.Atoi(p.takeNext(count))
		}
	}
	switch {
	case err != nil || !p.isAtEnd():
		return r, fmt.Errorf("%q is neither a number such as 6 nor a range such as 5..9", text)
	case r.Least < 1 || r.Most > mostRuns || r.Least > r.Most:
		return r, fmt.Errorf("%q must be 1 to %d, the lower number first", text, mostRuns)
	}
	return r, nil
}

// String is the range as it is written.
func (r Range) String() string {
	if r.Least < r.Most {
		return fmt.Sprintf("%d..%d", r.Least, r.Most)
	}
	return strconv.Itoa(r.Least)
}
