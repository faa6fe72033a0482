package report

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"ds2/internal/limit"
	"ds2/internal/measure"
	"ds2/internal/result"
)

// Configuration is one thing compared: a bench, or a single run taken for one.
type Configuration struct {
	Name string `json:"name"`
	Dir  string `json:"dir"`
	result.Bench
}

// ReadConfiguration reads the bench or the run that argument names: DIR, or NAME=DIR.
func ReadConfiguration(argument string) (Configuration, error) {
	name, dir, named := strings.Cut(argument, "=")
	if !named {
		dir = argument
		name = filepath.Base(filepath.Clean(dir))
	}
	c := Configuration{Name: name, Dir: dir}
	var err error
	if c.Bench, err = result.ReadBench(dir); !errors.Is(err, result.ErrNoBench) {
		return c, err
	}
	r, err := result.Read(dir)
	if err != nil {
		return c, err
	}
	if r.OPM == nil {
		return c, fmt.Errorf("compare %s: the run has no OPM; it ended before its first window did", dir)
	}
	c.Bench = single(r.Summary)
	return c, nil
}

// single is a run as a bench of one.
func single(s result.Summary) result.Bench {
	run := result.BenchRun{Dir: ".", Status: s.Status, Counts: true, OPM: s.OPM, CI95: s.Windows[0].CI95}
	b := result.Bench{Start: s.Start, End: s.End, OPM: s.OPM, CI95: run.CI95, Limits: s.Limits, Median: run.Dir, Setup: result.Setup{
		Engine: s.Engine, Targets: s.Targets, Size: s.Size, Threads: s.Threads, Seed: s.Seed, Parameters: s.Parameters, Runs: 1}}
	if s.Power != nil {
		run.Idle, run.Active = s.Power.Idle, s.Power.Active
		b.Idle, b.Active, b.OPMPerWatt = s.Power.Idle, s.Power.Active, s.Power.OPMPerWatt
	}
	b.Runs = []result.BenchRun{run}
	return b
}

// Comparison is configurations side by side, and by how much each differs from the first.
type Comparison struct {
	Configurations []Configuration `json:"configurations"`
	Differences    []Difference    `json:"differences"`
	Warnings       []string        `json:"warnings,omitempty"` // limits that failed, and what makes the configurations no equals
}

// Difference is by how much one figure of a configuration differs from that of the first: in percent of it, of the values
// that stand for the configurations. The confidence interval and P are those of measure.Compare over all runs that
// count; they are absent where either configuration has fewer than two.
type Difference struct {
	Name        string   `json:"name"`
	Against     string   `json:"against"`
	Figure      string   `json:"figure"` // opm, active_w, idle_w or opm_per_active_w
	Percent     float64  `json:"percent"`
	Low         *float64 `json:"low_pct,omitempty"`
	High        *float64 `json:"high_pct,omitempty"`
	P           *float64 `json:"p,omitempty"`
	Significant *bool    `json:"significant,omitempty"` // at the 5 % level
}

// figures are what is compared: the value that stands for a configuration, and that of each run.
var figures = []struct {
	name, title string
	of          func(result.Bench) *float64
	run         func(result.BenchRun) *float64
}{
	{"opm", "OPM", func(b result.Bench) *float64 { return b.OPM }, func(r result.BenchRun) *float64 { return r.OPM }},
	{"active_w", "active power", func(b result.Bench) *float64 { return b.Active }, func(r result.BenchRun) *float64 { return r.Active }},
	{"idle_w", "idle power", func(b result.Bench) *float64 { return b.Idle }, func(r result.BenchRun) *float64 { return r.Idle }},
	{"opm_per_active_w", "OPM per watt", func(b result.Bench) *float64 { return b.OPMPerWatt }, func(r result.BenchRun) *float64 {
		if r.Active == nil || *r.Active <= 0 {
			return nil
		}
		return new(*r.OPM / *r.Active)
	}},
}

// Compare compares each configuration with the first.
func Compare(all []Configuration) Comparison {
	c := Comparison{Configurations: all, Differences: []Difference{}}
	for _, one := range all {
		if !limit.Passed(one.Limits) {
			c.Warnings = append(c.Warnings, fmt.Sprintf("%s fails its limits: %s", one.Name, limit.Failed(one.Limits)))
		}
	}
	first := all[0]
	for _, other := range all[1:] {
		for _, f := range figures {
			a, b := f.of(first.Bench), f.of(other.Bench)
			if a == nil || b == nil || *a <= 0 || *b <= 0 {
				continue
			}
			d := Difference{Name: other.Name, Against: first.Name, Figure: f.name, Percent: 100 * (*b / *a - 1)}
			if change := measure.Compare(ofRuns(first.Bench, f.run), ofRuns(other.Bench, f.run)); !math.IsNaN(change.Low) {
				d.Low, d.High, d.P, d.Significant = &change.Low, &change.High, &change.P, new(change.Significant())
			}
			c.Differences = append(c.Differences, d)
		}
		c.Warnings = append(c.Warnings, unlike(first, other)...)
	}
	return c
}

