// Package history puts the records of one configuration in the order of time: what changed from one
// to the next, where its result came to another level, and what a new day is compared with. How
// levels are told apart is in package measure, and how a history is shown in package report.
package history

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ds2/internal/compare"
	"ds2/internal/conclude"
	"ds2/internal/measure"
	"ds2/internal/result"
)

// History is the benches and runs of one configuration in the order of time.
type History struct {
	Figure string `json:"figure"` // that it is about
	Days   []Day  `json:"days"`
	// Changes are where its level changed, from the day Name on; P is the probability that equal
	// days show one as large.
	Changes []compare.Difference `json:"changes"`
	// Low and High are what a new day of the last level lies between, in 95 %; absent: unknown.
	Low      *float64         `json:"expected_low,omitempty"`
	High     *float64         `json:"expected_high,omitempty"`
	Findings []result.Finding `json:"findings,omitempty"`
	Metric   compare.Metric   `json:"-"`
}

// Day is one bench or run.
type Day struct {
	compare.Configuration `json:"-"`
	Day                   string    `json:"day"`
	Path                  string    `json:"dir"` // or the archive
	Start                 time.Time `json:"start"`
	Version               string    `json:"kit_version"`
	// Value is the geometric mean of its runs, and CI95 half its own interval; absent: unknown.
	Value *float64 `json:"value,omitempty"`
	CI95  *float64 `json:"ci95,omitempty"`
	// Why it does not count; empty: it does.
	Why     string             `json:"does_not_count,omitempty"`
	Differs []result.Differing `json:"differs_from_day_before,omitempty"`
}

// Read reads the histories of all records in directories, or in archives, which unpack makes
// directories of: one of each configuration, that of the most days first. A record that has no
// result, or that cannot be read, is left out and named.
func Read(
	read conclude.Reader,
	paths []string,
	unpack func(string) (string, error),
) (all []History, err error) {
	var days []Day
	var out []result.Finding
	why := result.NoRecord("there is no record: name directories that runs, benches or experiments wrote")
	for _, path := range paths {
		found, err := findRecords(path)
		if err != nil {
			return nil, err
		}
		for _, record := range found {
			these, without, err := readRecord(read, record, unpack)
			if err != nil {
				out = append(out, result.NewFinding(result.RecordLeftOut, err.Error()))
				why = err
			}
			days = append(days, these...)
			out = append(out, without...)
		}
	}
	if len(days) == 0 {
		return nil, fmt.Errorf("history of %s: %w", strings.Join(paths, ", "), why)
	}
	slices.SortStableFunc(days, func(a, b Day) int { return a.Start.Compare(b.Start) })
	for _, day := range days {
		all = sortIn(all, day)
	}
	slices.SortStableFunc(all, func(a, b History) int { return len(b.Days) - len(a.Days) })
	for i := range all {
		all[i].concludeDays()
		if i > 0 {
			first := all[0].Days[0].Configuration
			text := result.NameSome(findUnlike(first, all[i].Days[0].Configuration), "; ")
			text = "it is apart from the first history: " + cmp.Or(text, "another unit")
			all[i].addFinding(result.OtherHistory, text)
		}
	}
	all[0].Findings = append(all[0].Findings, out...)
	return all, nil
}

// findRecords finds the records below a path: directories with a summary, and archives.
func findRecords(path string) (found []string, err error) {
	root, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, fmt.Errorf("find records: %w", err)
	}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.Type().IsRegular() && filepath.Ext(path) == result.ArchiveExt:
			found = append(found, path)
		case entry.IsDir():
			if _, err := os.Stat(filepath.Join(path, result.SummaryFile)); err == nil {
				found = append(found, path)
				return fs.SkipDir
			}
		}
		return nil
	})
	return found, err
}

// readRecord reads the days of a record: of an experiment one of each configuration.
func readRecord(
	read conclude.Reader,
	path string,
	unpack func(string) (string, error),
) (days []Day, out []result.Finding, err error) {
	dir, err := unpack(path)
	if err != nil {
		return nil, nil, err
	}
	found, out, err := compare.ReadConfigurations(read, []string{"=" + dir})
	for _, c := range found {
		at := path
		if dir == path {
			at = c.Dir
		}
		days = append(days, Day{
			Configuration: c, Path: at, Start: c.Bench.Start, Version: c.KitVersion,
		})
	}
	return days, out, err
}

