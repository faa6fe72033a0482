package oracletest

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Bench is several runs of one configuration, and what they come to.
type Bench struct {
	Status string
	Runs   []*Made
	// Value is the median of the runs that count, Mean their mean, Geometric their geometric mean,
	// Half half the width of the interval of Mean by Student's t, at 95 %, with what the runs may
	// have in common, and Spread the highest
	// less the lowest in percent of it. What is unknown is NaN.
	Value, Mean, Geometric, Half, Spread float64
	Idle, Watts                          float64
	Limits                               []LimitOfRuns

	summary object
}

// Made is a run of a bench.
type Made struct {
	*Run
	Dir                     string
	Status                  string
	Practice, Counts, Fails bool // Fails: it did not reach its window, and is not made again
	Block, Number           float64
	Dropped                 bool // it was not steady, and is judged all the same
}

// LimitOfRuns is a limit of a bench: it holds by the interval of the mean of the runs, and without
// one if it holds in all runs that count and no run failed.
type LimitOfRuns struct {
	Text     string
	Holds    bool
	Open     bool // the bound lies in the interval
	Held, Of int

	values []float64
	within []float64 // half the widths of the runs' own intervals, as recorded
	form   Limit
	none   bool // there is no interval
}

// weigh judges the limit by the interval of the mean.
func (l *LimitOfRuns) weigh() {
	n := float64(len(l.values))
	if l.none || n < 2 {
		return
	}
	middle := stat.Mean(l.values, nil)
	half := student(n-1).Quantile(.975) *
		math.Hypot(math.Sqrt(stat.Variance(l.values, nil)/n), alike(l.values, l.within))
	low := l.form.keeps(math.Max(0, middle-half))
	l.Open = low != l.form.keeps(middle+half)
	if !l.Open {
		l.Holds = low
	}
}

// ReadBench reads a bench, or a single run as a bench of one, and the records of all its runs.
func ReadBench(dir string) (*Bench, error) {
	s, err := readSummary(dir)
	if err != nil {
		return nil, err
	}
	b := &Bench{summary: s, Status: s.text("status")}
	if s.text("kind") == "run" {
		r, err := ReadRun(dir)
		if err != nil {
			return nil, err
		}
		b.Runs = append(b.Runs, &Made{Run: r, Dir: ".", Status: r.Status, Counts: r.Reached})
	}
	for _, run := range s.list("runs") {
		m := &Made{
			Dir: run.text("dir"), Status: run.text("status"), Practice: run.yes("practice"),
			Block: run.number("block"), Number: run.number("number"),
		}
		m.Run, err = ReadRun(filepath.Join(dir, m.Dir))
		over := m.Status == "done" || m.Status == "aborted"
		if over && err != nil {
			return nil, err
		}
		reached := over && m.Run.Reached && m.Run.Judged
		m.Fails = !m.Practice && (m.Status == "failed" || over && !reached)
		m.Counts = !m.Practice && reached && (m.Run.Steady || !s.yes("spec", "drop_unsteady"))
		m.Dropped = !m.Practice && reached && !m.Counts
		b.Runs = append(b.Runs, m)
	}
	b.compute()
	return b, nil
}

// Counted are the runs that count.
func (b *Bench) Counted() (all []*Made) {
	for _, r := range b.Runs {
		if r.Counts {
			all = append(all, r)
		}
	}
	return all
}

