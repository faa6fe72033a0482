package report

import (
	"fmt"
	"math"
	"time"

	"ds2/internal/measure"
	"ds2/internal/monitor"
	"ds2/internal/result"
)

// chart is what page.js draws; its fields are what it reads.
type chart struct {
	ID        string     `json:"id"`
	Title     string     `json:"title"`
	Text      string     `json:"text"` // what there is to see, in words
	YName     string     `json:"yName"`
	Log       bool       `json:"log"`              // logarithmic y axis
	Near      bool       `json:"near"`             // the y axis begins near the lowest value, not at 0
	Folded    bool       `json:"-"`                // shown only on request
	Labels    []string   `json:"labels,omitempty"` // x axis of labels
	XName     string     `json:"xName,omitempty"`  // of the x axis; without it and labels, x is seconds since the first orders
	Lines     []line     `json:"lines"`
	From      float64    `json:"from"` // ends of the time axis, the same in all charts of a run
	To        float64    `json:"to"`
	Bands     []band     `json:"bands,omitempty"`
	Verticals []vertical `json:"verticals,omitempty"`
	Names     []string   `json:"names,omitempty"` // of the whole numbers of the x axis, from 1
	Levels    []level    `json:"levels,omitempty"`
	Figures   table      `json:"-"` // the same for those who do not see it
}

// line is one curve. A point is x and y; y is null where there is nothing to show.
type line struct {
	Name   string        `json:"name"`           // in the legend, where lines of one name stand once
	What   string        `json:"what,omitempty"` // which of the lines of that name it is
	Points [][2]*float64 `json:"points"`
	Thin   bool          `json:"thin"` // in the background
	Hue    int           `json:"hue"`  // lines of one thing, such as a drive, have one colour
	Dash   int           `json:"dash"` // and differ by their dashes: 0 is solid

	// In place of a line:
	Dots   bool `json:"dots,omitempty"`
	Hollow bool `json:"hollow,omitempty"` // dots that are rings
	Large  bool `json:"large,omitempty"`  // dots that stand out
	Bars   bool `json:"bars,omitempty"`   // error bars, as addBar makes them
}

// draw adds lines, each in a colour of its own; those beyond the third differ by their dashes too, for readers who cannot
// tell all colours apart.
func (c *chart) draw(lines ...line) {
	for _, l := range lines {
		l.Hue, l.Dash = len(c.Lines), len(c.Lines)/3
		c.Lines = append(c.Lines, l)
	}
}

// band is a shaded part of the time axis.
type band struct {
	Name   string  `json:"name"`
	From   float64 `json:"from"`
	To     float64 `json:"to"`
	Window bool    `json:"window"` // a window that figures are taken from; else a phase that is none
}

// vertical is a vertical line.
type vertical struct {
	Name string  `json:"name"`
	X    float64 `json:"x"`
}

// level is a horizontal line.
type level struct {
	Name string  `json:"name"`
	Y    float64 `json:"y"`
}

func (l *line) add(x, y float64) { l.Points = append(l.Points, [2]*float64{digits(x), digits(y)}) }

// digits rounds to five digits that matter, to keep the page small; what is no number is null.
func digits(f float64) *float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	if f != 0 {
		scale := math.Pow(10, 4-math.Floor(math.Log10(math.Abs(f))))
		f = math.Round(f*scale) / scale
	}
	return &f
}

// charts draws a record; without samples there is nothing to draw.
func charts(r *result.Record, id string) ([]chart, error) {
	if len(r.Series.Samples) == 0 {
		return nil, nil
	}
	points := thinned(r.Series.Samples)
	operations, err := operationsChart(r, id, points)
	if err != nil {
		return nil, err
	}
	all := []chart{opmChart(r, id, points), latencyChart(r, id, points), operations}
	if len(r.Windows) > 0 {
		distribution, err := distributionChart(r, id)
		if err != nil {
			return nil, err
		}
		all = append(all, distribution)
	}
	all = append(all, hostCharts(r, id)...)
	from, to := extent(r)
	shaded, checkpoints := bands(r), checkpointVerticals(r, to-from)
	for i := range all {
		if all[i].Labels == nil {
			all[i].From, all[i].To, all[i].Bands, all[i].Verticals = from, to, shaded, checkpoints
		}
	}
	return all, nil
}

