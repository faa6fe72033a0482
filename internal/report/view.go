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

type view struct {
	ID       string // of its part of the page
	RunID    string // or what else links to it are to say
	Title    string
	Headline string // the result in a sentence
	Byline   string // when, and with what
	Part     bool   // of the view before it: only for those who ask

	Findings []finding
	Figures  table
	Why      []string
	Tables   []table // for those who ask

	draw   func() ([]chart, error)
	Charts []chart
}

// finding is a sentence about a result, and what it means for that.
type finding struct {
	Level level
	Text  string
	First bool // it is said before worse ones
}

// level is how far a result can be trusted.
type level int

const (
	aside       level = iota // says nothing about that
	proof                    // speaks for the result
	reservation              // the result stands, but
	unknown                  // it does not tell what was asked
	failure                  // of a limit, of the audit, of the run
)

// Light is how far the result can be trusted, by the worst that was found.
func (v view) Light() (worst level) {
	for _, f := range v.Findings {
		worst = max(worst, f.Level)
	}
	return worst
}

// Class is a level to the style sheet.
func (l level) Class() string { return [...]string{"", "good", "careful", "unknown", "bad"}[l] }

// String is a level in words; empty where nothing was found.
func (l level) String() string {
	return [...]string{"", "Trustworthy", "With reservations", "Cannot tell", "FAILED"}[l]
}

// fewReasons is how many findings stand beside the light where no more speak against the result.
const fewReasons = 3

// Reasons are all findings that speak against the result and, where these are few, some that speak
// for it.
func (v view) Reasons() []string {
	all := v.reasons(proof)
	return all[:max(len(v.reasons(reservation)), min(fewReasons, len(all)))]
}

// reasons are the findings of a level or a worse one: those that come first, then the worst.
func (v view) reasons(from level) (texts []string) {
	rank := func(f finding) level {
		if f.First {
			return failure + 1
		}
		return f.Level
	}
	worseFirst := func(a, b finding) int { return int(rank(b) - rank(a)) }
	for _, f := range slices.SortedStableFunc(slices.Values(v.Findings), worseFirst) {
		if rank(f) >= from {
			texts = append(texts, f.Text)
		}
	}
	return texts
}

func (v *view) findf(l level, format string, args ...any) {
	v.find(l, fmt.Sprintf(format, args...))
}

// find adds a finding; none where the text is empty.
func (v *view) find(l level, text string) {
	if text != "" {
		v.Findings = append(v.Findings, finding{Level: l, Text: capital(sentence(text))})
	}
}

// levels are those of effects.
var levels = map[result.Effect]level{
	result.Informs: proof, result.Reserves: reservation, result.Withholds: unknown,
	result.Fails: failure,
}

// found adds findings.
func (v *view) found(all []result.Finding) {
	for _, f := range all {
		text := sentence(f.Words())
		if f.Configuration == "" && f.Of == "" { // else it may begin with a name
			text = capital(text)
		}
		away := f.Kind == result.Away || f.Kind == result.StoodStill
		v.Findings = append(v.Findings, finding{levels[f.Effect], text, away && f.OfRuns == 0})
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

func (v view) At(p place) []chart {
	return slices.DeleteFunc(slices.Clone(v.Charts), func(c chart) bool { return c.Place != p })
}

// byline says when and with what a result came about; what is not known is left out.
func byline(start time.Time, run, kit, where string) string {
	at := ""
	if !start.IsZero() {
		at = start.UTC().Format("2006-01-02 15:04 UTC")
	}
	if kit != "" {
		kit = "ds2 " + kit
	}
	return strings.Join(filled([]string{at, run, kit, where}), " · ")
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