func (b *Bench) compute() {
	of := func(figure func(*Made) float64) (all []float64) {
		for _, r := range b.Counted() {
			if v := figure(r); !math.IsNaN(v) {
				all = append(all, v)
			}
		}
		return all
	}
	values := of(func(r *Made) float64 { return r.Value })
	b.Value, b.Mean = median(values), stat.Mean(values, nil)
	b.Idle = median(of(func(r *Made) float64 { return r.Idle }))
	b.Watts = math.NaN()
	ranked := b.Counted() // the power is that of the run with the median result
	slices.SortStableFunc(ranked, func(a, c *Made) int { return cmp.Compare(a.Value, c.Value) })
	if n := len(ranked); n > 0 {
		b.Watts = ranked[(n-1)/2].Watts
	}
	b.Geometric = stat.GeometricMean(values, nil)
	n := float64(len(values))
	b.Half = math.NaN()
	b.Spread = math.NaN()
	if n > 1 {
		b.Half = student(n-1).Quantile(.975) * math.Hypot(
			math.Sqrt(stat.Variance(values, nil)/n), b.shared(),
		)
		b.Spread = 100 * (slices.Max(values) - slices.Min(values)) / b.Mean // NaN where all are 0
	}
	for _, text := range b.summary.texts("spec", "limits") {
		b.Limits = append(b.Limits, LimitOfRuns{Text: text, Holds: true})
	}
	for _, r := range b.Runs {
		if !r.Counts && !r.Dropped && !r.Fails {
			continue
		}
		for i := range b.Limits {
			l := &b.Limits[i]
			l.Of++
			// Where none failed in the window of a run that limits ended, it lies before what ended
			// it: none is held.
			broken := !r.Fails && slices.ContainsFunc(r.Limits, func(l Limit) bool {
				return !l.Holds
			})
			holds := !r.Fails && r.Limits[i].Holds && (r.Status != "aborted" || broken)
			l.Holds = l.Holds && holds
			if holds {
				l.Held++
			}
			if r.Fails {
				l.none = true
				continue
			}
			of := r.Limits[i]
			l.form = of
			l.none = l.none || of.seen() || math.IsNaN(of.Measured) || of.keeps(of.Measured) != holds
			l.values = append(l.values, of.Measured)
			recorded := r.summary.list("limits")[i]
			l.within = append(l.within, recorded.number("high")-of.Measured)
			if len(b.Runs) == 1 {
				l.Open = recorded.yes("cannot_tell")
			}
		}
	}
	for i := range b.Limits {
		b.Limits[i].weigh()
	}
}

// shared is the standard deviation of what the runs that count may have in common. Runs that differ
// less than each varies by itself, by χ² at .01, have one run's variation in common; and runs whose
// drifts have a mean that is not 0, by Student's t at .01, have half of that drift.
func (b *Bench) shared() float64 {
	counted := b.Counted()
	n := float64(len(counted))
	if n < 2 {
		return 0
	}
	var values, drifts, halves []float64
	for _, r := range counted {
		values = append(values, r.Value)
		drifts = append(drifts, r.Drift)
		halves = append(halves, r.CI95)
	}
	variance := alike(values, halves) * alike(values, halves)
	drift := stat.Mean(drifts, nil) // NaN where that of one is unknown
	t := math.Abs(drift) / stat.StdDev(drifts, nil) * math.Sqrt(n)
	if t > student(n-1).Quantile(1-.01/2) {
		half := drift / 200 * median(values)
		variance += half * half
	}
	return math.Sqrt(variance)
}

// alike is the standard deviation within a run where runs vary less from one to the next, by χ² at
// .01; else, and where the half width of the interval of one is unknown, 0.
func alike(values, halves []float64) float64 {
	n := float64(len(values))
	within := 0. // NaN where one is unknown
	for _, half := range halves {
		within += half / 1.96 * half / 1.96 / n
	}
	ratio := (n - 1) * stat.Variance(values, nil) / within
	if 1-(distuv.ChiSquared{K: n - 1}).Survival(ratio) < .01 {
		return math.Sqrt(within)
	}
	return 0
}

// Shared is the standard deviation of what the runs of either of two configurations may have in
// common, in the logarithm of the ratio of their results.
func Shared(a, b *Bench) float64 {
	variance := 0.
	for _, one := range []*Bench{a, b} {
		if one.Mean > 0 {
			variance += one.shared() / one.Mean * one.shared() / one.Mean
		}
	}
	return math.Sqrt(variance)
}