// extent is the time that a record has samples of, in seconds since the first orders.
func extent(r *result.Record) (from, to float64) {
	to = r.Series.Samples[len(r.Series.Samples)-1].End.Seconds()
	if rows := r.Host.Rows; len(rows) > 0 {
		from = min(0, rows[0].Time.Sub(r.Start).Seconds()-monitor.Interval.Seconds())
		to = max(to, rows[len(rows)-1].Time.Sub(r.Start).Seconds())
	}
	return from, to
}

// maxPoints is how many points a curve has at most: more than a page is wide in pixels.
const maxPoints = 2000

// maxVerticals is how many vertical lines a chart has at most.
const maxVerticals = 200

// shortest is the shortest time that is drawn. The last orders of a run drain in a fraction of a second, and the rate and
// response times of those few would be a spike that is none.
const shortest = time.Second / 2

// thinned merges neighbouring samples of one phase where there are more than maxPoints, and leaves out a last one that is
// too short.
func thinned(samples []measure.Sample) []measure.Sample {
	if last := len(samples) - 1; last > 0 && samples[last].Length < shortest {
		samples = samples[:last]
	}
	group := (len(samples) + maxPoints - 1) / maxPoints
	if group <= 1 {
		return samples
	}
	var merged []measure.Sample
	n := 0
	for _, s := range samples {
		if n == 0 || n == group || s.Phase != merged[len(merged)-1].Phase {
			merged, n = append(merged, s), 1
			continue
		}
		m := &merged[len(merged)-1]
		if orders := m.Counts.Orders + s.Counts.Orders; orders > 0 {
			m.Mean = (m.Mean*float64(m.Counts.Orders) + s.Mean*float64(s.Counts.Orders)) / float64(orders)
		}
		m.P95, m.Max = max(m.P95, s.P95), max(m.Max, s.Max)
		m.Operations = measure.HighestP95(m.Operations, s.Operations)
		m.End, m.Users = s.End, s.Users
		m.Length += s.Length
		m.Errors += s.Errors
		m.Counts.Add(s.Counts)
		n++
	}
	return merged
}

// middle is where a sample stands on the time axis.
func middle(s measure.Sample) float64 { return (s.End - s.Length/2).Seconds() }

// bands are the times and phases that are not measured and the windows that are.
func bands(r *result.Record) []band {
	s := r.Summary
	from, to := extent(r)
	end := r.Series.Samples[len(r.Series.Samples)-1].End.Seconds()
	var all []band
	if from < 0 {
		all = append(all, band{Name: "idle", From: from})
	}
	if to > end {
		all = append(all, band{Name: "cool-down", From: end, To: to})
	}
	for _, p := range s.Phases {
		if p.Phase != measure.PhaseRun && p.To > p.From && p.To > 0 {
			all = append(all, band{Name: string(p.Phase), From: max(p.From, 0), To: p.To})
		}
	}
	for _, w := range s.Windows {
		all = append(all, band{Name: "window " + w.Name, From: w.From, To: w.To, Window: true})
	}
	return all
}

// checkpointVerticals are where checkpoints began; where there are more than can be told apart, none has a name.
func checkpointVerticals(r *result.Record, length float64) (all []vertical) {
	const named = 12
	for _, c := range r.Checkpoints {
		v := vertical{X: c.From}
		if len(r.Checkpoints) <= named {
			v.Name = "checkpoint"
		}
		if n := len(all); n == 0 || v.X-all[n-1].X >= length/maxVerticals {
			all = append(all, v)
		}
	}
	return all
}

