package report

import (
	"fmt"
	"strings"

	"ds2/internal/whatif"
)

// Whatif is what there is to read of a model of a store and, where drives were asked about, of what it predicts for
// them.
func Whatif(m whatif.Model, threads int, ranked []whatif.Prediction, refused []whatif.Refusal) Page {
	v := view{ID: "whatif", Title: "What " + m.Store + " would do on other drives, with " + users(threads),
		Byline: byline(m.Start, fmt.Sprintf("%d runs", len(m.Runs)), m.KitVersion, "")}
	v.Headline = fmt.Sprintf("Fitted for reads of %s ms, log flushes of %s ms and %g to %g users",
		span(m.Read), span(m.Flush), m.Users.Low, m.Users.High)
	refusal := unknown
	if len(ranked) > 0 {
		refusal = reservation
		first := ranked[0]
		value, interval := predicted(first)
		v.Headline = fmt.Sprintf("%s is first: %s %s (%s), held back by %s",
			first.Drive, value, m.Unit, interval, first.HeldBack())
		v.Figures.Head = []string{"drive", m.Unit, "90 % interval", "held back by", "reads halved", "flushes halved"}
		if m.Demand.Writes > 0 {
			v.Figures.Head = append(v.Figures.Head, "writes halved")
		}
		v.because("Held back by the largest part of an order's time; " +
			"halved: " + m.Unit + " if reads, log flushes, or writes of data, took half as long.")
	}
	for _, p := range ranked {
		value, interval := predicted(p)
		heldBack := fmt.Sprintf("%s (%.0f %%)", p.HeldBack(), p.Most())
		row := []string{p.Drive, value, interval, heldBack, gain(p.HalfRead), gain(p.HalfFlush)}
		if m.Demand.Writes > 0 {
			row = append(row, gain(p.HalfWrite))
		}
		v.Figures.row(row...)
		if p.NoWrites {
			v.findf(reservation,
				"The record of %s has no random writes: predicted as if writes of data took no time", p.Drive)
		}
	}
	for i := 1; i < len(ranked); i++ {
		if ranked[i].High > ranked[i-1].Low {
			v.findf(reservation, "The intervals of %s and %s overlap", ranked[i-1].Drive, ranked[i].Drive)
		}
	}
	for _, r := range refused {
		v.find(refusal, "Not predicted: "+r.Error())
	}
	if n := len(m.Checks); n > 0 {
		c := m.Verdict()
		v.findf(proof, "Of %d runs on drives that are not in the fit the 90 %% interval held %d, "+
			"and the median error was %.1f %% (in proportion to random reads a second %.0f %%, "+
			"as a line over the mean latency %.0f %%)",
			n, c.Inside, c.Error, c.ByIOPS, c.ByMean)
	}
	processor := "less processor time than the runs can tell"
	if m.Demand.Processor > whatif.LeastProcessor {
		processor = fmt.Sprintf("%.3g ms of a processor", 1e3*m.Demand.Processor)
	}
	writes := "data are written at once, as into a page cache"
	switch {
	case m.Demand.Writes > whatif.LeastWrites:
		writes = fmt.Sprintf("%.3g waits for a write of data", m.Demand.Writes)
	case m.Demand.Writes > 0:
		writes = "fewer waits for writes of data than the runs can tell"
	}
	if m.EachScatter > 1e-3 { // the figure does not count orders
		v.because(fmt.Sprintf("%.3g %s for each %s a second, which differs between runs by %.0f %%.",
			m.Each, m.Unit, m.One[strings.IndexByte(m.One, ' ')+1:], 100*m.EachScatter))
	}
	v.because(fmt.Sprintf("What %s takes: %s, %.3g reads, %.3g waits for a flush; %s. Runs scatter by %.1f %% around "+
		"that, and the law is off by %.1f %% more on another drive.",
		m.One, processor, m.Demand.Reads, m.Demand.Flushes, writes, 100*m.Scatter, 100*m.Law))
	v.Tables = whatifTables(m)
	v.draw = func() ([]chart, error) { return []chart{whatifChart(m, threads, ranked)}, nil }
	return Page{"ds2 whatif", []view{v}}
}

// predicted is a figure and its interval, with as many digits as that carries.
func predicted(p whatif.Prediction) (value, interval string) {
	half := (p.High - p.Low) / 2
	return worth(p.Value, half), worth(p.Low, half) + " to " + worth(p.High, half)
}

func span(r whatif.Range) string { return fmt.Sprintf("%.3g to %.3g", 1e3*r.Low, 1e3*r.High) }

// gain is a change in percent; what is outside the model's range is not known.
func gain(percent *float64) string {
	return known(percent, "not known", func(p float64) string { return fmt.Sprintf("%+.0f %%", p) })
}

func whatifTables(m whatif.Model) []table {
	c := newTable("What "+m.One+" takes", "of", "estimate", "95 % from", "to", "unit")
	for _, one := range m.Coefficients {
		c.row(one.Name, figure(one.Value), figure(one.Low), figure(one.High), one.Unit)
	}
	run := func(t *table, drive string, users int, read, flush, write float64, rest ...string) {
		row := []string{drive, fmt.Sprint(users), number(1e3*read, 2), number(1e3*flush, 2), number(1e3*write, 2)}
		t.row(append(row, rest...)...)
	}
	runs := newTable("Runs of the fit",
		"drive", "users", "read ms", "flush ms", "write ms", m.Unit, "fitted", "off by %")
	for _, r := range m.Runs {
		run(&runs, r.Drive, r.Users, r.Read, r.Flush, r.Write,
			number(r.Value, 0), number(r.Fitted, 0), number(r.Distance, 1))
	}
	checks := newTable("Runs that are not in the fit", "drive", "users", "read ms", "flush ms", "write ms", m.Unit,
		"predicted", "90 % from", "to", "off by %", "by reads a second %", "by mean latency %")
	for _, k := range m.Checks {
		run(&checks, k.Drive, k.Users, k.ReadLatency, k.Flush, k.Write, number(k.Measured, 0),
			number(k.Value, 0), number(k.Low, 0), number(k.High, 0), number(k.Error, 1),
			number(k.ByIOPS, 0), number(k.ByMean, 0))
	}
	return []table{c, runs, checks}
}

// whatifChart is the figure over the latency of reads, a line for some latencies of flushes, with the runs of the fit
// and the candidates.
func whatifChart(m whatif.Model, users int, ranked []whatif.Prediction) chart {
	c := chart{ID: "whatif-opm", Title: m.Name + " over read and flush latency", YName: m.Unit, XName: "a read, ms",
		Place: picture, Text: "A line is the law at one latency of log flushes; a dot is a run of the fit, " +
			"and a large one a drive that was asked about, with its 90 % interval."}
	for _, curve := range m.Curves(users) {
		l := line{Name: fmt.Sprintf("flush of %.3g ms", 1e3*curve.Flush)}
		for _, p := range curve.Points {
			l.add(1e3*p[0], p[1])
		}
		c.draw(l)
	}
	runs := line{Name: "run", Dots: true}
	for _, r := range m.Runs {
		if r.Users == users {
			runs.add(1e3*r.Read, r.Value)
		}
	}
	c.draw(withPoints(runs)...)
	for _, p := range ranked {
		hue := len(c.Lines)
		at, bar := line{Name: p.Drive, Dots: true, Large: true, Hue: hue}, line{Name: "90 %", Bars: true, Hue: hue}
		at.add(1e3*p.ReadLatency, p.Value)
		bar.addBar(1e3*p.ReadLatency, p.Low, p.High)
		c.Lines = append(c.Lines, at, bar)
	}
	return c
}
