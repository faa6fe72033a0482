package mailbox

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"text/template"
	"time"

	"ds2/internal/conclude"
	"ds2/internal/result"
	"ds2/internal/sampling"
	"ds2/internal/workload"
)

// run is what a run is concluded from, with the workload's part of it.
type run struct {
	conclude.Input
	parametersRecord
	stateRecord
	Storage *sampling.Storage // of the first window; nil: the I/Os are not known
	Unknown string            // why
	Engine  Engine
}

// Conclude adds the achieved IOPS and the report's sections, in the order of Jetstress's report.
func (w Workload) Conclude(in conclude.Input, c *result.Conclusion) error {
	engine, known := w.Engines[in.Engine]
	if !known {
		return fmt.Errorf("conclude the run: workload %s does not run on %s", Name, in.Engine)
	}
	r := run{Input: in, Engine: engine, Unknown: "no window was measured"}
	err := result.ReadBlock(in.Spec.Own, &r.parametersRecord)
	if err = errors.Join(err, result.ReadBlock(in.Found, &r.stateRecord)); err != nil {
		return err
	}
	if len(c.Windows) > 0 {
		w := c.Windows[0]
		r.Storage, err = r.drivesDuring(in.At(w.From), in.At(w.To)).Storage()
		if err != nil {
			r.Unknown = err.Error()
		} else {
			r.addFigures(c)
		}
	}
	sections, err := r.makeSections()
	c.Sections = append(sections, r.describeTrend(c.Windows)...)
	return err
}

// drivesDuring is what the counters say of the drives in a time.
func (r run) drivesDuring(from, to time.Time) sampling.Drives {
	return sampling.Drives{Counters: r.Counters, Machine: r.Machine, From: from, To: to}
}

// addFigures adds the achieved IOPS, and what the published reports compare besides.
func (r run) addFigures(c *result.Conclusion) {
	d := r.Storage
	c.Storage = d
	c.Headline = result.NewHeadline(&result.Figure{Unit: result.IOPS, Value: d.IOPS})
	w := c.Windows[0]
	if rate := float64(w.Counts.Orders) / (w.To - w.From); rate > 0 {
		d.IOsPerOperation = new(d.IOPS / rate)
	}
	d.IOPSPerWatt = c.Power.PerWatt(d.Total())
	add := func(name string, value float64, unit string) {
		c.Conditions = append(c.Conditions, result.Condition{Name: name, Value: value, Unit: unit})
	}
	const rate = "a second"
	add(result.TotalIOPS, d.Total(), rate)
	add(result.Throughput, (d.ReadBytes+d.WrittenBytes)/(1<<20), rate)
	if mailboxes := r.AllMailboxes(); mailboxes > 0 {
		add(result.Mailboxes, mailboxes, "")
		add(result.IOPSPerMailbox, d.IOPS/mailboxes, rate)
	}
	if d.IOPSPerWatt != nil {
		add(result.TotalIOPSPerWatt, *d.IOPSPerWatt, "")
	}
}

//go:embed sections.tmpl
var sectionsText string

var sectionsTemplate = template.Must(template.New("").Funcs(template.FuncMap{
	"decimals":   formatDecimals,
	"known":      func(f *float64, n int) string { return formatDecimals(valueOf(f), n) },
	"ms":         formatMilliseconds,
	"div":        func(a, b float64) float64 { return a / b },
	"times":      func(a, b float64) float64 { return a * b },
	"mib":        func(bytes int64) float64 { return float64(bytes) / (1 << 20) },
	"operations": func() []workload.Operation { return operations },
}).Parse(sectionsText))

// makeSections are the sections that the template writes.
func (r run) makeSections() (all []result.Section, err error) {
	var text strings.Builder
	if err := sectionsTemplate.Execute(&text, r); err != nil {
		return nil, err
	}
	for line := range strings.Lines(text.String()) {
		line = strings.TrimSpace(line)
		kind, words, _ := strings.Cut(line, " ")
		if kind == "=" {
			head := []string{"what", "value"}
			all = append(all, result.Section{Title: words, Head: head, Words: true})
		}
		if kind == "=" || line == "" {
			continue
		}
		s := &all[len(all)-1]
		switch kind {
		case "!":
			s.Notes = append(s.Notes, words)
		case "|":
			s.Head = strings.Split(words, "\t")
			s.Words = false
		default:
			s.Rows = append(s.Rows, strings.Split(line, "\t"))
		}
	}
	return all, nil
}

// AllMailboxes are those of all databases.
func (r run) AllMailboxes() float64 { return float64(r.Mailboxes * len(r.Targets)) }

// Records are the records of each database, before and after the run.
func (r run) Records() [][]int64 { return [][]int64{r.RecordsBefore, r.RecordsAfter} }

// SumBefore is the bytes of all databases before the run.
func (r run) SumBefore() (sum int64) {
	for _, bytes := range r.BytesBefore {
		sum += bytes
	}
	return sum
}

// pageReads are pages a second that a server read, and the seconds that one took.
type pageReads struct {
	Rate    float64
	Seconds *float64
}

// PageReads are those of a database over the whole run.
func (r run) PageReads(target string) pageReads {
	pages, seconds := r.drivesDuring(r.Start, r.Happened.End).PageReads(target)
	return pageReads{pages, &seconds}
}

// formatDecimals is a figure with n decimals; a dash where it is not known, or of no I/O.
func formatDecimals(f float64, n int) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return "–"
	}
	return strconv.FormatFloat(f, 'f', n, 64)
}

// formatMilliseconds is a time of seconds with three decimals; a dash where it is not known.
func formatMilliseconds(seconds *float64) string { return formatDecimals(1000*valueOf(seconds), 3) }

// valueOf is a figure as the formats take it: NaN where it is not known.
func valueOf(f *float64) float64 { return *cmp.Or(f, new(math.NaN())) }