func opmChart(r *result.Record, id string, samples []measure.Sample) chart {
	words := r.Words
	c := chart{
		ID: id + "-opm", Title: words.Title() + " per minute over time", YName: words.Rate,
		Figures: table{Caption: words.Rate + " by part of the run", Head: []string{"from", "to", "phase", "mean " + words.Rate, "lowest", "highest"}},
	}
	rate := line{Name: words.Rate + " of each second"}
	low, high := math.Inf(1), 0.0
	for _, s := range samples {
		rate.add(middle(s), s.OPM())
		if s.Phase == measure.PhaseRun {
			low, high = min(low, s.OPM()), max(high, s.OPM())
		}
	}
	c.draw(rate)
	if len(r.Windows) > 0 {
		w := r.Windows[0]
		mean := line{Name: "mean of window " + w.Name}
		mean.add(w.From, w.OPM)
		mean.add(w.To, w.OPM)
		c.draw(mean)
	}
	c.Text = fmt.Sprintf("Rate of completed %s over %s.", words.Cycles, seconds(samples[len(samples)-1].End.Seconds()))
	if high > 0 {
		c.Text += fmt.Sprintf(" In the measured phase it lies between %s and %s %s.", number(low, 0), number(high, 0), words.Rate)
	}
	if n := len(r.Checkpoints); n > 0 {
		c.Text += fmt.Sprintf(" Vertical lines are the begins of %d checkpoints, the first at %s and the last at %s.", n, seconds(r.Checkpoints[0].From), seconds(r.Checkpoints[n-1].From))
	}
	c.Figures.Rows = parts(samples, func(part []measure.Sample) []string {
		var orders int64
		var length time.Duration
		low, high := math.Inf(1), 0.0
		for _, s := range part {
			orders += s.Counts.Orders
			length += s.Length
			low, high = min(low, s.OPM()), max(high, s.OPM())
		}
		return []string{number(float64(orders)/length.Minutes(), 0), number(low, 0), number(high, 0)}
	})
	return c
}

func latencyChart(r *result.Record, id string, samples []measure.Sample) chart {
	c := chart{
		ID: id + "-latency", Title: "Response time of " + r.Words.Cycles + " over time", YName: "ms", Log: true,
		Text:    "Response time of whole " + r.Words.Cycles + ", second by second: mean, 95th percentile and longest.",
		Figures: table{Caption: "Response time by part of the run, in milliseconds", Head: []string{"from", "to", "phase", "mean", "highest p95 of a second", "longest"}},
	}
	maximum, p95, mean := line{Name: "longest", Thin: true}, line{Name: "p95"}, line{Name: "mean"}
	for _, s := range samples {
		if s.Counts.Orders == 0 {
			s.Mean, s.P95, s.Max = math.NaN(), math.NaN(), math.NaN()
		}
		maximum.add(middle(s), s.Max)
		p95.add(middle(s), s.P95)
		mean.add(middle(s), s.Mean)
	}
	c.draw(mean, p95, maximum)
	c.Figures.Rows = parts(samples, func(part []measure.Sample) []string {
		var orders int64
		var sum, p95, longest float64
		for _, s := range part {
			orders += s.Counts.Orders
			sum += s.Mean * float64(s.Counts.Orders)
			p95, longest = max(p95, s.P95), max(longest, s.Max)
		}
		if orders == 0 {
			return []string{"–", "–", "–"}
		}
		return []string{figure(sum / float64(orders)), figure(p95), figure(longest)}
	})
	return c
}

// parts makes the rows of a table under a time chart: each phase in up to twelve parts.
func parts(samples []measure.Sample, figures func([]measure.Sample) []string) [][]string {
	const perPhase = 12
	var rows [][]string
	for len(samples) > 0 {
		n := 0
		for n < len(samples) && samples[n].Phase == samples[0].Phase {
			n++
		}
		for i := range min(n, perPhase) {
			part := samples[i*n/min(n, perPhase) : (i+1)*n/min(n, perPhase)]
			from, to := part[0].End-part[0].Length, part[len(part)-1].End
			rows = append(rows, append([]string{seconds(from.Seconds()), seconds(to.Seconds()), string(part[0].Phase)}, figures(part)...))
		}
		samples = samples[n:]
	}
	return rows
}

