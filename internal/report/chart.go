package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"ds2/internal/compare"
	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/sampling"
)

// chart is what page.js draws; its fields are what it reads.
type chart struct {
	ID     string   `json:"id"`
	Title  string   `json:"title"`
	Text   string   `json:"text"` // what there is to see, in words
	YName  string   `json:"yName"`
	Log    bool     `json:"log"`  // logarithmic y axis
	Near   bool     `json:"near"` // the y axis begins near the lowest value, not at 0
	Place  place    `json:"-"`
	Labels []string `json:"labels,omitempty"` // x axis of labels
	// without it and labels, x is seconds since the first orders
	XName     string   `json:"xName,omitempty"`
	Lines     []line   `json:"lines"`
	From      float64  `json:"from"` // ends of the time axis, the same in all charts of a run
	To        float64  `json:"to"`
	Bands     []band   `json:"bands,omitempty"`
	Verticals []mark   `json:"verticals,omitempty"`
	Names     []string `json:"names,omitempty"` // of the whole numbers of the x axis, from 1
	Levels    []mark   `json:"levels,omitempty"`
}

// line is one curve. A point is x and y; y is null where there is nothing to show.
type line struct {
	// in the legend, where lines of one name stand once
	Name   string        `json:"name"`
	What   string        `json:"what,omitempty"` // which of the lines of that name it is
	Points [][2]*float64 `json:"points"`
	Thin   bool          `json:"thin"` // in the background
	Hue    int           `json:"hue"`  // lines of one thing, such as a drive, have one colour
	Dash   int           `json:"dash"` // and differ by their dashes: 0 is solid

	// In place of a line:
	Dots   bool `json:"dots,omitempty"`
	Hollow bool `json:"hollow,omitempty"` // dots that are rings
	Bars   bool `json:"bars,omitempty"`   // error bars: both ends of each, and nothing
	Wide   bool `json:"wide,omitempty"`   // columns from 0
	Faint  bool `json:"faint,omitempty"`  // columns that are no result
}

// draw adds lines, each in a separate colour; those beyond the third differ by their dashes too,
// for readers who cannot tell all colours apart.
func (c *chart) draw(lines ...line) {
	for _, l := range lines {
		l.Hue = len(c.Lines)
		l.Dash = len(c.Lines) / 3
		c.Lines = append(c.Lines, l)
	}
}

// band is a shaded part of the time axis.
type band struct {
	Name string  `json:"name"`
	From float64 `json:"from"`
	To   float64 `json:"to"`
	// a window that figures are taken from; else a phase that is none
	Window bool `json:"window"`
}

// mark is a line across a chart, at a place on the x axis or at a height.
type mark struct {
	Name string  `json:"name"`
	At   float64 `json:"at"`
}

func (l *line) add(x, y float64) { l.Points = append(l.Points, [2]*float64{Digits(x), Digits(y)}) }

// Digits rounds a figure to five digits that matter, to keep the page small; nil of what is no
// number.
func Digits(f float64) *float64 {
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
	// All charts of a run show the same points, so that a peak in one is found in the others.
	points := thinned(r.Series.Samples, maxPoints)
	// What the drives can do by themselves stands beside what the run had of them.
	device := deviceChart(id, []Device{{r.RunID, r.Device, compare.Single(r.Summary).Runs}})
	all := slices.Concat([]chart{opmChart(r, id, points), latencyChart(r, id, points)},
		drawn(device), []chart{operationsChart(id, points)})
	if len(r.Windows) > 0 {
		distribution, err := distributionChart(r, id)
		if err != nil {
			return nil, err
		}
		all = append(all, distribution)
	}
	all = append(all, hostCharts(r, id)...)
	// The figure of a mail store is the I/Os of its drives, so their chart is the picture.
	requests := slices.IndexFunc(all, func(c chart) bool { return c.ID == id+"-requests" })
	if requests > 0 && r.Words.Unit == result.IOPS {
		all[requests].Place = picture
		all[0].Place = second
	}
	from, to := extent(r)
	shaded := bands(r, from, to)
	verticals := checkpointVerticals(r, to-from)
	// Events are numbered as in the table of events, which says what their commands were.
	for i, e := range r.Events {
		verticals = append(verticals, mark{fmt.Sprintf("event %d", i+1), e.From})
	}
	for i := range all {
		if all[i].Labels == nil && all[i].XName == "" {
			// One time axis for all: a checkpoint is at the same place in the rate and in the
			// latency.
			all[i].From = from
			all[i].To = to
			all[i].Bands = shaded
			all[i].Verticals = verticals
		}
	}
	return all, nil
}

