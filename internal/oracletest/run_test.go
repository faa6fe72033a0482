package oracletest

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

type sample struct {
	row
	begin, end int64 // ms
}

// times are those of a series in an interval.
type times struct {
	series   string
	from, to int64   // ms
	sum      float64 // ms
	histogram
}

// Run is a run, read from its record. What is unknown is NaN.
type Run struct {
	Status      string
	Reached     bool    // its first window
	Judged      bool    // that is not a phase that was cut short after less than ten samples
	OPM, P95    float64 // of the first window; P95 in milliseconds
	P95AtLeast  bool    // P95 is a lower bound
	Value       float64 // what counts: IOPS, where the record's unit is that, else OPM
	Unit        string
	Idle, Watts float64
	Steady      bool
	Drift       float64 // percent over the window
	Limits      []Limit
	AuditFails  bool
	Nothing     bool    // was completed in so much of the window that this is a failure
	CI95        float64 // half the width of the interval of Value, as the record has it

	summary  object
	samples  []sample
	times    []times
	host     []row
	from, to int64 // of the first window, in ms
}

// Limit is the verdict on a limit.
type Limit struct {
	Text     string
	Bound    float64 // in the base unit, such as Measured
	Measured float64
	Holds    bool
	atLeast  bool
}

// ReadRun reads a record, and computes its figures.
func ReadRun(dir string) (*Run, error) {
	s, err := readSummary(dir)
	if err != nil {
		return nil, err
	}
	r := &Run{
		summary: s,
		Status:  s.text("status"),
		Unit:    s.text("spec", "words", "unit"),
		OPM:     math.NaN(),
		P95:     math.NaN(),
		Value:   math.NaN(),
		Idle:    math.NaN(),
		Watts:   math.NaN(),
		Drift:   math.NaN(),
		CI95:    s.number("figure", "ci95"),

		AuditFails: s.at("audit") != nil && !s.yes("audit", "passed"),
	}
	samples, samplesErr := readRows(filepath.Join(dir, "samples.csv.gz"))
	histograms, histogramsErr := readRows(filepath.Join(dir, "histograms.csv.gz"))
	r.host, _ = readRows(
		filepath.Join(dir, "host.csv.gz"),
	) // there is none where nothing was observed
	if err := errors.Join(samplesErr, histogramsErr); err != nil {
		return nil, err
	}
	var last int64
	for _, s := range samples {
		end := millis(s.number("t_s"))
		r.samples = append(r.samples, sample{s, last, end})
		last = end
	}
	for _, h := range histograms {
		decoded, err := decode(h.text("hdrhistogram"))
		if err != nil {
			return nil, err
		}
		r.times = append(r.times, times{
			h.text("series"), millis(h.number("from_s")), millis(h.number("to_s")),
			h.number("sum_ns") / 1e6, decoded,
		})
	}
	return r, r.compute()
}

func (r *Run) compute() error {
	if err := r.window(); err != nil {
		return err
	}
	r.Idle = r.mean("power.watts", math.MinInt64, 0)
	if r.Reached {
		r.Watts = r.mean("power.watts", r.from, r.to)
		r.OPM = r.total("orders") * 60_000 / float64(r.to-r.from)
		r.P95, r.P95AtLeast = r.time("order", .95)
		r.Value = r.OPM
		if iops := r.IOPS(); r.Unit == "IOPS" && !math.IsNaN(iops) {
			r.Value = iops
		} else if r.Unit == "IOPS" {
			r.Unit = r.summary.text("spec", "words", "rate")
		}
		r.steady()
		r.Nothing = r.stalled() >= .1 || r.still() >= .5
	}
	for _, text := range r.summary.texts("spec", "limits") {
		l, err := r.limit(text)
		if err != nil {
			return err
		}
		r.Limits = append(r.Limits, l)
	}
	return nil
}

