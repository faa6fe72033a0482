package result

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"ds2/internal/numbers"
)

// Finding is one thing that is known of a result and bears on what it is worth. The findings of a
// run are made once, by package conclude; what stands above it, a bench, an experiment or a
// comparison, folds those of what stands below, adds its own and leaves out none. Levels, exit
// codes, gates and all that is printed go by the findings alone.
//
// A new kind is a constant and a row of findingkinds.tsv, which has its effect, its scope and its
// words, and a line that makes it: in package conclude for what a run's record shows, in package
// runs for what is only seen while the run goes on, in package compare for what several runs show.
// TestFindings of cmd/ds2 holds that it goes up.
type Finding struct {
	Kind   FindingKind `json:"kind"`
	Effect Effect      `json:"effect"`
	Scope  Scope       `json:"scope"`
	Of     string      `json:"of,omitempty"` // the targets or the drive that it is about

	// Figures are those that the words need, by name, in base units; Detail is what is known in
	// words alone, such as the message of a server.
	Figures map[string]float64 `json:"figures,omitempty"`
	Detail  string             `json:"detail,omitempty"`

	// Configuration is that of the runs, where several are compared, and Against the one that it is
	// compared with. Runs are the directories of those in which it was found, of so many.
	Configuration string   `json:"configuration,omitempty"`
	Against       string   `json:"against,omitempty"`
	Runs          []string `json:"runs,omitempty"`
	OfRuns        int      `json:"of_runs,omitempty"`
}

// Effect is what a finding means for a result.
type Effect string

// The effects, each worse than the one before.
const (
	Informs   Effect = "informs"   // the result stands
	Reserves  Effect = "reserves"  // the result stands, with that reservation
	Withholds Effect = "withholds" // the result does not tell what was asked
	Fails     Effect = "fails"     // there is no result that counts
)

var effects = []Effect{Informs, Reserves, Withholds, Fails}

// CompareEffects is below 0 where the first is the worse one.
func CompareEffects(a, b Effect) int { return slices.Index(effects, b) - slices.Index(effects, a) }

// Worse says that an effect is worse than another.
func (e Effect) Worse(than Effect) bool { return CompareEffects(e, than) < 0 }

// Level is how far a result can be trusted whose worst finding has this effect.
func (e Effect) Level() string {
	return map[Effect]string{
		Informs: "Trustworthy", Reserves: "With reservations", Withholds: "Cannot tell", Fails: "FAILED",
	}[e]
}

// WorstEffect is that of findings, on which a level, an exit code and a gate rest.
func WorstEffect(all []Finding) Effect {
	worst := Informs
	for _, f := range all {
		if f.Effect.Worse(worst) {
			worst = f.Effect
		}
	}
	return worst
}

// Scope is what a finding is about.
type Scope string

// The scopes.
const (
	OfRun           Scope = "run"
	OfTarget        Scope = "target"
	OfDrive         Scope = "drive"
	OfConfiguration Scope = "configuration"
)

// FindingKind is what was found, for scripts.
type FindingKind string

// KindOfFinding is what all findings of a kind have in common.
type KindOfFinding struct {
	Kind   FindingKind
	Effect Effect
	Scope  Scope
	// Says are the words: {name} is a figure, {name%} one in percent, {detail} the detail, {of},
	// {configuration} and {against} what it is about. A colon at the end is left out where nothing
	// follows it.
	Says string
}

// NewFinding is one of a kind, with its effect and its scope; figures come by With.
func NewFinding(kind FindingKind, detail string) Finding {
	of := kindOf(kind)
	return Finding{Kind: kind, Effect: of.Effect, Scope: of.Scope, Detail: detail}
}

// kindOf is the row of a kind.
func kindOf(kind FindingKind) KindOfFinding {
	if i := placeOf(kind); i >= 0 {
		return FindingKinds[i]
	}
	return KindOfFinding{ // of a later ds2
		Kind: kind, Effect: Reserves, Scope: OfRun, Says: string(kind) + ": {detail}",
	}
}

// placeOf is the number of the row of a kind; -1: it has none.
func placeOf(kind FindingKind) int {
	return slices.IndexFunc(FindingKinds, func(k KindOfFinding) bool { return k.Kind == kind })
}

// With adds a figure; one that is not known is left out.
func (f Finding) With(name string, value float64) Finding {
	if !math.IsNaN(value) && !math.IsInf(value, 0) {
		f.Figures = maps.Collect(maps.All(f.Figures)) // not nil, and not that of another
		f.Figures[name] = value
	}
	return f
}

// About says what the finding is about.
func (f Finding) About(of string) Finding {
	f.Of = of
	return f
}

