package report

import (
	_ "embed"
	"fmt"
	"reflect"
	"strings"
	"text/template"
	"text/template/parse"
	"time"

	"ds2/internal/compare"
	"ds2/internal/diagnose"
	"ds2/internal/measure"
	"ds2/internal/numbers"
	"ds2/internal/result"
	"ds2/internal/tune"
)

// What is said of a record and most of its tables are templates beside the code, which say what
// stands where; the code says what is shown.
var (
	//go:embed tables.tmpl
	tableTexts string
	//go:embed sentences.tmpl
	sentenceTexts string
	//go:embed charts.tmpl
	chartTexts string

	texts = parseTexts()
)

// The ends of cells and of lines in a template are these, which no value that is filled in holds:
// clean shows control characters instead.
const (
	endOfCell = "\x1f"
	endOfLine = "\x1e"
)

// parseTexts reads the templates. A broken one ends ds2 as it begins, which every test would see;
// what a template asks of a record that this does not have is seen as it is filled, see say.
func parseTexts() *template.Template {
	// In tables a line is a row; in sentences only an empty line ends a paragraph, as in Markdown.
	lines := strings.NewReplacer("|\n", endOfCell, " | ", endOfCell, "\n", endOfLine)
	paragraphs := strings.NewReplacer("\n\n", endOfLine, "\n", " ")
	// All templates are in one set, so that a table or a headline may use a part of another.
	t := template.New("").Funcs(inTexts)
	template.Must(t.Parse(lines.Replace(tableTexts + chartTexts)))
	template.Must(t.Parse(paragraphs.Replace(sentenceTexts)))
	for _, each := range t.Templates() {
		cleanValues(each.Root)
	}
	return t
}

// cleanValues has each value that a template prints go through clean, as html/template adds its
// own escaping: a text of a record ends no cell and no row.
func cleanValues(node parse.Node) {
	switch n := node.(type) {
	case *parse.ListNode:
		if n == nil { // no else
			return
		}
		for _, each := range n.Nodes {
			cleanValues(each)
		}
	case *parse.IfNode:
		cleanValues(&n.BranchNode)
	case *parse.WithNode:
		cleanValues(&n.BranchNode)
	case *parse.RangeNode:
		cleanValues(&n.BranchNode)
	case *parse.BranchNode:
		cleanValues(n.List)
		cleanValues(n.ElseList)
	case *parse.ActionNode:
		if len(n.Pipe.Decl) == 0 { // else it prints nothing
			name := parse.NewIdentifier("clean")
			n.Pipe.Cmds = append(n.Pipe.Cmds,
				&parse.CommandNode{NodeType: parse.NodeCommand, Args: []parse.Node{name}})
		}
	}
}

