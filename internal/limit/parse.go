package limit

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"ds2/internal/result"
)

// The grammar; blanks separate words and may stand around a comparison:
//
//	limit      = ( "opm" | "iops" ) lower number
//	           | ( "errors" | "dropped" ) upper number "%"
//	           | operation statistic upper duration
//	           | ( "device" | "data" | "log" ) ( "read" | "write" ) ( "mean" | "max" ) upper duration
//	           | ( "data" | "log" ) ( "read" | "write" | "flush" ) statistic upper duration
//	operation  = a word of the workload, such as "order"
//	statistic  = "mean" | "max" | "p" number
//	upper      = "<" | "<="
//	lower      = ">" | ">="
//	duration   = number ( "us" | "ms" | "s" | "m" )

// SyntaxError is a limit that cannot be read.
type SyntaxError struct {
	Text   string // the limit as it was written
	Offset int    // of the fault, in bytes
	Reason string // what would be right
}

// Error gives the reason, and below it the limit with a caret under the fault.
func (e *SyntaxError) Error() string {
	flat := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, e.Text)
	before := utf8.RuneCountInString(e.Text[:e.Offset])
	return fmt.Sprintf("%s\n  %s\n  %s^", e.Reason, flat, strings.Repeat(" ", before))
}

// Parse reads one limit, such as "order p95 < 500ms", "errors < 0.1%", "device read mean < 20ms" or "opm > 60000". Its
// errors are of type *SyntaxError. The operations are those that are known; where there are none, as of a record, any
// word is one.
func Parse(text string, operations ...string) (Limit, error) {
	p := &parser{text: text, operations: operations}
	metric, err := p.metric()
	if err != nil {
		return Limit{}, err
	}
	compare, err := p.comparison(metric)
	if err != nil {
		return Limit{}, err
	}
	bound, err := p.bound(metric.Unit(), compare)
	if err != nil {
		return Limit{}, err
	}
	return Limit{metric, compare, bound, fmt.Sprintf("%s %s %s", metric, compare, p.boundText)}, nil
}

// parser walks over a limit; start is where the last token began and pos where it ended.
type parser struct {
	text       string
	start, pos int
	boundText  string
	operations []string // empty: any word
}

// next takes the next token that consists of characters in keep; it is empty where none stands there.
func (p *parser) next(keep func(rune) bool) string {
	rest := strings.TrimLeftFunc(p.text[p.pos:], unicode.IsSpace)
	p.start = len(p.text) - len(rest)
	end := strings.IndexFunc(rest, func(r rune) bool { return !keep(r) })
	if end < 0 {
		end = len(rest)
	}
	p.pos = p.start + end
	return rest[:end]
}

func isSign(r rune) bool  { return strings.ContainsRune("<>=!", r) }
func isWord(r rune) bool  { return !isSign(r) && !unicode.IsSpace(r) }
func isDigit(r rune) bool { return r == '.' || '0' <= r && r <= '9' }
func isUnit(r rune) bool  { return !isDigit(r) && !unicode.IsSpace(r) }

// fail is a fault at the start of the last token.
func (p *parser) fail(format string, args ...any) error {
	return &SyntaxError{p.text, p.start, fmt.Sprintf(format, args...)}
}

func (p *parser) metric() (Metric, error) {
	name := p.next(isWord)
	if name == "device" || name == "data" || name == "log" {
		direction := p.next(isWord)
		if _, known := subjects[name+" "+direction]; !known {
			return Metric{}, p.fail("write %s read or %s write", name, name)
		}
		name += " " + direction
	}
	kind, known := subjects[name]
	if !known {
		kind, known = operation, slices.Contains(p.operations, name) || len(p.operations) == 0 && name != ""
	}
	if !known {
		all := slices.AppendSeq(slices.Clone(p.operations), maps.Keys(subjects))
		slices.Sort(all)
		return Metric{}, p.fail("unknown figure %q; known: %s", name, strings.Join(slices.Compact(all), ", "))
	}
	if kind.unit != result.UnitSeconds {
		return Metric{Subject: name}, nil
	}
	stat := p.next(isWord)
	_, isPercentile := percentile(stat)
	switch {
	case stat == "mean", stat == "max", isPercentile && kind.percentiles:
		return Metric{name, stat}, nil
	case kind.percentiles:
		return Metric{}, p.fail("%s needs a statistic: mean, max, or a percentile such as p95 or p99.9", name)
	default:
		return Metric{}, p.fail("%s is measured once a second: its statistic is mean or max", name)
	}
}

func (p *parser) comparison(m Metric) (Comparison, error) {
	c := Comparison(p.next(isSign))
	upper := !m.Unit().Lower()
	switch {
	case upper && (c == Below || c == AtMost), !upper && (c == Above || c == AtLeast):
		return c, nil
	case upper:
		return "", p.fail("%s has an upper limit: write < or <=", m)
	default:
		return "", p.fail("%s has a lower limit: write > or >=", m)
	}
}

func (p *parser) bound(unit result.Unit, compare Comparison) (float64, error) {
	digits := p.next(isDigit)
	value, err := strconv.ParseFloat(digits, 64)
	switch {
	case err != nil:
		return 0, p.fail("write a number, such as %s", bounds[unit].example)
	case value == 0 && compare == Below:
		return 0, p.fail("nothing is below 0; write <= 0 for none at all")
	}
	suffix := p.next(isUnit)
	factor, known := bounds[unit].factors[suffix]
	switch {
	case !known && unit == result.UnitSeconds:
		return 0, p.fail("a latency needs a unit: us, ms, s or m, such as %sms", digits)
	case !known && unit == result.UnitRatio:
		return 0, p.fail("a share needs a percent sign, such as %s%%", digits)
	case !known:
		return 0, p.fail("%s is a number without a unit", unit)
	}
	p.boundText = digits + suffix
	if p.next(func(rune) bool { return true }) != "" {
		return 0, p.fail("the limit ends before this; give --limit once for each limit")
	}
	return value * factor, nil
}

// bounds are how those in a unit are written, and what takes a written unit to the base unit.
var bounds = map[result.Unit]struct {
	example string
	factors map[string]float64
}{
	result.UnitSeconds: {"500ms", map[string]float64{"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "m": 60}},
	result.UnitRatio:   {"0.1%", map[string]float64{"%": 0.01}},
	result.UnitOPM:     {"60000", map[string]float64{"": 1}},
	result.UnitIOPS:    {"250", map[string]float64{"": 1}},
}