// sortIn puts a day into the history of its configuration; one that is there already, as beside its
// archive, stays once.
func sortIn(all []History, day Day) []History {
	for i, h := range all {
		last := h.Days[len(h.Days)-1]
		// What the first record does not know of itself the last may, and the other way round.
		unlike := slices.Concat(findUnlike(h.Days[0].Configuration, day.Configuration),
			findUnlike(last.Configuration, day.Configuration))
		if len(unlike) > 0 || h.Days[0].Unit() != day.Unit() {
			continue
		}
		if !slices.ContainsFunc(h.Days, func(d Day) bool {
			return isSame(d.Configuration, day.Configuration)
		}) {
			all[i].Days = append(h.Days, day)
		}
		return all
	}
	return append(all, History{Days: []Day{day}})
}

// isSame says that two records are of one bench or run.
func isSame(a, b compare.Configuration) bool {
	return a.RunID == b.RunID && a.Bench.Start.Equal(b.Bench.Start)
}

// findUnlike finds in what two records are not of one configuration.
func findUnlike(a, b compare.Configuration) (unlike []string) {
	setups := []result.Setup{a.Setup(), b.Setup()}
	for _, d := range result.FindDiffering(setups, result.History) {
		if text := d.Between(0, 1); text != "" {
			unlike = append(unlike, text)
		}
	}
	return unlike
}

// addFinding adds one that is of the history as a whole.
func (h *History) addFinding(kind result.FindingKind, text string) {
	h.Findings = append(h.Findings, result.NewFinding(kind, text))
}

// concludeDays says what the days come to.
func (h *History) concludeDays() {
	var configurations []compare.Configuration
	on := map[string]int{} // each date
	for _, d := range h.Days {
		configurations = append(configurations, d.Configuration)
		on[d.Start.UTC().Format(time.DateOnly)]++
	}
	h.Metric = compare.StatedOf(configurations)
	last := h.Days[len(h.Days)-1]
	h.Figure = last.Title(h.Metric)
	uncounted := map[string][]string{} // days, by why
	for i := range h.Days {
		d := &h.Days[i]
		d.Day = d.Start.UTC().Format(time.DateOnly)
		if on[d.Day] > 1 {
			d.Day = d.Start.UTC().Format(time.DateTime) // of several on one date each with its time
		}
		d.Name = d.Day
		d.Value = h.Metric.Middle(d.Configuration, true)
		if h.Metric.Name == compare.Main {
			d.CI95 = d.Half()
		}
		if i > 0 {
			setups := []result.Setup{h.Days[i-1].Setup(), d.Setup()}
			d.Differs = result.FindDiffering(setups, result.History)
		}
		if d.Why = whyNot(d.Configuration, d.Value); d.Why != "" {
			uncounted[d.Why] = append(uncounted[d.Why], d.Day)
		}
	}
	for _, why := range slices.Sorted(maps.Keys(uncounted)) {
		h.addFinding(result.DayUncounted,
			"not counted ("+why+"): "+result.NameSome(uncounted[why], ", "))
	}
	counted := h.Counted()
	values := valuesOf(counted)
	for _, c := range measure.ChangePoints(values) {
		day := counted[c.At]
		by := compare.Difference{
			Name: day.Day, Against: counted[c.At-1].Day, Figure: h.Figure,
			Percent: c.Percent, Low: &c.Low, High: &c.High, P: &c.P,
		}
		h.Changes = append(h.Changes, by)
		text := fmt.Sprintf("%s changed on %s by %s (95 %% confidence %s, %s, as the largest "+
			"change of all days)", h.Figure, by.Name, by.PercentText(by.Percent), by.IntervalText(),
			measure.Significance(c.P, measure.ChangePointLevel))
		if differs := day.DiffersText(); differs != "" {
			text += "; new on that day: " + differs
		}
		h.addFinding(result.LevelChanged, text)
	}
	switch {
	// With fewer, chance alone makes level shifts as large as any found.
	case len(values) < measure.FewestDays:
		h.addFinding(result.FewDays,
			fmt.Sprintf("days that count: %d; it takes %d to find a change of %s",
				len(values), measure.FewestDays, h.Figure))
	case len(h.Changes) == 0:
		h.addFinding(result.LevelKept, fmt.Sprintf("no change of %s was found in %d days (at %g)",
			h.Figure, len(values), measure.ChangePointLevel))
	}
	h.Findings = append(h.Findings, foldDays(counted)...)
	// A new day is expected to be as those since the last change, not as the mean of all.
	level := values[measure.LastChange(values):]
	mean := measure.GeometricMean(level)
	if room := measure.CompareDay(level, mean); room.High > 0 {
		h.Low = new(mean * (1 + room.Low/100))
		h.High = new(mean * (1 + room.High/100))
	}
}