// secondLines are the 95th percentiles of whole orders and of each operation, second by second; nil in a record without them.
func secondLines(samples []measure.Sample) map[string]*line {
	lines := map[string]*line{}
	for _, s := range samples {
		for _, o := range s.Operations {
			lines[o.Name] = &line{Name: o.Name}
		}
	}
	if len(lines) == 0 {
		return nil
	}
	lines[measure.WholeOrder] = &line{Name: measure.WholeOrder}
	for _, s := range samples {
		p95 := map[string]float64{}
		for _, o := range s.Operations {
			p95[o.Name] = o.P95
		}
		if s.Counts.Orders > 0 {
			p95[measure.WholeOrder] = s.P95
		}
		for name, l := range lines {
			v, called := p95[name]
			if !called {
				v = math.NaN()
			}
			l.add(middle(s), v)
		}
	}
	return lines
}

func operationsChart(r *result.Record, id string, samples []measure.Sample) (chart, error) {
	c := chart{
		ID: id + "-operations", Title: "Response time of each operation over time, 95th percentile", YName: "ms", Log: true,
		Text:    "The 95th percentile of every operation's response time, second by second.",
		Figures: table{Caption: "95th percentile by operation, in milliseconds", Head: []string{"from", "to"}},
	}
	lines := secondLines(samples)
	steps := lines == nil // by the histograms
	if steps {
		lines = map[string]*line{}
		c.Text = "The 95th percentile of every operation's response time, from the record's histograms."
	}
	intervals := make([]map[string]measure.Latency, len(r.Series.Intervals))
	for i, iv := range r.Series.Intervals {
		latencies, err := iv.Latencies()
		if err != nil {
			return c, err
		}
		intervals[i] = latencies
		for name := range latencies {
			if lines[name] == nil {
				lines[name] = &line{Name: name}
			}
		}
	}
	names := seriesOf(lines)
	c.Figures.Head = append(c.Figures.Head, names...)
	for i, iv := range r.Series.Intervals {
		row := []string{seconds(iv.From.Seconds()), seconds(iv.To.Seconds())}
		for _, name := range names {
			l, ok := intervals[i][name]
			if !ok {
				l.P95 = math.NaN()
				row = append(row, "–")
			} else {
				row = append(row, figure(l.P95))
			}
			if !steps || iv.To-iv.From < shortest {
				continue
			}
			lines[name].add(iv.From.Seconds(), l.P95)
			lines[name].add(iv.To.Seconds(), l.P95)
		}
		c.Figures.Rows = append(c.Figures.Rows, row)
	}
	for _, name := range names {
		c.draw(*lines[name])
	}
	return c, nil
}

// quantiles of the distribution chart, ever closer to the end that users notice.
var quantiles = []float64{0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9999, 1}

func distributionChart(r *result.Record, id string) (chart, error) {
	w := r.Windows[0]
	c := chart{
		ID: id + "-distribution", Title: "Distribution of response times", YName: "ms", XName: "share of the calls", Log: true,
		Text:    fmt.Sprintf("Response time that a share of the calls stayed within, from %s to %s.", seconds(w.LatencyFrom), seconds(w.LatencyTo)),
		Figures: table{Caption: "Response times by share of calls, in milliseconds", Head: []string{"operation"}},
	}
	c.Labels = quantileLabels()
	c.Figures.Head = append(c.Figures.Head, c.Labels...)
	byName, err := r.Series.Distributions(latencySpan(w))
	if err != nil {
		return c, err
	}
	for _, name := range seriesOf(byName) {
		c.addShares(name, byName[name])
	}
	return c, nil
}

// addShares adds the response times at the quantiles as a line and a row of figures.
func (c *chart) addShares(name string, d measure.Distribution) {
	l, row := line{Name: name}, []string{name}
	for i, q := range quantiles {
		ms := float64(d.Quantile(q)) / float64(time.Millisecond)
		l.add(float64(i), ms)
		row = append(row, figure(ms))
	}
	c.draw(l)
	c.Figures.Rows = append(c.Figures.Rows, row)
}

func quantileLabels() (labels []string) {
	for _, q := range quantiles {
		labels = append(labels, plain(math.Round(1e6*q)/1e4)+" %")
	}
	return labels
}

// latencySpan is what a window's response times are of.
func latencySpan(w measure.Window) measure.Span {
	return measure.Span{From: duration(w.LatencyFrom), To: duration(w.LatencyTo)}
}

func duration(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }
