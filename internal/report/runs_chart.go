package report

import (
	"fmt"

	"ds2/internal/result"
)

// addBar adds an error bar: a vertical line that no other is joined to.
func (l *line) addBar(x, low, high float64) {
	l.Points = append(l.Points, [2]*float64{digits(x), digits(low)}, [2]*float64{digits(x), digits(high)}, [2]*float64{digits(x), nil})
}

// drawSome draws the lines that have points.
func (c *chart) drawSome(lines ...line) {
	for _, l := range lines {
		if len(l.Points) > 0 {
			c.draw(l)
		}
	}
}

// runsChart draws every run of a bench as a dot with its own interval, the median as a line, and behind the runs their mean with the
// interval from run to run.
func runsChart(b result.Bench) (c chart, drawn bool) {
	c = chart{ID: "bench-runs", Title: b.Unit() + " of every run", YName: b.Unit(), XName: "run", Near: true,
		Text:    "A dot is a run, with its 95 % confidence interval within the run; a ring is a run that does not count.",
		Figures: table{Caption: b.Unit() + " of every run", Head: []string{"run", b.Unit(), "± 95 %", "counts"}}}
	dots, rings := line{Name: "run that counts", Dots: true}, line{Name: "run that does not count", Dots: true, Hollow: true}
	within := line{Name: "± 95 % within the run", Bars: true}
	for i, r := range b.Runs {
		c.Names = append(c.Names, r.Dir)
		if r.Figure == nil {
			continue
		}
		x, counts := float64(i+1), "no"
		if r.Counts {
			counts = "yes"
			dots.add(x, r.Figure.Value)
		} else {
			rings.add(x, r.Figure.Value)
		}
		if r.CI95() != nil {
			within.addBar(x, r.Figure.Value-*r.CI95(), r.Figure.Value+*r.CI95())
		}
		c.Figures.Rows = append(c.Figures.Rows, []string{r.Dir, decimal(r.Value(), 1), uncertainty(r.CI95()), counts})
	}
	if b.Figure == nil {
		return c, false
	}
	between := line{Name: "mean ± 95 % from run to run", Bars: true}
	if b.RunsMean != nil && b.RunsCI95 != nil {
		c.Names = append(c.Names, "all")
		between.addBar(float64(len(c.Names)), *b.RunsMean-*b.RunsCI95, *b.RunsMean+*b.RunsCI95)
		c.Text += fmt.Sprintf(" All runs that count come to %s ± %s.", worth(*b.RunsMean, *b.RunsCI95), uncertainty(b.RunsCI95))
	}
	median := line{Name: "median"}
	median.add(0.5, b.Figure.Value)
	median.add(float64(len(c.Names))+0.5, b.Figure.Value)
	c.drawSome(median, dots, within, between, rings)
	return c, true
}

// runsOfAll draws every run of each configuration as a dot beside the median, and on the other side the mean with its interval.
func runsOfAll(all []Configuration) (c chart, drawn bool) {
	unit := all[0].Unit()
	c = chart{ID: "compare-runs", Title: unit + " of every run", YName: unit, XName: "configuration", Near: true,
		Text:    "Beside the median of each configuration a dot for every run, and a ring for one that does not count; on the other side the 95 % confidence interval.",
		Figures: table{Caption: unit + " of every run", Head: []string{"configuration", "run", unit, "counts"}}}
	const beside = 0.12
	dots, rings, medians := line{Name: "run that counts", Dots: true}, line{Name: "run that does not count", Dots: true, Hollow: true}, line{Name: "median", Dots: true, Large: true}
	between, within := line{Name: "mean ± 95 % from run to run", Bars: true}, line{Name: "± 95 % within the only run", Bars: true}
	for i, one := range all {
		x := float64(i + 1)
		c.Names = append(c.Names, one.Name)
		for _, r := range one.Runs {
			switch {
			case r.Figure == nil:
				continue
			case r.Counts:
				dots.add(x-beside, r.Figure.Value)
			default:
				rings.add(x-beside, r.Figure.Value)
			}
			c.Figures.Rows = append(c.Figures.Rows, []string{one.Name, r.Dir, decimal(r.Value(), 1), map[bool]string{true: "yes", false: "no"}[r.Counts]})
		}
		if one.Figure == nil {
			continue
		}
		drawn = true
		medians.add(x, one.Figure.Value)
		switch {
		case one.RunsMean != nil && one.RunsCI95 != nil:
			between.addBar(x+beside, *one.RunsMean-*one.RunsCI95, *one.RunsMean+*one.RunsCI95)
		case one.CI95() != nil:
			within.addBar(x+beside, one.Figure.Value-*one.CI95(), one.Figure.Value+*one.CI95())
		}
	}
	c.drawSome(dots, medians, between, within, rings)
	return c, drawn
}