// endOf is when the last orders of a record ended, in seconds since the first.
func endOf(r *result.Record) float64 {
	return r.Series.Samples[len(r.Series.Samples)-1].End.Seconds()
}

// extent is the time that a record has samples of, in seconds since the first orders.
func extent(r *result.Record) (from, to float64) {
	to = endOf(r)
	if rows := r.Host.Rows; len(rows) > 0 {
		// Counters begin before the first orders, for the idle power, and a row covers the time
		// before it.
		from = min(0, rows[0].Time.Sub(r.Start).Seconds()-sampling.Interval.Seconds())
		to = max(to, rows[len(rows)-1].Time.Sub(r.Start).Seconds())
	}
	return from, to
}

// maxPoints is how many points a curve has at most: more than a page is wide in pixels.
const maxPoints = 2000

const maxVerticals = 200

// shortest is the shortest time that is drawn. The last orders of a run drain in a fraction of a
// second, and the rate and response times of those few would be a spike that is none.
const shortest = time.Second / 2

// thinned merges neighbouring samples of one phase where there are more than n, and leaves out a
// last one that is too short.
func thinned(samples []measure.Sample, most int) []measure.Sample {
	if last := len(samples) - 1; last > 0 && samples[last].Length < shortest {
		samples = samples[:last]
	}
	group := (len(samples) + most - 1) / most
	if group <= 1 {
		return samples
	}
	var merged []measure.Sample
	// A group ends with its phase: a point never mixes the ramp with what counts.
	n := 0
	for _, s := range samples {
		if n == 0 || n == group || s.Phase != merged[len(merged)-1].Phase {
			merged = append(merged, s)
			n = 1
			continue
		}
		// Counts add up and times are weighed by them; users are those at the end.
		m := &merged[len(merged)-1]
		m.Add(s)
		m.End = s.End
		m.Users = s.Users
		m.Length += s.Length
		n++
	}
	return merged
}

// middle is where a sample stands on the time axis.
func middle(s measure.Sample) float64 { return (s.End - s.Length/2).Seconds() }

// bands are the times and phases that are not measured and the windows that are.
func bands(r *result.Record, from, to float64) (all []band) {
	end := endOf(r)
	if from < 0 {
		all = append(all, band{Name: "idle", From: from})
	}
	if to > end {
		all = append(all, band{Name: "cool-down", From: end, To: to})
	}
	for _, p := range r.Phases {
		if p.Phase != measure.PhaseRun && p.To > p.From && p.To > 0 {
			all = append(all, band{Name: string(p.Phase), From: max(p.From, 0), To: p.To})
		}
	}
	for _, w := range r.Windows {
		all = append(all, band{Name: "window " + w.Name, From: w.From, To: w.To, Window: true})
	}
	return all
}

// checkpointVerticals are where checkpoints began; where there are more than can be told apart,
// none has a name.
func checkpointVerticals(r *result.Record, length float64) (all []mark) {
	const named = 12
	for _, c := range r.Checkpoints {
		v := mark{At: c.From}
		if len(r.Checkpoints) <= named {
			v.Name = "checkpoint"
		}
		if n := len(all); n == 0 || v.At-all[n-1].At >= length/maxVerticals {
			all = append(all, v)
		}
	}
	return all
}

func withPoints(lines ...line) []line {
	return slices.DeleteFunc(lines, func(l line) bool { return len(l.Points) == 0 })
}

func drawn(all ...chart) []chart {
	return slices.DeleteFunc(all, func(c chart) bool { return len(c.Lines) == 0 })
}

// mostRows is how many rows the figures of a chart have at most.
const mostRows = 40

// Figures are a chart for those who do not see it: what each line has at every x or, where there
// are too many, its range in equal parts of the time.
func (c chart) Figures() table {
	t := table{Caption: c.Title, Head: []string{cmp.Or(c.XName, "time, s")}}
	if c.YName != "" { // a count has no unit
		t.Caption += ", " + c.YName
	}
	var xs []float64
	for _, l := range c.Lines {
		t.Head = append(t.Head, strings.TrimSpace(l.Name+" "+l.What))
		for _, p := range l.Points {
			xs = append(xs, *p[0])
		}
	}
	slices.Sort(xs)
	xs = slices.Compact(xs)
	// A table of thousands of seconds is of no use to those who listen to it.
	inParts := len(xs) > mostRows
	if inParts {
		const parts = 20
		from := xs[0]
		to := xs[len(xs)-1]
		xs = nil
		for i := range parts {
			xs = append(xs, from+(to-from)*float64(i)/parts)
		}
	}
	xs = append(xs, math.Inf(1)) // after the last
	for i, x := range xs[:len(xs)-1] {
		t.row(cells(c.nameOf(x), c.Lines, func(l line) string {
			return l.between(x, xs[i+1], inParts)
		})...)
	}
	return t
}

