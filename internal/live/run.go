package live

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"ds2/internal/measure"
	"ds2/internal/numbers"
	"ds2/internal/report"
	"ds2/internal/result"
	"ds2/internal/runs"
)

// shortest is the shortest sample that is shown: the last of a run is of a few orders that drain.
const shortest = time.Second / 2

// ShowRun shows a run while it goes on.
func ShowRun(r *runs.Run) Show {
	o := r.Options()
	title := fmt.Sprintf("run %s: %s, size %s, %d users",
		o.RunID, o.Databases[0].Engine(), o.Plan.Size(), o.Threads*len(o.Databases))
	if name := o.Place.Configuration; name != "" {
		title = name + ", " + title
	}
	reads := 0. // a second that the drives can do by themselves; 0: not measured
	if o.Device != nil {
		reads = o.Device.MaxReads()
	}
	words := o.Plan.Workload().Words()
	length := o.Length()
	charts := []report.LiveChart{
		report.NewLiveChart("live-opm", words.PerMinute(),
			"Completed "+words.Cycles+" of each second, and of the last minute.",
			words.Rate, false, "of each second", "of the last minute"),
		report.NewLiveChart("live-latency", "Response time of "+words.Cycles,
			"Response time of whole "+words.Cycles+", second by second: mean, 95th percentile and longest.",
			"ms", true, "mean", "p95", "longest"),
	}
	counters, lines := report.LiveCounterCharts(r.Sampler().Columns(), reads)
	last := Frame{} // a copy of the totals' histograms is not to be made for each look
	return Show{Title: title, Charts: append(charts, counters...), Now: func() Frame {
		progress := r.Meter().Progress()
		sample := progress.Last
		f := Frame{At: sample.End.Seconds()}
		phase := string(r.Meter().Phase())
		if phase == string(measure.PhaseWarmup) {
			phase = "still warming up"
		}
		f.Phase = cmp.Or(r.Doing(), phase)
		if length > 0 {
			f.Share = new(min(sample.End.Seconds()/length.Seconds(), 1))
			f.Left = fmt.Sprintf("%s left", max(length-sample.End, 0).Round(time.Second))
		}
		for _, v := range r.Verdicts() {
			f.Limits = append(f.Limits, Verdict{v.Limit, v.Value(), v.OK})
		}
		if sample.End == 0 {
			return f
		}
		f.Headline = numbers.Decimals(progress.Last10s, 0) + " " + words.Rate + ", last 10 s"
		if iops := r.IOPS(); iops >= 0 && words.Unit == result.IOPS { // not NaN
			f.Headline = numbers.Decimals(iops, 0) + " " + result.IOPS
		}
		if f.At == last.At { // the totals are those of the last sample, too
			f.Facts = last.Facts
			return f
		}
		f.Facts = runFacts(words, progress, r.Meter().Totals())
		if sample.Length >= shortest {
			f.Values = runValues(progress, r, lines)
		}
		last = f
		return f
	}}
}

// runValues are those of the lines of a run's charts: orders a minute, milliseconds, and the
// counters in the units of their charts; nil where a second has none.
func runValues(p measure.Progress, r *runs.Run, lines []report.CounterLine) []*float64 {
	s := p.Last
	values := []*float64{report.Digits(s.OPM()), report.Digits(p.Last60s), nil, nil, nil}
	if s.Counts.Orders > 0 {
		values = append(values[:2], report.Digits(s.Mean), report.Digits(s.P95),
			report.Digits(s.Max))
	}
	// The counters' rows may come a moment later than the samples: the newest is not of this
	// second.
	row := r.Newest()
	for _, l := range lines {
		v := math.NaN() // unknown
		if row.Values != nil {
			v = row.Values[l.Column] * l.Scale
		}
		values = append(values, report.Digits(v))
	}
	return values
}

// runFacts are the figures under the headline.
func runFacts(words result.Words, p measure.Progress, targets []measure.Totals) []Fact {
	total, failed := measure.Sum(targets)
	facts := []Fact{
		fact(words.Cycle+" p95, ms, last second", p.Last.P95, 1),
		fact("users", float64(p.Last.Users), 0),
		fact("failed attempts", float64(failed), 0),
	}
	if failed > 0 {
		facts[2].State = "bad"
	}
	bad := func(name string, n int64) {
		if n > 0 {
			facts = append(facts, Fact{Name: name, Value: numbers.Integer(n), State: "bad"})
		}
	}
	bad("users held up by errors", int64(p.Last.HeldUp))
	bad(words.Cycles+" dropped", total.Dropped)
	return facts
}

// fact words a figure as the page shows it, with separators of thousands.
func fact(name string, value float64, decimals int) Fact {
	return Fact{Name: name, Value: numbers.Decimals(value, decimals)}
}
