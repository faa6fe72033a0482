package limit

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
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

// Parse reads one limit, such as "order p95 < 500ms", "errors < 0.1%", "device read mean < 20ms" or
// "opm > 60000". The operations are those that are known; where there are none, as of a record, any
// word is one.
func Parse(text string, operations ...string) (l Limit, err error) {
	p := &parser{text: text}
	l.Subject = p.takeWord(signs)
	if name := l.Subject; name == "device" || name == "data" || name == "log" {
		l.Subject += " " + p.takeWord(signs)
		if _, known := subjects[l.Subject]; !known {
			return l, p.fail("write %s read or %s write", name, name)
		}
	}
	kind, known := subjects[l.Subject]
	if !known {
		kind = operation
		known = slices.Contains(operations, l.Subject) || len(operations) == 0 && l.Subject != ""
	}
	if _, isPercentile := percentile(l.Subject); isPercentile && !known {
		return l, p.fail("name the operation first, such as order %s", l.Subject)
	}
	if !known {
		all := slices.AppendSeq(slices.Clone(operations), maps.Keys(subjects))
		slices.Sort(all)
		return l, p.fail("unknown figure %q; known: %s", l.Subject,
			strings.Join(slices.Compact(all), ", "))
	}
	if kind.unit == result.UnitSeconds {
		l.Stat = p.takeWord(signs)
		_, isPercentile := percentile(l.Stat)
		switch {
		case l.Stat == "mean", l.Stat == "max", isPercentile && kind.percentiles:
		case kind.percentiles:
			return l, p.fail(
				"%s needs a statistic: mean, max, or a percentile such as p95 or p99.9", l.Subject)
		default:
			return l, p.fail("%s is measured once a second: its statistic is mean or max",
				l.Subject)
		}
	}
	// A limit on the wrong side would pass the slow store and fail the fast one.
	l.Compare = Comparison(p.takeNext(signs))
	switch {
	case kind.unit.Lower() && l.Compare != Above && l.Compare != AtLeast:
		return l, p.fail("%s has a lower limit: write > or >=", l.Metric)
	case !kind.unit.Lower() && l.Compare != Below && l.Compare != AtMost:
		return l, p.fail("%s has an upper limit: write < or <=", l.Metric)
	}
	digits := p.takeNext(number)
	value, err := strconv.ParseFloat(digits, 64)
	switch {
	case err != nil:
		return l, p.fail("write a number, such as %s", bounds[kind.unit].example)
	case value == 0 && l.Compare == Below:
		return l, p.fail("nothing is below 0; write <= 0 for none at all")
	}
	suffix := p.takeWord(number)
	factor, known := bounds[kind.unit].factors[suffix]
	if !known {
		return l, p.fail("%s", strings.ReplaceAll(bounds[kind.unit].refusal, "NUMBER", digits))
	}
	if !p.isAtEnd() {
		return l, p.fail("the limit ends before this; give --limit once for each limit")
	}
	l.Bound, l.text = value*factor, fmt.Sprintf("%s %s %s", l.Metric, l.Compare, digits+suffix)
	return l, nil
}

// parser walks over a limit; start is where the last token began and pos where it ended.
type parser struct {
	text       string
	start, pos int
}

// Signs of comparisons and of numbers.
const (
	signs  = "<>=!"
	count  = "0123456789"
	number = count + "."
)

// takeNext takes the next token that consists of some characters; it is empty where none stands
// there.
func (p *parser) takeNext(of string) string {
	return p.takeToken(func(r rune) bool { return !strings.ContainsRune(of, r) })
}

// takeWord takes the next token up to a blank or to some characters.
func (p *parser) takeWord(end string) string {
	return p.takeToken(
		func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(end, r) })
}

// takeToken takes what stands before a character that ends it, after blanks.
func (p *parser) takeToken(ends func(rune) bool) string {
	rest := strings.TrimLeftFunc(p.text[p.pos:], unicode.IsSpace)
	p.start = len(p.text) - len(rest)
	end := strings.IndexFunc(rest, ends)
	if end < 0 {
		end = len(rest)
	}
	p.pos = p.start + end
	return rest[:end]
}

// isAtEnd says that nothing follows; what does is the last token.
func (p *parser) isAtEnd() bool { return p.takeWord("") == "" }

// fail is the reason why a limit cannot be read and, below it, the limit with a caret under the
// last token.
func (p *parser) fail(format string, args ...any) error {
	// The caret stands under the token only where each sign before it takes one column.
	flat := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, p.text)
	before := utf8.RuneCountInString(p.text[:p.start])
	return fmt.Errorf("%s\n  %s\n  %s^", fmt.Sprintf(format, args...), flat,
		strings.Repeat(" ", before))
}

// bounds are how those in a unit are written, what is said of a suffix that is none of the unit's,
// and what takes a written unit to the base unit.
var bounds = map[result.Unit]struct {
	example, refusal string
	factors          map[string]float64
}{
	result.UnitSeconds: {
		"500ms",
		"a latency needs a unit: us, ms, s or m, such as NUMBERms",
		map[string]float64{"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "m": 60},
	},
	result.UnitRatio: {
		"0.1%",
		"a share needs a percent sign, such as NUMBER%",
		map[string]float64{"%": 0.01},
	},
	result.UnitOPM:  {"60000", "OPM is a number without a unit", plain},
	result.UnitIOPS: {"250", "IOPS is a number without a unit", plain},
}

// plain is of figures that are written without a unit.
var plain = map[string]float64{"": 1}

// presets are sets of limits under a name: those of Jetstress for the versions of Exchange, in its
// performance test and in its stress test (WORKLOAD.md section 7). Reads of the data and writes of
// the log have limits; writes of the data have none. The maxima are over means of 15 s.
var presets = map[string]string{ // the longest maximum of each
	"exchange2007":        "50ms",
	"exchange2007-stress": "100ms",
	"exchange2013":        "100ms",
	"exchange2013-stress": "200ms",
}

// stressTime is the length of a run over which it is a stress test, in Jetstress.
const stressTime = 6 * time.Hour

// Presets are the names of the sets of limits, in order.
func Presets() []string { return slices.Sorted(maps.Keys(presets)) }

// ForRun reads limits, and names of presets among them, for a run of a length. A preset stands for
// that of the stress test where the run is one.
func ForRun(texts []string, run time.Duration, operations ...string) ([]Limit, error) {
	var all []string
	for _, text := range texts {
		maximum, known := presets[text]
		if stress, has := presets[text+"-stress"]; has && run > stressTime {
			maximum = stress
		}
		switch {
		case known:
			all = append(all,
				"data read mean < 20ms", "data read max < "+maximum,
				"log write mean < 10ms", "log write max < "+maximum)
		case strings.ContainsAny(text, "<> "):
			all = append(all, text)
		default:
			return nil, fmt.Errorf(
				"%q is neither a limit, such as 'order p95 < 500ms', nor a set of limits: %s", text,
				strings.Join(Presets(), ", "))
		}
	}
	return ParseAll(all, operations...)
}

// ParseAll reads limits in order, as Parse does, and stops at the first that cannot be read.
func ParseAll(texts []string, operations ...string) ([]Limit, error) {
	limits := make([]Limit, len(texts))
	for i, text := range texts {
		var err error
		if limits[i], err = Parse(text, operations...); err != nil {
			return nil, err
		}
	}
	return limits, nil
}