// Failing says that the bench has no result that counts: a limit fails, a run failed, or one that
// has a result completed nothing for long or fails its audit.
func (b *Bench) Failing() bool {
	failed := func(l LimitOfRuns) bool { return !l.Holds && !l.Open }
	return slices.ContainsFunc(b.Limits, failed) ||
		slices.ContainsFunc(b.Runs, func(r *Made) bool {
			judged := r.Counts || r.Dropped
			return r.Fails || !r.Practice && r.Status == "failed" || judged && r.Nothing ||
				judged && (r.Status == "aborted" || r.AuditFails)
		})
}

// Exit is the exit code of ds2 bench: 130 where it was interrupted, 1 where it ended by two runs in
// a row that failed (counted from 0 where an experiment is continued), 3 where something failed, 4
// where no run counts or of a limit nothing can be told, and else 0.
func (b *Bench) Exit() int {
	row := 0
	for i, r := range b.Runs {
		switch {
		case r.Status == "failed" || r.Fails:
			row++
		case r.Status == "done" || r.Status == "aborted":
			row = 0
		}
		if row == 2 {
			if i == len(b.Runs)-1 {
				return 1
			}
			row = 0
		}
	}
	switch {
	case b.Status == "interrupted":
		return 130
	case b.Failing():
		return 3
	case len(b.Counted()) == 0 || b.limitOpen():
		return 4
	}
	return 0
}

// limitOpen says that of a limit it cannot be told whether it holds.
func (b *Bench) limitOpen() bool {
	return slices.ContainsFunc(b.Limits, func(l LimitOfRuns) bool { return l.Open })
}

// median is the one in the middle, or the mean of the two middle ones.
func median(values []float64) float64 {
	all := slices.Sorted(slices.Values(values))
	n := len(all)
	if n == 0 {
		return math.NaN()
	}
	return (all[(n-1)/2] + all[n/2]) / 2
}

// Bound says that P95 of a run that counts is only known to be at least as high.
func (b *Bench) Bound() bool {
	return slices.ContainsFunc(b.Counted(), func(r *Made) bool { return r.P95AtLeast })
}

// Level is how far the result can be trusted. No run of these has all that a trustworthy one has:
// they are not audited.
func (b *Bench) Level() string {
	switch {
	case b.Failing():
		return "FAILED"
	case b.Withheld() || b.limitOpen():
		return "Cannot tell"
	}
	return "With reservations"
}

// Withheld says that the bench does not tell what was asked: no run counts, one that was made
// drifts by more than 12.5 % over its window, or those that count rise or fall one after the other,
// or were not all measured on the same.
func (b *Bench) Withheld() bool {
	counted := b.Counted()
	inBlocks := slices.ContainsFunc(counted, func(r *Made) bool { return r.Block > 0 })
	return len(counted) == 0 || !inBlocks && inOrder(counted) || b.Mixed() ||
		slices.ContainsFunc(b.Runs, func(r *Made) bool {
			over := r.Status == "done" || r.Status == "aborted" || r.Status == "failed"
			return over && !r.Practice && r.Run != nil && math.Abs(r.Drift) > 12.5
		})
}

// Mixed says that some runs that count were not measured on the server and the machine of the first.
func (b *Bench) Mixed() bool {
	runs := b.Counted()
	ground := func(r *Made) string { return fmt.Sprint(r.summary["servers"], r.summary["machine"]) }
	return slices.ContainsFunc(runs, func(r *Made) bool { return ground(r) != ground(runs[0]) })
}

