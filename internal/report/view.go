package report

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"ds2/internal/escape"
	"ds2/internal/result"
)

// view is what there is to read of one result: of a run, a bench, a comparison, a device, a search
// or a history. Page, text, Markdown and CSV print the same view, so that they never disagree.
type view struct {
	ID       string // of its part of the page
	RunID    string // or what else links to it are to say
	Title    string
	Headline string // the result in a sentence
	Byline   string // when, and with what
	Part     bool   // of the view before it: only for those who ask

	Findings []finding
	Notes    []string // beside the findings
	Figures  table
	Why      []string
	Tables   []table // for those who ask

	// draw makes the charts, which read all samples: only pages need them; nil: there are none.
	draw   func() ([]chart, error)
	Charts []chart
}

// finding is a sentence about a result, and what it means for that.
type finding struct {
	Effect result.Effect
	Text   string
}

// Worst is the worst effect of what was found; empty where nothing was.
func (v view) Worst() (worst result.Effect) {
	for _, f := range v.Findings {
		worst = slices.MinFunc([]result.Effect{worst, f.Effect}, result.CompareEffects)
	}
	return worst
}

// Light is how far the result can be trusted, by the worst that was found.
func (v view) Light() string { return v.Worst().Level() }

// fewReasons is how many findings stand beside the light where no more speak against the result.
const fewReasons = 3

// Reasons are all findings that speak against the result and, where these are few, some that speak
// for it.
func (v view) Reasons() []string {
	all := v.reasons(result.Informs)
	return all[:max(len(v.reasons(result.Reserves)), min(fewReasons, len(all)))]
}

// All are all findings, and what is good to know beside them.
func (v view) All() []string { return slices.Concat(v.reasons(result.Informs), v.Notes) }

// reasons are the findings of an effect or a worse one, the worst first.
func (v view) reasons(from result.Effect) (texts []string) {
	// Stable, so that findings of one effect stay in the order of their kinds.
	worstFirst := func(a, b finding) int { return result.CompareEffects(a.Effect, b.Effect) }
	for _, f := range slices.SortedStableFunc(slices.Values(v.Findings), worstFirst) {
		if !from.Worse(f.Effect) {
			texts = append(texts, f.Text)
		}
	}
	return texts
}

// addFinding adds a finding that the record does not have, worded as by fmt.Sprintf.
func (v *view) addFinding(effect result.Effect, format string, args ...any) {
	text := capital(sentence(fmt.Sprintf(format, args...)))
	v.Findings = append(v.Findings, finding{effect, text})
}

// note adds what is good to know; nothing where the text is empty.
func (v *view) note(text string) {
	if text != "" {
		v.Notes = append(v.Notes, capital(sentence(text)))
	}
}

// addFindings adds findings of a record, those that weigh most first. One of the kind below stands
// below the figures instead, on the first screen however much weighs more.
func (v *view) addFindings(all []result.Finding, below ...result.FindingKind) {
	for _, f := range result.OfAll(result.ByWeight(all)) {
		text := sentence(f.Words())
		if f.Configuration == "" && f.Of == "" { // else it may begin with a name
			text = capital(text)
		}
		if slices.Contains(below, f.Kind) {
			v.because(text)
			continue
		}
		v.Findings = append(v.Findings, finding{f.Effect, text})
	}
}

// because adds what explains the result, as far as there is anything.
func (v *view) because(texts ...string) { v.Why = append(v.Why, filled(texts)...) }

// filled are the texts that are not empty.
func filled(texts []string) []string {
	return slices.DeleteFunc(texts, func(text string) bool { return text == "" })
}

// place says where a chart stands on the page.
type place string

const (
	second  place = "" // below the first screen
	picture place = "picture"
	small   place = "small" // beside the picture
	folded  place = "folded"
)

// At are the charts of a place, in the order in which they were drawn.
func (v view) At(p place) []chart {
	return slices.DeleteFunc(slices.Clone(v.Charts), func(c chart) bool { return c.Place != p })
}

// byline says when and with what a result came about; what is not known is left out.
func byline(start time.Time, run, kit string, where ...string) string {
	at := ""
	if !start.IsZero() {
		at = start.UTC().Format("2006-01-02 15:04 UTC")
	}
	if kit != "" {
		kit = "ds2 " + kit
	}
	return strings.Join(filled([]string{at, run, kit, strings.Join(where, ", ")}), " · ")
}

// clean is a text of others, safe to show.
func clean(text string) string { return escape.Text(text) }

// cleaned is a view with all its texts clean: nothing reaches a page or a terminal but through it.
func cleaned(v view) view {
	cleanAll(reflect.ValueOf(&v).Elem())
	return v
}

// cleanAll cleans all texts in a value.
func cleanAll(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			v.SetString(clean(v.String()))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			cleanAll(v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			cleanAll(v.Index(i))
		}
	}
}