// window finds the first window: the one that was asked for, or the whole checkpoint cycles of the
// run phase, or all of that. Bounds are those of the nearest samples.
func (r *Run) window() error {
	all := r.samples
	run := slices.DeleteFunc(slices.Clone(all), func(s sample) bool {
		return s.text("phase") != "run"
	})
	if len(run) == 0 {
		return nil
	}
	r.from = run[0].begin
	r.to = run[len(run)-1].end
	if asked := r.summary.texts("spec", "windows"); len(asked) > 0 {
		from, to, _ := strings.Cut(asked[0], "-")
		a, errA := time.ParseDuration(from)
		b, errB := time.ParseDuration(to)
		if err := errors.Join(errA, errB); err != nil {
			return fmt.Errorf("window %q: %w", asked[0], err)
		}
		r.from = a.Milliseconds()
		r.to = b.Milliseconds()
	} else if first, last, cycles := r.cycles(); cycles > 0 && cycles < 10 &&
		2*(last-first) >= r.to-r.from {
		r.from = first
		r.to = last
	}
	if r.to > all[len(all)-1].end+100 {
		return nil
	}
	nearest := func(t int64) (bound int64) {
		for _, s := range all {
			if abs(s.end-t) <= abs(bound-t) {
				bound = s.end
			}
		}
		return bound
	}
	r.from, r.to = nearest(r.from), nearest(r.to)
	r.Reached = r.from < r.to
	within := 0
	for _, s := range all {
		if s.end > r.from && s.end <= r.to {
			within++
		}
	}
	r.Judged = r.Status == "done" || within >= 10 || len(r.summary.texts("spec", "windows")) > 0
	return nil
}

// cycles are the begins of the first and the last checkpoint of the run phase, and the cycles
// between them; none where the record says that there are none, or of several servers.
func (r *Run) cycles() (first, last int64, n int) {
	n = -1
	windows := r.summary.list("windows")
	if len(windows) == 0 || math.IsNaN(windows[0].number("cycle", "period_s")) {
		return 0, 0, 0
	}
	for _, c := range r.summary.list("checkpoints") {
		if at := int64(1000 * c.number("from_s")); at >= r.from && at <= r.to {
			if n < 0 {
				first = at
			}
			last = at
			n++
		}
	}
	return first, last, n
}

func abs(v int64) int64 { return max(v, -v) }

func (r *Run) inWindow() (all []sample) {
	for _, s := range r.samples {
		if s.begin >= r.from && s.end <= r.to {
			all = append(all, s)
		}
	}
	return all
}

// total is the sum of a count over the window.
func (r *Run) total(column string) (sum float64) {
	for _, s := range r.inWindow() {
		sum += s.number(column)
	}
	return sum
}

// steady applies SNIA's rule to fifths of the window. Runs whose checkpoints are known are judged
// over whole cycles, which is left out here.
func (r *Run) steady() {
	all := r.inWindow()
	if len(all) < 10 {
		return
	}
	var rates [5]float64
	mean := 0.
	least := math.Inf(1)
	most := 0.
	for i := range rates {
		fifth := all[i*len(all)/5 : (i+1)*len(all)/5]
		orders := 0.
		for _, s := range fifth {
			orders += s.number("orders")
		}
		rates[i] = orders * 60_000 / float64(fifth[len(fifth)-1].end-fifth[0].begin)
		mean += rates[i] / 5
		least = min(least, rates[i])
		most = max(most, rates[i])
	}
	if mean == 0 {
		return
	}
	slope := (2*rates[4] + rates[3] - rates[1] - 2*rates[0]) / 10 // from each fifth to the next
	r.Drift = 100 * 5 * slope / mean
	r.Steady = 100*(most-least)/mean <= 20 && math.Abs(r.Drift) <= 12.5
}

// gaps are the times on end in which no order was completed, each with its samples.
func (r *Run) gaps() (all [][]sample) {
	var gap []sample
	for _, s := range r.inWindow() {
		if s.number("orders") == 0 {
			gap = append(gap, s)
			continue
		}
		all = append(all, gap)
		gap = nil
	}
	return append(all, gap)
}

// lasts is how long a gap is, in milliseconds.
func lasts(gap []sample) (sum float64) {
	for _, s := range gap {
		sum += float64(s.end - s.begin)
	}
	return sum
}

// stalled is the share of the window in gaps in which an attempt failed or a user waited to try
// again.
func (r *Run) stalled() float64 {
	sum := 0.
	for _, gap := range r.gaps() {
		if slices.ContainsFunc(gap, func(s sample) bool {
			return s.number("errors") > 0 || s.number("held_up") > 0
		}) {
			sum += lasts(gap)
		}
	}
	return sum / float64(r.to-r.from)
}

// still is the share of the window in gaps that are no chance: of 5 s and more, in which 20 orders
// and more would have been completed at the rate outside the longer ones and this.
func (r *Run) still() float64 {
	var all []float64
	for _, gap := range r.gaps() {
		all = append(all, lasts(gap))
	}
	slices.Sort(all)
	sum := 0.
	for _, gap := range slices.Backward(all) {
		outside := float64(r.to-r.from) - sum - gap
		if gap < 5000 || outside > 0 && !(r.total("orders")*gap/outside >= 20) {
			break
		}
		sum += gap
	}
	return sum / float64(r.to-r.from)
}