// inOrder says that of all orders of some runs at most 2 % rise or fall as steadily as theirs.
func inOrder(runs []*Made) bool {
	var values []float64
	for _, r := range runs {
		values = append(values, r.Value)
	}
	if slices.Min(values) == slices.Max(values) {
		return false
	}
	steady := func(values []float64) (pairs int) {
		for i, v := range values {
			for _, later := range values[i+1:] {
				if later < v {
					pairs++
				} else {
					pairs--
				}
			}
		}
		return max(pairs, -pairs)
	}
	theirs := steady(values)
	orders := 0
	as := 0
	var permute func(rest, order []float64)
	permute = func(rest, order []float64) {
		if len(rest) == 0 {
			orders++
			if steady(order) >= theirs {
				as++
			}
		}
		for i, v := range rest {
			others := slices.Delete(slices.Clone(rest), i, i+1)
			permute(others, append(slices.Clip(order), v))
		}
	}
	ranks := make([]float64, len(values)) // of equal ones, too, as of those that differ by a little
	for i := range ranks {
		ranks[i] = float64(i)
	}
	permute(ranks, nil)
	return float64(as) < .02*float64(orders)
}

// Difference is by how much one configuration differs from another, in percent; interval and P are
// NaN where they are unknown.
type Difference struct {
	Percent, Low, High, P float64
	Blocks                int
}

func unknown() Difference {
	nan := math.NaN()
	return Difference{Percent: nan, Low: nan, High: nan, P: nan}
}

// point is a run of a block.
type point struct{ block, number, logarithm float64 }

// points are the logarithms of a figure in the runs that count; none where one of them is unknown,
// or is not positive and has no logarithm.
func points(b *Bench, figure func(*Made) float64) (all []point) {
	for _, r := range b.Counted() {
		v := figure(r)
		if !(v > 0) {
			return nil
		}
		all = append(all, point{r.Block, r.Number, math.Log(v)})
	}
	return all
}

// line is the pairs of two configurations by blocks: by how much more of logarithm, and how many
// runs later.
type line struct {
	rises, later []float64
	xx, xy       float64 // about the means
	weight       float64 // one over the variance about its own line; 0: its drift is not known
}

func (l line) left(drift float64) (squares float64) {
	for i := range l.rises {
		e := l.rises[i] - stat.Mean(l.rises, nil) - drift*(l.later[i]-stat.Mean(l.later, nil))
		squares += e * e
	}
	return squares
}

func newLine(a, b []point) (l line) {
	for _, p := range a {
		for _, q := range b {
			if p.block == q.block {
				l.rises, l.later = append(l.rises, q.logarithm-p.logarithm), append(
					l.later,
					q.number-p.number,
				)
			}
		}
	}
	for i := range l.rises {
		dx := l.later[i] - stat.Mean(l.later, nil)
		l.xx, l.xy = l.xx+dx*dx, l.xy+dx*(l.rises[i]-stat.Mean(l.rises, nil))
	}
	if n := float64(len(l.rises)); n > 2 && l.xx > 1e-9 {
		l.weight = 1 / max(1e-18, l.left(l.xy/l.xx)/(n-2))
	}
	return l
}

// InBlocks is the difference of two of the configurations of an experiment in blocks. The drift is
// one for all pairs of them, by least squares in which each pair weighs one over its variance. Of k
// configurations each is in k − 1 pairs, so that k/2 of their k(k−1)/2 sums are independent.
// divided is by what the level of .05 is divided, and shared the error that runs have in common.
func InBlocks(
	all []*Bench,
	base, other int,
	figure func(*Made) float64,
	divided, shared float64,
) Difference {
	d := unknown()
	sum := 0.
	products := 0.
	known := map[int]bool{}
	for i := range all {
		for k := i + 1; k < len(all); k++ {
			if l := newLine(points(all[i], figure), points(all[k], figure)); l.weight > 0 {
				sum = sum + l.weight*l.xx
				products = products + l.weight*l.xy
				known[i] = true
				known[k] = true
			}
		}
	}
	l := newLine(points(all[base], figure), points(all[other], figure))
	n := float64(len(l.rises))
	d.Blocks = len(l.rises)
	if n == 0 {
		return d
	}
	drift := 0.
	weight := 2 * sum / float64(len(known))
	if sum > 0 {
		drift = products / sum
	}
	rise := stat.Mean(l.rises, nil) - drift*stat.Mean(l.later, nil)
	d.Percent = 100 * math.Expm1(rise)
	few := n < 5 || sum == 0
	freedom := n - 1 - min(1, l.weight*l.xx/weight)
	error2 := l.left(drift)/freedom/n + stat.Mean(l.later, nil)*stat.Mean(l.later, nil)/weight
	own := math.Sqrt(error2)
	if !d.together(all, l, figure, own, divided, shared) && !few {
		d.interval(rise, own, freedom, divided, shared, len(all)-1)
	}
	if few {
		percent := d.Percent
		d = unknown()
		d.Percent = percent
		d.Blocks = len(l.rises)
	}
	return d
}