// inTexts are the functions of the templates. What they take as any or as a pointer may be unknown,
// and is empty then.
var inTexts = template.FuncMap{
	// figures
	// A rate has as many digits as its interval carries, all other figures three that matter.
	"opm":         func(v any, half *float64) string { return opmOf(pointerTo(v), half) },
	"uncertainty": uncertainty,
	"figure":      func(v any) string { return figureOr(pointerTo(v)) },
	"whole":       func(n reflect.Value) string { return numbers.Integer(reflect.Indirect(n).Int()) },
	"decimals":    numbers.Decimals,
	"known": func(v *float64, decimals int) string {
		return showKnown(v, func(v float64) string { return numbers.Decimals(v, decimals) })
	},
	"dash": func(v *float64, scale float64) string {
		if v == nil {
			return "–"
		}
		return figure(scale * *v)
	},
	"rate": func(v float64) string {
		return orDash(v, func(v float64) string { return numbers.Decimals(v, 3) })
	},
	"seconds": seconds,
	"plain":   plain,
	"share":   numbers.Share[int64],
	"MB":      megabytes,
	"GB": func(bytes int64, decimals int) string {
		return numbers.Decimals(float64(bytes)/1e9, decimals)
	},
	"worth": numbers.Worth,
	"times": numbers.Times,
	"percent": func(before, after float64) string {
		d := compare.Between(before, after)
		return d.PercentText(d.Percent)
	},
	"percentOf": func(part, whole float64) string { return numbers.Share(part, whole, 0) },
	"differenceOf": func(d measure.Difference) (of compare.Difference) {
		if d.Why == "" {
			of.Low = &d.Change.Low
			of.High = &d.Change.High
		}
		return of
	},
	"perPrice":  figureByPrice,
	"counting":  compare.Counted,
	"medianRun": medianRun,
	"users":     users,
	"counted":   counted,
	"clock":     func(at time.Time) string { return at.UTC().Format(utc) },

	// arithmetic
	// Records hold base units, seconds and bytes; tables show ms and MB.
	"scale": func(v, by float64) float64 { return v * by },
	"minus": func(a, b float64) float64 { return a - b },
	"least": func(a, b int64) int64 { return min(a, b) },
	"next":  func(i int) int { return i + 1 },

	// words
	"clean": func(v reflect.Value) any {
		if v.Kind() == reflect.String {
			return clean(v.String())
		}
		return v
	},
	"join":      strings.Join,
	"capital":   capital,
	"lower":     strings.ToLower,
	"limitedBy": func(what string) string { return diagnose.LimitedBy[what] },
	"ofDevice":  diagnose.OfDevice,
	"failed":    result.FailedAttemptsText,
	"verdict":   verdictWord,
	"judged":    limitWord,
	"passed":    passOrFail,
	"trial":     trialVerdict,

	// parts of records
	"ofCycles":    ofCycles,
	"byUsers":     tune.ByUsers,
	"last":        func(all reflect.Value) reflect.Value { return all.Index(all.Len() - 1) },
	"fewestDays":  func() int { return measure.FewestDays },
	"disclosures": func() []string { return result.Disclosures },
	"condition":   compare.FindCondition,
	"series":      seriesOf[measure.Latency],
	// The first of the kinds that was found says how a check ended. Where none was, it was not
	// made: a form says so in place of nothing.
	"verified": func(r *result.Record, kinds ...result.FindingKind) string {
		if f := result.FindingOf(r.Findings, kinds...); f != nil {
			return capital(f.Words())
		}
		return "not checked"
	},
}

// pointerTo is a figure of a record, which may be unknown.
func pointerTo(v any) *float64 {
	if f, known := v.(float64); known {
		return &f
	}
	return v.(*float64)
}

// say fills the text of a name with what it is about, as far as it can be filled: an error stands
// in the text, whose page is of use without it.
func say(name string, of any) string {
	var text strings.Builder
	if err := texts.ExecuteTemplate(&text, name, of); err != nil {
		fmt.Fprint(&text, err)
	}
	return strings.Trim(text.String(), " "+endOfLine)
}

// sayEach is each line or paragraph of a text that is not empty.
func sayEach(name string, of any) []string {
	return filled(mapEach(strings.Split(say(name, of), endOfLine), trimBlanks))
}

// trimBlanks takes away the blanks that stand around a text in a template, and nothing that a
// record has at its ends.
func trimBlanks(text string) string { return strings.Trim(text, " ") }

// fill is the table of a name, filled with what it is about.
func fill(name string, of any) (t table) {
	for i, line := range sayEach(name, of) {
		cells := splitCells(line)
		switch i {
		// "words: Setup" or "figures: Windows"
		case 0:
			kind, caption, _ := strings.Cut(line, ":")
			t.Words = kind == "words"
			t.Caption = trimBlanks(caption)
		case 1:
			t.Head = cells
		default:
			t.row(cells...)
		}
	}
	return t
}

// newChart is the chart of a name, without its lines.
func newChart(id, name string, of any, at place) chart {
	// A chart has these fields however much of its template could be filled.
	lines := append(sayEach(name, of), "", "")
	scale, heading, _ := strings.Cut(lines[0], ":")
	cells := append(splitCells(heading), "", "")
	return chart{
		ID: id, Title: cells[0], YName: cells[1], XName: cells[2], Text: lines[1],
		Log: scale == "logarithmic", Place: at,
	}
}

// splitCells parts a line of a template.
func splitCells(line string) []string {
	return mapEach(strings.Split(line, endOfCell), trimBlanks)
}