// time is a quantile of the response times of an operation or a group in milliseconds, over the
// intervals that lie in the window; of a share below 0 it is their mean. To whole orders belong
// those that were dropped, whose times are lower bounds: so is a quantile at or above the shortest
// of them.
func (r *Run) time(name string, share float64) (milliseconds float64, atLeast bool) {
	names := []string{name}
	if group := r.summary.texts("spec", "words", "groups", name); len(group) > 0 {
		names = group
	}
	if name == r.summary.text("spec", "words", "cycle") {
		names = []string{"order"}
	}
	var done, dropped, all histogram
	for _, t := range r.times {
		middle := (t.from + t.to) / 2
		switch {
		case t.from < r.from-100 || t.to > r.to+100 || middle < r.from || middle > r.to:
		case slices.Contains(names, t.series):
			done.add(t.histogram)
			milliseconds += t.sum
		case t.series == "dropped" && slices.Contains(names, "order"):
			dropped.add(t.histogram)
		}
	}
	all.add(done)
	all.add(dropped)
	certain := done.total // that ended before any dropped order
	if dropped.total > 0 {
		certain = 0
		for i := 0; i < len(done.counts) && dropped.counts[i] == 0; i++ {
			certain += done.counts[i]
		}
	}
	switch {
	case all.total == 0:
		return math.NaN(), false
	case share < 0:
		return milliseconds / float64(done.total), dropped.total > 0
	}
	return all.quantile(share), share*float64(all.total) > float64(certain)
}

// seconds are the counters of those after from, up to to.
func (r *Run) seconds(from, to int64) iter.Seq[row] {
	return func(yield func(row) bool) {
		for _, s := range r.host {
			if t := millis(s.number("t_s")); t > from && t <= to && !yield(s) {
				return
			}
		}
	}
}

// mean is that of a counter over the seconds after from, up to to.
func (r *Run) mean(column string, from, to int64) float64 {
	sum := 0.
	n := 0.
	for s := range r.seconds(from, to) {
		if v := s.number(column); !math.IsNaN(v) {
			covers := s.covers(column)
			if since := float64(millis(s.number("t_s"))-from) / 1000; from != math.MinInt64 {
				covers = min(covers, max(1, since)) // of what a late one has from before
			}
			sum = sum + v*covers
			n = n + covers
		}
	}
	return sum / n
}

// drives are those with a role, of any where it is empty.
func (r *Run) drives(role string) (names []string) {
	if role == "" && len(r.host) > 0 {
		for _, c := range r.host[0].columns {
			name, reads := strings.CutSuffix(c, ".reads_per_second")
			if name, disk := strings.CutPrefix(name, "disk."); reads && disk {
				names = append(names, name)
			}
		}
		return names
	}
	for _, d := range r.summary.list("machine", "drives") {
		if slices.Contains(d.texts("roles"), role) {
			names = append(names, d.text("name"))
		}
	}
	return names
}

// ofDrives is the sum of the means of a counter of all drives over the window.
func (r *Run) ofDrives(column string) (sum float64) {
	for _, drive := range r.drives("") {
		sum += r.mean("disk."+drive+column, r.from, r.to)
	}
	return sum
}

// Latency is the mean over all reads or writes of the slowest drive with a role in the window, in
// milliseconds. A write of the log takes as long as a commit waits: until it is written, and the
// drive's cache flushed; as the server timed it, where that is longer.
func (r *Run) Latency(role string, write bool) float64 {
	rate := ".reads_per_second"
	latency := ".read_seconds"
	if write {
		rate = ".writes_per_second"
		latency = ".write_seconds"
	}
	slowest := math.NaN()
	for _, drive := range r.drives(role) {
		ios := 0.
		took := 0.
		flushes := 0.
		flushed := 0.
		syncs := 0.
		disk := "disk." + drive
		for s := range r.seconds(r.from, r.to) {
			n := s.number(disk+rate) * s.covers(disk+rate)
			each := s.number(disk + latency)
			if !(n > 0) || math.IsNaN(each) {
				continue
			}
			ios = ios + n
			took = took + n*each
			f := s.number(disk+".flushes_per_second") * s.covers(disk+rate)
			each = s.number(disk + ".flush_seconds")
			if f > 0 && !math.IsNaN(each) {
				flushes = flushes + f
				flushed = flushed + f*each
			}
			if n := s.number("db.log_syncs_per_second"); n > 0 {
				syncs += n * s.covers("db.log_syncs_per_second")
			}
		}
		mean := took / ios
		if waits := max(flushes, syncs); role == "log" && write && waits > 0 {
			mean += flushed / waits
		}
		if mean *= 1000; ios > 0 && !(mean <= slowest) {
			slowest = mean
		}
	}
	if role == "log" && write && r.logWait() > slowest {
		return r.logWait()
	}
	return slowest
}