func ofRuns(b result.Bench, of func(result.BenchRun) *float64) (values []float64) {
	for _, r := range counted(b) {
		if v := of(r); v != nil && *v > 0 {
			values = append(values, *v)
		}
	}
	return values
}

// unlike says in what two configurations differ that ought to be alike.
func unlike(a, b Configuration) (warnings []string) {
	x, y := a.Setup, b.Setup
	for _, p := range []struct {
		name string
		a, b any
	}{
		{"engine", x.Engine, y.Engine},
		{"size", x.Size, y.Size},
		{"threads", x.Threads, y.Threads},
		{"run time in seconds", x.Parameters.RunTime, y.Parameters.RunTime},
		{"warm-up in seconds", x.Parameters.WarmupTime, y.Parameters.WarmupTime},
		{"think time in seconds", x.Parameters.ThinkTime, y.Parameters.ThinkTime},
		{"orders due a second", x.Parameters.Rate, y.Parameters.Rate},
		{"percentage of new customers", x.Parameters.PctNewCustomers, y.Parameters.PctNewCustomers},
		{"windows", strings.Join(x.Parameters.Windows, ", "), strings.Join(y.Parameters.Windows, ", ")},
	} {
		if p.a != p.b {
			warnings = append(warnings, fmt.Sprintf("%s and %s were not run alike: %s %v and %v", a.Name, b.Name, p.name, p.a, p.b))
		}
	}
	return warnings
}

// CompareText writes the storage report's table (WORKLOAD.md section 6), what is wrong with marked runs, and the differences.
func CompareText(w io.Writer, c Comparison) error {
	var b strings.Builder
	b.WriteString(comparedTable(c).text())
	for _, one := range c.Configurations {
		for _, r := range one.Runs {
			if len(r.Marks) > 0 {
				fmt.Fprintf(&b, "\n%s\n", markText(one.Name, r))
			}
		}
	}
	for i, d := range c.Differences {
		if i == 0 || c.Differences[i-1].Name != d.Name {
			fmt.Fprintf(&b, "\n%s against %s:\n", d.Name, d.Against)
		}
		fmt.Fprintf(&b, "  %-13s %s\n", titleOf(d.Figure), d.Text())
	}
	for _, warning := range c.Warnings {
		fmt.Fprintf(&b, "\nwarning: %s\n", warning)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func counted(b result.Bench) (runs []result.BenchRun) {
	for _, r := range b.Runs {
		if r.Counts {
			runs = append(runs, r)
		}
	}
	return runs
}

// markText says what is wrong with a run: "6-ssd, run-2, 36,688.7 OPM, does not count: not steady: …".
func markText(name string, r result.BenchRun) string {
	text := name + ", " + r.Dir
	if r.OPM != nil {
		text += ", " + decimal(r.OPM, 1) + " OPM"
	}
	if !r.Counts {
		text += ", does not count"
	}
	return text + ": " + strings.Join(r.Marks, "; ")
}

func titleOf(figure string) string {
	for _, f := range figures {
		if f.name == figure {
			return f.title
		}
	}
	return figure
}

// Text is the difference in words: "+35 % (95 % confidence +31 to +45 %, p = 0.0001: significant)".
func (d Difference) Text() string {
	if d.Low == nil {
		return fmt.Sprintf("%+.0f %% (significance unknown: it takes two runs of each, with scatter)", d.Percent)
	}
	verdict := "not significant"
	if *d.Significant {
		verdict = "significant"
	}
	return fmt.Sprintf("%+.0f %% (95 %% confidence %+.0f to %+.0f %%, p = %.2g: %s)", d.Percent, *d.Low, *d.High, *d.P, verdict)
}

// CompareJSON writes the comparison as one object.
func CompareJSON(w io.Writer, c Comparison) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(c)
}

// CompareCSV writes a line a run.
func CompareCSV(w io.Writer, c Comparison) error {
	out := csv.NewWriter(w)
	out.Write([]string{"configuration", "run", "counts", "stands", "opm", "opm_ci95", "idle_w", "active_w", "marks"})
	number := func(v *float64) string {
		if v == nil {
			return ""
		}
		return strconv.FormatFloat(*v, 'f', -1, 64)
	}
	for _, one := range c.Configurations {
		for i, r := range one.Runs {
			out.Write([]string{one.Name, strconv.Itoa(i + 1), strconv.FormatBool(r.Counts), strconv.FormatBool(r.Dir == one.Median),
				number(r.OPM), number(r.CI95), number(r.Idle), number(r.Active), strings.Join(r.Marks, "; ")})
		}
	}
	out.Flush()
	return out.Error()
}