func (c chart) nameOf(x float64) string {
	switch i := int(math.Round(x)); {
	case c.Labels != nil:
		return c.Labels[i]
	case c.Names != nil:
		return c.Names[min(max(i, 1), len(c.Names))-1]
	}
	return figure(x)
}

// between are the values of a line from one x up to another, or their range; a dash where there are
// none.
func (l line) between(from, to float64, inParts bool) string {
	var values []float64
	for _, p := range l.Points {
		if p[1] != nil && *p[0] >= from && *p[0] < to {
			values = append(values, *p[1])
		}
	}
	switch {
	case len(values) == 0:
		return "–"
	case !inParts:
		return strings.Join(mapEach(values, figure), ", ")
	}
	return figure(slices.Min(values)) + " to " + figure(slices.Max(values))
}

func opmChart(r *result.Record, id string, samples []measure.Sample) chart {
	of := struct {
		*result.Record
		Drawn []measure.Sample
	}{r, samples}
	c := newChart(id+"-opm", "chart of the rate", of, picture)
	rate := line{Name: r.Words.Rate + " of each second"}
	for _, s := range samples {
		rate.add(middle(s), s.OPM())
	}
	c.draw(rate)
	// The figure that counts, drawn over the time that it is the mean of.
	if len(r.Windows) > 0 {
		w := r.Windows[0]
		mean := line{Name: "mean of window " + w.Name}
		mean.add(w.From, w.OPM)
		mean.add(w.To, w.OPM)
		c.draw(mean)
	}
	return c
}

func latencyChart(r *result.Record, id string, samples []measure.Sample) chart {
	c := newChart(id+"-latency", "chart of response times", r, second)
	maximum := line{Name: "longest", Thin: true}
	p95 := line{Name: "p95"}
	mean := line{Name: "mean"}
	for _, s := range samples {
		// A second without orders has no response time, which is not one of 0 ms.
		if s.Counts.Orders == 0 {
			s.Mean = math.NaN()
			s.P95 = math.NaN()
			s.Max = math.NaN()
		}
		maximum.add(middle(s), s.Max)
		p95.add(middle(s), s.P95)
		mean.add(middle(s), s.Mean)
	}
	c.draw(mean, p95, maximum)
	return c
}

// operationsChart has the 95th percentile of whole orders and of each operation, second by second.
func operationsChart(id string, samples []measure.Sample) chart {
	c := newChart(id+"-operations", "chart of operations", nil, folded)
	lines := map[string]*line{}
	for _, s := range samples {
		operations := slices.Clip(s.Operations)
		if s.Counts.Orders > 0 {
			operations = append(operations,
				measure.OperationP95{Name: measure.WholeOrder, P95: s.P95})
		}
		for _, o := range operations {
			if lines[o.Name] == nil {
				lines[o.Name] = &line{Name: o.Name}
			}
			lines[o.Name].add(middle(s), o.P95)
		}
	}
	for _, name := range seriesOf(lines) {
		c.draw(*lines[name])
	}
	return c
}

// quantiles of the distribution chart, ever closer to the end that users notice.
var quantiles = []float64{0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9999, 1}

func distributionChart(r *result.Record, id string) (chart, error) {
	w := r.Windows[0]
	c := newChart(id+"-distribution", "chart of the distribution", r, folded)
	c.Labels = quantileLabels()
	times, err := r.Series.Distributions(latencySpan(w))
	if err != nil {
		return c, err
	}
	for _, name := range seriesOf(times.Operations) {
		c.addShares(name, times.Operations[name])
	}
	return c, nil
}

// addShares adds the response times at the quantiles as a line.
func (c *chart) addShares(name string, d measure.Distribution) {
	l := line{Name: name}
	for i, q := range quantiles {
		l.add(float64(i), 1e3*d.Quantile(q).Seconds())
	}
	c.draw(l)
}

func quantileLabels() (labels []string) {
	for _, q := range quantiles {
		labels = append(labels, plain(math.Round(1e6*q)/1e4)+" %")
	}
	return labels
}

func latencySpan(w measure.Window) measure.Span {
	return measure.Span{From: measure.Seconds(w.LatencyFrom), To: measure.Seconds(w.LatencyTo)}
}