// together is the interval of a pair by the variance that all configurations have in common: three
// or more, each of which varies as the others do. False: they have none.
func (d *Difference) together(
	all []*Bench, of line, figure func(*Made) float64, own, divided, shared float64,
) bool {
	var lines []line
	var whose [][2]int
	measured := map[int]bool{}
	var xx, xy, squares, freedom float64
	for i := range all {
		for k := i + 1; k < len(all); k++ {
			if l := newLine(points(all[i], figure), points(all[k], figure)); l.weight > 0 {
				lines = append(lines, l)
				whose = append(whose, [2]int{i, k})
				measured[i] = true
				measured[k] = true
				xx += l.xx
				xy += l.xy
			}
		}
	}
	k := float64(len(measured))
	if k < 3 || len(lines) != len(measured)*(len(measured)-1)/2 {
		return false
	}
	drift := xy / xx
	with := map[int][2]float64{} // squares and degrees of freedom of the pairs of a configuration
	for i, l := range lines {
		left := l.left(drift)
		n := float64(len(l.rises) - 1)
		squares += left
		freedom += n
		for _, one := range whose[i] {
			with[one] = [2]float64{with[one][0] + left, with[one][1] + n}
		}
	}
	for _, w := range with {
		ratio := w[0] / w[1] / ((squares - w[0]) / (freedom - w[1]))
		f := distuv.F{D1: w[1] / (k - 1), D2: 2 * (freedom - w[1]) / (k - 1)}
		if !(f.CDF(ratio) <= .9) {
			return false
		}
	}
	degrees := 2*freedom/k - 1
	variance := 2 * squares / k / degrees
	later := stat.Mean(of.later, nil)
	error2 := variance/float64(len(of.rises)) + later*later*variance*k/2/xx
	rise := stat.Mean(of.rises, nil) - drift*later
	d.Percent = 100 * math.Expm1(rise)
	deviation := max(own, math.Sqrt(error2))
	if !(deviation > 1e-12) {
		return true
	}
	deviation = math.Hypot(deviation, shared)
	outside := func(t float64) float64 { return dunnett(t, degrees, len(all)-1) }
	low := 0.
	high := 100.
	for range 50 {
		if middle := (low + high) / 2; outside(middle) > .05/divided {
			low = middle
		} else {
			high = middle
		}
	}
	d.Low = 100 * math.Expm1(rise-high*deviation)
	d.High = 100 * math.Expm1(rise+high*deviation)
	d.P = min(1, divided*outside(math.Abs(rise)/deviation))
	return true
}

// dunnett is the probability that any of some differences from one configuration is as far from the
// truth, by sums over a grid.
func dunnett(t, degrees float64, comparisons int) float64 {
	if far := 2 * student(degrees).Survival(t); comparisons == 1 || far < 1e-9 {
		return min(1, far*float64(comparisons))
	}
	chi := distuv.ChiSquared{K: degrees}
	first := math.Log(chi.Quantile(1e-13))
	last := math.Log(chi.Quantile(1 - 1e-13))
	sum := 0.
	const steps = 70
	for i := range steps + 1 {
		square := math.Exp(first + (last-first)*float64(i)/steps)
		width := t * math.Sqrt(2*square/degrees)
		inside := 0.
		for z := -8.; z <= 8; z += .25 {
			between := distuv.UnitNormal.CDF(z+width) - distuv.UnitNormal.CDF(z-width)
			inside += .25 * distuv.UnitNormal.Prob(z) * math.Pow(between, float64(comparisons))
		}
		sum += (last - first) / steps * square * chi.Prob(square) * (1 - inside)
	}
	return sum
}