// logWait is how long the server waited for a write of its log and the sync after it, where it
// timed them, in milliseconds.
func (r *Run) logWait() float64 {
	writes := 0.
	writing := 0.
	syncs := 0.
	syncing := 0.
	for s := range r.seconds(r.from, r.to) {
		n := s.number("db.log_writes_per_second")
		took := s.number("db.log_write")
		if !(n > 0 && took >= 0) {
			continue
		}
		covers := s.covers("db.log_writes_per_second")
		writes = writes + n*covers
		writing = writing + took*covers
		if n, took = s.number("db.log_syncs_per_second"), s.number("db.log_sync"); n > 0 &&
			took >= 0 {
			syncs = syncs + n*covers
			syncing = syncing + took*covers
		}
	}
	wait := writing / writes
	if syncs > 0 {
		wait += syncing / syncs
	}
	return 1000 * wait
}

// IOPS is the reads and writes a second of the data's drives. Where one holds the log too, the
// log's writes, as many as its syncs, are none of the data. NaN: not known.
func (r *Run) IOPS() (iops float64) {
	shared := false
	writes := 0.
	logs := r.drives("log")
	for _, drive := range r.drives("data") {
		iops += r.mean("disk."+drive+".reads_per_second", r.from, r.to)
		writes += r.mean("disk."+drive+".writes_per_second", r.from, r.to)
		shared = shared || slices.Contains(logs, drive)
	}
	if shared {
		writes = max(0, writes-r.mean("db.log_syncs_per_second", r.from, r.to))
	}
	if len(logs) == 0 || len(r.drives("data")) == 0 {
		return math.NaN()
	}
	return iops + writes
}

// limitForm is a figure, how it compares, a number and its unit.
var limitForm = regexp.MustCompile(`^(.+?) *([<>]=?) *([0-9.]+) *(|%|us|ms|s|m)$`)

// limit judges a limit such as "order p95 < 500ms" over the window. Without a figure it does not
// hold.
func (r *Run) limit(text string) (l Limit, err error) {
	l = Limit{Text: text, Measured: math.NaN()}
	parts := limitForm.FindStringSubmatch(text)
	if parts == nil {
		return l, fmt.Errorf("limit %q", text)
	}
	limit, err := strconv.ParseFloat(parts[3], 64)
	l.Bound = limit * map[string]float64{"": 1, "%": .01, "us": 1e-6, "ms": 1e-3, "s": 1, "m": 60}[parts[4]]
	if r.Reached {
		l.Measured, l.atLeast = r.measured(parts[1])
	}
	l.Holds = l.keeps(l.Measured) && (!l.atLeast || strings.HasPrefix(parts[2], ">"))
	return l, err
}

// keeps says that a value keeps the limit.
func (l Limit) keeps(value float64) bool {
	switch limitForm.FindStringSubmatch(l.Text)[2] {
	case ">=":
		return value >= l.Bound
	case ">":
		return value > l.Bound
	case "<=":
		return value <= l.Bound
	}
	return value < l.Bound
}

// seen says that the limit is judged by what was seen alone, and by no interval.
func (l Limit) seen() bool {
	figure := limitForm.FindStringSubmatch(l.Text)[1]
	return figure == "errors" || figure == "dropped" || strings.HasSuffix(figure, " max")
}

// measured is the figure of a limit in its base unit; NaN where it is unknown, or none that is
// computed here.
func (r *Run) measured(figure string) (v float64, atLeast bool) {
	switch figure {
	case "opm":
		return r.OPM, false
	case "iops":
		return r.IOPS(), false
	case "errors":
		return ratio(r.total("errors"), r.total("orders")+r.total("given_up")), false
	case "dropped":
		return ratio(r.total("dropped"), r.total("offered")), false
	}
	words := strings.Fields(figure)
	name := strings.Join(words[:len(words)-1], " ")
	statistic := words[len(words)-1]
	share := -1.
	if digits, percentile := strings.CutPrefix(statistic, "p"); percentile {
		f, _ := strconv.ParseFloat(digits, 64)
		share = f / 100
	} else if statistic == "max" {
		share = 1
	}
	role, io, two := strings.Cut(name, " ")
	if two && (io == "read" || io == "write") && share < 0 {
		return r.Latency(strings.Replace(role, "device", "", 1), io == "write") / 1000, false
	}
	v, atLeast = r.time(name, share)
	return v / 1000, atLeast
}

// ratio is unknown over nothing.
func ratio(part, whole float64) float64 {
	if whole == 0 {
		return math.NaN()
	}
	return part / whole
}
