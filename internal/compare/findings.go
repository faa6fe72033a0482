package compare

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"ds2/internal/conclude"
	"ds2/internal/measure"
	"ds2/internal/numbers"
	"ds2/internal/result"
)

// number is a number in words, and none that is a part of a name.
var number = regexp.MustCompile(`(^|[<>]=? ?|[ (=±×+−-])[0-9]+(?:[.,:][0-9]+)*`)

// withoutFigures are the words of a finding without what was measured. The bound of a limit, which
// was asked for, stays: two limits of one metric are two findings.
func withoutFigures(words string) string {
	return number.ReplaceAllStringFunc(words, func(found string) string {
		if strings.ContainsAny(found, "<>") {
			return found
		}
		return strings.TrimRight(found, "0123456789.,:")
	})
}

// FoldRuns puts the findings of the runs of a bench, or of the days of a history, together, those
// for practice aside: one that differs in its figures alone is one finding of several runs, the
// worst of them.
func FoldRuns(runs []result.BenchRun) (all []result.Finding) {
	runs = SelectMade(runs, false)
	at := map[string]int{}
	for _, r := range runs {
		for _, f := range r.Findings {
			key := string(f.Kind) + "\n" + f.Of + "\n" + withoutFigures(f.Detail)
			if len(runs) > 1 {
				f.Effect = f.AmongRuns()
			}
			f.OfRuns = len(runs)
			i, found := at[key]
			if !found {
				i = len(all)
				at[key] = i
				all = append(all, f)
			}
			had := all[i].Runs
			if f.Effect.Worse(all[i].Effect) {
				all[i] = f
			}
			all[i].Runs = result.AddNew(had, r.Dir) // a run may have several of a kind
		}
	}
	return all
}

// find makes the findings that a bench has beside those of its runs.
func find(b result.Bench) (all []result.Finding) {
	add := func(f result.Finding) { all = append(all, f) }
	counted := Counted(b)
	made := float64(len(counted))
	switch {
	case b.Experiment != "" && b.Status == result.Failed:
		add(result.NewFinding(result.LeftOut, b.Error).With("made", made))
	case b.Experiment == "" && b.Kind == result.KindBench && b.Status != result.Done:
		add(result.NewFinding(result.NotAllMade, string(b.Status)).
			With("made", made).With("asked", float64(b.Spec.Runs)))
	}
	switch {
	case len(counted) == 0:
		add(result.NewFinding(result.NoResult, ""))
	case b.RunsCI95 == nil:
		add(result.NewFinding(result.SingleRun, ""))
	default:
		add(agreement(b, len(counted)))
		// Of a few runs those that seem to vary little do so by chance: the interval is taken as
		// wide as their variation may make it (docs/explanation/method.md, what trustworthy
		// promises).
		half := measure.Widest(*b.RunsCI95, made-1)
		if mean := *b.RunsMean; half > conclude.WidestInterval*mean {
			add(conclude.WideInterval("of the result may be as wide as", half/mean))
		}
	}
	if len(b.Limits) > 0 && b.Limits[0].Runs > 1 && !b.Limits.Passed() {
		all = append(all, conclude.FindLimits(b.Limits)...)
	}
	dropped := 0
	for _, r := range b.Runs {
		why := OtherUnit(b, r)
		switch {
		case r.Practice || r.Counts || r.Figure == nil:
		case why != "":
			add(result.NewFinding(result.OtherFigure, r.Dir+": "+why))
		case b.DropUnsteady && r.Unsteady():
			dropped++
		}
	}
	if dropped > 0 {
		add(result.NewFinding(result.RunsDropped, "").With("runs", float64(dropped)))
	}
	all = append(all, unlikeRuns(counted)...)
	if by := sharedShare(b); by > 0 {
		shared := result.NewFinding(result.RunsShareError, "").With("share", by)
		// A run that varies by so much about its own mean does so because its state still changes,
		// as where a cache fills for longer than it lasts: how far it will go no interval knows.
		if sharedWithin(counted) > conclude.WidestInterval**b.RunsMean {
			shared.Effect = result.Withholds
		}
		add(shared)
	}
	trend := drift(counted)
	if trend == nil {
		trend = inOrder(b.Unit(), counted)
	}
	return append(all, trend...)
}

// agreement is how well runs agree.
func agreement(b result.Bench, runs int) result.Finding {
	half := *b.RunsCI95
	text := fmt.Sprintf("the %d valid runs average %s ± %s %s (95 %% confidence from run to run, "+
		"by Student's t)", runs, numbers.Worth(*b.RunsMean, half), numbers.Worth(half, half), b.Unit())
	if b.RunsSpread != nil { // not of runs that all completed nothing
		text += fmt.Sprintf("; (max − min) / mean is %.1f %%", *b.RunsSpread)
	}
	return result.NewFinding(result.RunsAgree, text)
}

// drift finds that most runs drift the same way: what they come to hangs on when they were
// measured, however little they vary. That a single run drifts is its own finding.
func drift(counted []result.BenchRun) []result.Finding {
	ways := map[result.FindingKind][]float64{}
	for _, r := range counted {
		f := result.FindingOf(r.Findings, result.Drifts)
		if f == nil {
			continue
		}
		drift := f.Figures["drift_pct"]
		kind := result.StillSlowing
		if drift > 0 {
			kind = result.StillWarming
		}
		ways[kind] = append(ways[kind], drift)
	}
	for kind, way := range ways {
		if 2*len(way) > len(counted) {
			by := fmt.Sprintf("%+.0f %% to %+.0f %%", slices.Min(way), slices.Max(way))
			if len(way) == 1 {
				by = fmt.Sprintf("%+.0f %%", way[0])
			}
			return []result.Finding{result.NewFinding(kind, by).
				With("runs", float64(len(way))).With("of_runs", float64(len(counted)))}
		}
	}
	return nil
}

