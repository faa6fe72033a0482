package report

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"ds2/internal/compare"
	"ds2/internal/measure"
	"ds2/internal/numbers"
	"ds2/internal/result"
)

// compareAlone is a run as the only configuration of a comparison.
func compareAlone(s result.Summary) comparison {
	single := compare.Single(s)
	single.Runs[0].Counts = true // whatever it ended by: its figures are shown
	single.Median = single.Runs[0].Dir
	return comparison{compare.Comparison{
		Configurations: []compare.Configuration{{Name: "the run", Bench: single}},
	}}
}

func runView(r *result.Record, id string) view {
	s := r.Summary
	one := compareAlone(s)
	v := view{
		ID:       id,
		RunID:    r.RunID,
		Title:    say("title of a run", s),
		Headline: Headline(s),
		Byline:   byline(r.Start, "run "+r.RunID, r.KitVersion, r.Targets...),
		Figures:  one.figures(),
		draw:     func() ([]chart, error) { return charts(r, id) },
	}
	v.Figures.Head = []string{"figure", "value"}
	if s.Words.Unit == result.IOPS { // what its readers look for first
		for _, l := range s.Limits {
			name := l.Limit
			if l.Unit == result.UnitIOPS { // the published reports rank by those with the log's
				name += ", without the log's"
			}
			v.Figures.row(name, l.Value()+", "+limitWord(l))
		}
	}
	v.addRun(s)
	for _, section := range s.Sections {
		v.Tables = append(v.Tables, table{section.Title, section.Head, section.Rows, section.Words})
	}
	v.Tables = append(v.Tables, fill("scans", s), fill("windows", s), fill("response times", s),
		fill("events", s), slowestTable(s), fill("I/Os", s),
		fill("limits", s.Limits).dropEmptyColumns(),
		fill("targets", s), failureTable(s), fill("deep check", s.DeepChecks), fill("audit", s),
		costTable(one.Configurations[0]), fill("drives", s), counterTable(r), fill("environment", s),
		fill("setup of a run", s), logTable(s), fill("command", s))
	return v
}

// Headline is the figure that counts.
func Headline(s result.Summary) string { return say("headline of a run", s) }

// passOrFail is the verdict of a test of drives.
func passOrFail(s result.Summary) string {
	switch worst := result.WorstEffect(s.Findings); {
	case worst == result.Fails:
		return "Fail"
	case worst != result.Withholds && len(s.Limits) > 0:
		return "Pass"
	}
	return "Not judged"
}

// addRun adds what was found of a run, what is good to know beside it, and why its result is so.
func (v *view) addRun(s result.Summary) {
	for _, note := range sayEach("notes of a run", s) {
		v.note(note)
	}
	for _, text := range slices.Concat(sayEach("bottleneck", s), sayEach("disturbances", s)) {
		v.because(capital(sentence(text)))
	}
	v.addFindings(s.Findings, result.AuditPassed)
}

// ofCycles says that the figure that counts is that of cycles a minute.
func ofCycles(s result.Summary) bool { return s.Figure != nil && s.Figure.Unit == s.Words.Rate }

func capital(s string) string {
	first := min(len(s), 1)
	return strings.ToUpper(s[:first]) + s[first:]
}

// seriesOf lists what there are response times of: whole orders first, then the operations.
func seriesOf[V any](byName map[string]V) []string {
	names := slices.Sorted(maps.Keys(byName))
	if i := slices.Index(names, measure.WholeOrder); i > 0 {
		names = append([]string{measure.WholeOrder}, slices.Delete(names, i, i+1)...)
	}
	return names
}

func failureTable(s result.Summary) table {
	t := fill("failures", nil)
	counts := map[string][2]int64{}
	for i, failures := range [][]measure.FailureCount{s.Errors, s.Retries} {
		for _, f := range failures {
			name := f.Operation + ": " + f.Class
			n := counts[name]
			n[i] += f.Count
			counts[name] = n
		}
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		t.row(name, numbers.Integer(counts[name][0]), numbers.Integer(counts[name][1]))
	}
	return t
}

const utc = time.DateTime + " UTC"

// plain prints a number without needless decimals.
func plain(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