// foldDays are the findings of the runs of some days: no level is better than what it stands on.
func foldDays(days []Day) []result.Finding {
	var runs []result.BenchRun
	for _, d := range days {
		for _, r := range compare.Counted(d.Bench) {
			name := d.Day
			if len(d.Runs) > 1 {
				name += " " + r.Dir
			}
			r.Dir = name
			runs = append(runs, r)
		}
	}
	return compare.FoldRuns(runs)
}

// whyNot is why a day does not count; empty where it does.
func whyNot(c compare.Configuration, value *float64) string {
	if doubt := compare.WithFirst([]compare.Configuration{c}).Doubt(c.Name, c.Name); doubt != nil {
		return string(doubt.Kind)
	}
	if value == nil || !(*value > 0) {
		return "it has no result"
	}
	return ""
}

// Counted are the days that count.
func (h History) Counted() []Day {
	return slices.DeleteFunc(slices.Clone(h.Days), func(d Day) bool { return d.Why != "" })
}

// valuesOf are the results of days that count, which all have one.
func valuesOf(days []Day) (values []float64) {
	for _, d := range days {
		values = append(values, *d.Value)
	}
	return values
}

// DiffersText says what is not as it was on the day before.
func (d Day) DiffersText() string {
	var texts []string
	for _, one := range d.Differs {
		texts = append(texts, one.Name+" "+strings.Join(one.Values, " → "))
	}
	return result.NameSome(texts, "; ")
}

// Against compares a new bench or run with the days before it of its own configuration, since the
// last change of their level. Where there are none, nothing can be told. What the subject names is
// meant to differ.
func Against(all []History, next compare.Configuration, subject ...string) compare.Comparison {
	past := compare.Configuration{Name: "history", Days: []compare.Configuration{}}
	past.Spec = next.Spec
	past.Status = result.Done
	add := func(kind result.FindingKind, text string) {
		f := result.NewFinding(kind, text)
		f.Configuration = past.Name
		past.Bench.Findings = append(past.Bench.Findings, f)
	}
	var unlike []string
	var values []float64
	for _, h := range all {
		before := slices.DeleteFunc(h.Counted(), func(d Day) bool {
			return isSame(d.Configuration, next) || !d.Start.Before(next.Bench.Start)
		})
		if len(before) == 0 {
			continue
		}
		last := before[len(before)-1].Configuration
		if why := findUnlike(last, next); len(why) > 0 || last.Unit() != next.Unit() {
			text := cmp.Or(result.NameSome(why, "; "), "another unit")
			unlike = append(unlike, fmt.Sprintf("%d days with %s", len(before), text))
			continue
		}
		values = valuesOf(before)
		from := measure.LastChange(values)
		// A change that was found before is no fault of the new day.
		if from > 0 {
			add(result.LevelChanged, "the level changed on "+before[from].Day+
				": the days since then count")
		}
		values = values[from:]
		for _, d := range before[from:] {
			past.Days = append(past.Days, d.Configuration)
		}
		for _, f := range foldDays(before[from:]) {
			f.Configuration = past.Name
			past.Bench.Findings = append(past.Bench.Findings, f)
		}
		past.Spec = last.Spec
	}
	past.Words.Unit = next.Unit() // also where there are no days
	others := "left aside, as of other configurations: " + result.NameSome(unlike, "; ")
	if len(unlike) == 0 {
		others = "it has none"
	}
	if len(values) == 0 {
		add(result.NotOfHistory, "no day before this one is of its configuration: "+others)
	} else if len(unlike) > 0 {
		add(result.OtherHistory, others)
	}
	if len(values) > 0 && compare.StatedOf(past.Days).Name == compare.Main {
		mean, half := measure.MeanCI95(values)
		past.Headline = result.NewHeadline(&result.Figure{Unit: next.Unit(), Value: mean})
		past.RunsMean = &mean
		if len(values) > 1 {
			past.RunsCI95 = &half
		}
	}
	return compare.WithFirst([]compare.Configuration{past, next}, subject...)
}