var placeholder = regexp.MustCompile(`\{(\w+)(%?)\}`)

// Words are the finding as a sentence without its full stop.
func (f Finding) Words() string {
	text := placeholder.ReplaceAllStringFunc(kindOf(f.Kind).Says, func(of string) string {
		name := strings.Trim(of, "{%}")
		v, known := f.Figures[name]
		switch {
		case name == "detail":
			return f.Detail
		case name == "of":
			return f.Of
		case name == "configuration":
			return f.Configuration
		case name == "against":
			return f.Against
		case !known:
			return "an unknown number"
		case strings.HasSuffix(of, "%}"):
			return fmt.Sprintf("%.0f %%", 100*v)
		case v == math.Trunc(v):
			return numbers.Decimals(v, 0)
		}
		return fmt.Sprintf("%.3g", v)
	})
	return f.whose() + strings.TrimSuffix(strings.TrimSpace(text), ":")
}

// whose says of what the finding is, as far as that has to be said.
func (f Finding) whose() string {
	text := ""
	switch runs := len(f.Runs); {
	case f.OfRuns > 1:
		text = fmt.Sprintf("all %d runs", runs)
		names := ""
		if runs < f.OfRuns {
			text = fmt.Sprintf("%d of %d runs", runs, f.OfRuns)
			names = " (" + NameSome(f.Runs, ", ") + ")"
		}
		if f.Configuration != "" {
			text += " of " + f.Configuration
		}
		text += names + ": "
	case f.Configuration != "" && f.Against == "":
		text = f.Configuration + ": "
	}
	if f.Of != "" && !strings.Contains(kindOf(f.Kind).Says, "{of}") {
		text += f.Of + ": "
	}
	return text
}

// AmongRuns is the effect that the finding of one run has on several. A limit means less there than
// in a run by itself: a bench judges it by the interval of all its runs.
func (f Finding) AmongRuns() Effect {
	if f.Kind == LimitFailed || f.Kind == LimitOpen {
		return Informs
	}
	return f.Effect
}

// ByWeight are findings as they are said: the worst first, and in the order of their kinds.
func ByWeight(all []Finding) []Finding {
	return slices.SortedStableFunc(slices.Values(all), func(a, b Finding) int {
		return cmp.Or(CompareEffects(a.Effect, b.Effect),
			cmp.Compare(placeOf(a.Kind), placeOf(b.Kind)))
	})
}

// Together makes one of findings that differ only in what they are about: one sentence on two
// drives that were throttled, not two.
func Together(all []Finding) (some []Finding) {
	for _, f := range all {
		i := slices.IndexFunc(some, func(o Finding) bool {
			o.Of = f.Of
			return reflect.DeepEqual(o, f)
		})
		switch {
		case i < 0:
			some = append(some, f)
		case !slices.Contains(strings.Split(some[i].Of, ", "), f.Of):
			some[i].Of += ", " + f.Of
		}
	}
	return some
}

// OfAll makes one of findings that several configurations have in the same words. What is said of
// one against another stays apart: each has its own figures.
func OfAll(all []Finding) (some []Finding) {
	places := map[string]int{}
	for _, f := range all {
		nameless := f
		nameless.Configuration = ""
		words := nameless.Words()

		i, said := places[words]
		if said && f.Configuration != "" {
			names := &some[i].Configuration
			if !slices.Contains(strings.Split(*names, ", "), f.Configuration) {
				*names += ", " + f.Configuration
			}
			continue
		}
		if f.Configuration != "" && f.Against == "" {
			places[words] = len(some)
		}
		some = append(some, f)
	}
	return some
}

// Sentences are the words of findings that have at least an effect.
func Sentences(all []Finding, least Effect) (texts []string) {
	for _, f := range all {
		if !least.Worse(f.Effect) {
			texts = append(texts, f.Words())
		}
	}
	return texts
}

// FindingOf is the first finding of some kinds; nil where there is none.
func FindingOf(all []Finding, kinds ...FindingKind) *Finding {
	for i, f := range all {
		if slices.Contains(kinds, f.Kind) {
			return &all[i]
		}
	}
	return nil
}

// untold are the kinds by which nothing can be told of what was asked.
var untold = []FindingKind{NoResult, GateOpen, LimitOpen}

// Decided is what findings decide, in words: that something failed, or else that nothing can be
// told. Both are empty where a result counts.
func Decided(all []Finding) (failed, open string) {
	for _, f := range all {
		// Of one run among several a limit that cannot be told decides nothing: their mean does.
		if f.Effect == Withholds && slices.Contains(untold, f.Kind) {
			open = f.Words()
			break
		}
	}
	return strings.Join(Sentences(all, Fails), "; "), open
}