// Welch is the difference of the geometric means of all runs that count, one of several.
func Welch(a, b *Bench, figure func(*Made) float64, shared float64, comparisons int) Difference {
	d := unknown()
	var x, y []float64
	for _, p := range points(a, figure) {
		x = append(x, p.logarithm)
	}
	for _, p := range points(b, figure) {
		y = append(y, p.logarithm)
	}
	if len(x) == 0 || len(y) == 0 {
		return d
	}
	rise := stat.Mean(y, nil) - stat.Mean(x, nil)
	d.Percent = 100 * math.Expm1(rise)
	if len(x) < 2 || len(y) < 2 {
		return d
	}
	n := float64(len(x))
	m := float64(len(y))
	u := stat.Variance(x, nil) / n
	v := stat.Variance(y, nil) / m
	d.interval(rise, math.Sqrt(u+v), (u+v)*(u+v)/(u*u/(n-1)+v*v/(m-1)), 1, shared, comparisons)
	return d
}

// interval is that of one of some comparisons, each with its own variance, by Šidák's bound.
func (d *Difference) interval(rise, deviation, freedom, divided, shared float64, comparisons int) {
	if !(deviation > 1e-12) {
		return // all runs are the same: the variation is unknown
	}
	deviation = math.Hypot(deviation, shared)
	each := 1 - math.Pow(1-.05/divided, 1/float64(comparisons))
	half := student(freedom).Quantile(1-each/2) * deviation
	d.Low = 100 * math.Expm1(rise-half)
	d.High = 100 * math.Expm1(rise+half)
	alone := 2 * student(freedom).Survival(math.Abs(rise)/deviation)
	d.P = min(1, divided*-math.Expm1(float64(comparisons)*math.Log1p(-alone)))
}

// Gate is what the exit code of a gate that fails where a figure changes by less than a bound must
// be: 3 where the whole interval lies below, 4 where that cannot be told.
func (d Difference) Gate(bound float64) int {
	between := d.Low <= 0 && d.High >= 0
	switch {
	case between && max(100+d.High, 100*100/(100+d.Low)) > 150: // too wide to tell
		return 4
	case d.High < bound:
		return 3
	case !(d.Low >= bound):
		return 4
	}
	return 0
}

// student is Student's t of some degrees of freedom.
func student(freedom float64) distuv.StudentsT { return distuv.StudentsT{Sigma: 1, Nu: freedom} }

// Unlike says how two figures differ, numbers by more than rounding; empty where they do not.
func Unlike(what string, kit, oracle any) string {
	a, number := kit.(float64)
	b, both := oracle.(float64)
	rounded := math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-9*max(1, math.Abs(b))
	if kit == oracle || number && both && rounded {
		return ""
	}
	return fmt.Sprintf("%s: ds2 says %v, the record's files come to %v", what, kit, oracle)
}

// Divided is by what the level .05 of the bench's intervals is divided. Each look before the
// planned end had the level .001, which the end lacks; a k-th end has a k-th part of the level, and
// an experiment that is not done has .001.
func (b *Bench) Divided() float64 {
	spent := 0.
	ends := 1.
	for _, l := range b.summary.list("looks") {
		if l.yes("done") {
			ends++
		} else {
			spent += .001
		}
	}
	level := .05/ends - spent
	if b.Status == "running" || b.Status == "interrupted" {
		level = .001
	}
	if b.summary.number("until_pct") > 0 {
		level /= 1.25
	}
	return .05 / max(.001, level)
}