// Findings are those of a bench: its own, and those of its runs, folded.
func Findings(b result.Bench) []result.Finding { return slices.Concat(find(b), FoldRuns(b.Runs)) }

// orderLevel is below which probability the runs of a bench are said to rise or fall one after the
// other. Five runs can be as far below it, if each is below the one before.
const orderLevel = 0.02

// inOrder finds that the runs of a bench rise or fall one after the other: what they come to hangs
// on how many were made. Blocks cancel what all configurations have in common.
func inOrder(unit string, counted []result.BenchRun) []result.Finding {
	var all []float64
	for _, r := range counted {
		if r.Block > 0 {
			return nil
		}
		all = append(all, r.Figure.Value)
	}
	p, up := measure.OrderTrend(all)
	if p >= orderLevel || slices.Min(all) == slices.Max(all) {
		return nil
	}
	way := "fall"
	if up {
		way = "rise"
	}
	text := fmt.Sprintf("%s one after the other, from %.0f to %.0f %s (%s)",
		way, all[0], all[len(all)-1], unit, measure.Significance(p, orderLevel))
	return []result.Finding{result.NewFinding(result.InOrder, text)}
}

// sharedShare is the error that the runs of a bench may have in common, as a share of their mean.
func sharedShare(b result.Bench) float64 {
	runs := Counted(b)
	if len(runs) == 0 || b.RunsMean == nil || !(*b.RunsMean > 0) {
		return 0
	}
	return sharedBy(runs) / *b.RunsMean
}

// named are the findings of a configuration beside those of others.
func named(c Configuration) []result.Finding {
	all := c.Bench.Findings
	if c.Days == nil {
		all = Findings(c.Bench)
	}
	for i := range all {
		all[i].Configuration = c.Name
	}
	return all
}

// add adds a finding of a configuration, or of two of them.
func (c *Comparison) add(kind result.FindingKind, detail, of, against string) {
	f := result.NewFinding(kind, detail)
	f.Configuration = of
	f.Against = against
	c.Findings = append(c.Findings, f)
}

// Mild says that a doubt leaves the figures and their interval, marked: they are right, and not of
// what was asked for, or rest on a run that was not at rest.
func Mild(doubt result.Finding) bool {
	return slices.Contains([]result.FindingKind{
		result.Unlike, result.RunsUnlike, result.Drifts, result.DevicesElsewhere,
	}, doubt.Kind)
}

// Doubt is why nothing can be told of two configurations, a mild one last; nil: something can.
func (c Comparison) Doubt(first, other string) (doubt *result.Finding) {
	for i, f := range c.Findings {
		both := c.isOf(f.Configuration, other) && c.isOf(f.Against, first)
		one := f.Against == "" && (c.isOf(f.Configuration, first) || c.isOf(f.Configuration, other))
		if (both || one) && voids(f) && (doubt == nil || Mild(*doubt)) {
			doubt = &c.Findings[i]
		}
	}
	return doubt
}

// isOf says that a name is that of a configuration, or of it with values of the factors: findings
// of runs name the one, main effects the other.
func (c Comparison) isOf(name, of string) bool {
	return name == of || slices.ContainsFunc(c.Configurations, func(one Configuration) bool {
		return one.Name == name && one.Of == of && of != ""
	})
}

// voids says that with a finding there is nothing to compare. A limit that failed, or a run of
// several that did, leaves the figures of the others.
func voids(f result.Finding) bool {
	switch f.Kind {
	case result.LimitFailed, result.LimitOpen, result.RunAborted, result.LeftOut,
		result.DifferenceOnly, result.GateOpen, result.GateFailed:
		return false
	case result.RunFailed, result.NoWindow: // of some of several runs, which have no figure
		return len(f.Runs) == f.OfRuns
	}
	return f.Effect.Worse(result.Reserves)
}

// Doubtful says that a difference is an estimate of which nothing can be told.
func (c Comparison) Doubtful(d Difference) bool { return c.Doubt(d.Against, d.Name) != nil }

// findDifferences finds by how much the configurations differ, and whether that can be told.
func (c *Comparison) findDifferences() {
	apart := false
	for _, d := range c.Differences {
		if d.Metric.Name != c.Stated().Name {
			continue
		}
		// A new day is compared with a history, of which nobody can make blocks.
		apart = apart || d.Blocks == 0 && d.Low != nil && c.Configurations[0].Days == nil
		text := fmt.Sprintf("%s of %s: %s", c.Title(d.Metric), d.Name, d.Text())
		kind := result.DifferenceFound
		known := false
		switch {
		case d.Blind():
			kind = result.Blind
			text += "; " + d.Shown()
		case c.Doubtful(d):
			text = "an estimate only: " + text
		case d.Low == nil:
			kind = result.DifferenceOnly
		default:
			known = true
		}
		c.add(kind, text, d.Name, d.Against)
		if !known {
			continue
		}
		// It is judged as it is stated: among intervals that have to be narrower than that, more
		// are narrow by luck. What a lucky one hides the intervals of both results show, which rest
		// on how the runs of each vary (docs/explanation/method.md).
		ratio := 100 + d.Percent
		half := max(*d.High-d.Percent, d.Percent-*d.Low)
		if half > conclude.WidestInterval*ratio {
			of := fmt.Sprintf("of the ratio of %s to %s is", d.Name, d.Against)
			f := conclude.WideInterval(of, half/ratio)
			f.Configuration = d.Name
			f.Against = d.Against
			c.Findings = append(c.Findings, f)
		}
	}
	if apart {
		c.add(result.NotInBlocks, "", "", "")
	}
}
