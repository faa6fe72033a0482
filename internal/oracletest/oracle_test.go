package oracletest_test

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/conclude"
	"ds2/internal/driver"
	"ds2/internal/experiment"
	"ds2/internal/measure"
	"ds2/internal/monitor"
	"ds2/internal/oracletest"
	"ds2/internal/result"
	"ds2/internal/runs"
	"ds2/internal/sampling"
	"ds2/internal/texttest"
	"ds2/internal/topology"
	"ds2/internal/workload/ds2"
)

// madeUp is an experiment that a seed makes up: what its configurations do, and what befalls their
// runs.
type madeUp struct {
	t      *testing.T
	seed   uint64
	random *rand.Rand
	dir    string

	spec  result.Spec
	names []string
	// the runs are made in blocks of one experiment; else each configuration is a bench
	blocks         bool
	runs           int
	warmup, length int  // seconds
	drop           bool // runs that are not steady
	open           bool // loop
	shared         bool // one drive holds data and log
	power          bool
	unlike         string // the parameter in which the last of several benches differs
	altered        string // the same, also where it may differ
	ground         *ground
	shift          *ground // that changes between the runs of the first configuration,
	shiftAt        int     // from the run of this number on
	declared       string  // a parameter that is meant to differ
	calm           bool    // nothing befalls the runs
	scatter        float64
	rates          []float64 // orders a second of each configuration; 0: it does none
	exits          []int     // of ds2 bench, by configuration
}

const day = 24 * 3600 // seconds

func (m *madeUp) chance(share float64) bool { return m.random.Float64() < share }

func pick[T any](m *madeUp, some ...T) T { return some[m.random.IntN(len(some))] }

func makeUp(t *testing.T, seed uint64) *madeUp {
	m := &madeUp{t: t, seed: seed, random: rand.New(rand.NewPCG(seed, 49)), dir: memory(t)}
	m.names = []string{"a", "b", "c"}[:pick(m, 1, 2, 2, 2, 3, 3)]
	m.random.Shuffle(len(m.names), func(i, k int) {
		m.names[i], m.names[k] = m.names[k], m.names[i]
	})
	m.blocks = len(m.names) > 1 && m.chance(.6)
	m.runs = pick(m, 1, 2, 3, 4, 5, 5, 6, 6, 7)
	m.warmup, m.length = m.random.IntN(12), pick(m, 20, 20, 25, 30, 31, 45, 60, 123)
	m.drop, m.open, m.shared, m.power = m.chance(.15), m.chance(.3), m.chance(.4), m.chance(.6)
	if !m.blocks && len(m.names) > 1 && m.chance(.3) {
		m.altered = pick(m, "kit version", "checkpoint first", "restore")
		m.unlike = m.altered
	}
	m.setGround()
	m.calm, m.scatter = m.chance(.4), pick(m, .002, .01, .03, .1)
	a := &m.spec
	*a = result.Spec{
		KitVersion: "made",
		Workload:   ds2.Name,
		Words:      ds2.Workload{}.Words(),
		Engine:     "postgres",
		Targets:    []string{"host/db"},
		Size:       "S",
		Threads:    4,
		Seed:       1,
		RampRate:   100,
		Own:        result.NewBlock(struct{}{}),
		MaxRetries: 20,
	}
	switch {
	case seed%250 == 50:
		m.length, m.runs, m.names = day, min(m.runs, 2), m.names[:min(len(m.names), 2)]
	case m.chance(.04):
		m.length = 1200
	case m.chance(.2):
		from := m.random.IntN(m.length / 2)
		to := from + 11 + m.random.IntN(m.length/2-9)
		a.WindowTexts = []string{fmt.Sprintf("%ds-%ds", m.warmup+from, m.warmup+to)}
	}
	if m.length == 1200 {
		a.WindowTexts = []string{"1000s-1200s"}
	}
	a.RunTime.Duration = time.Duration(m.length) * time.Second
	a.WarmupTime.Duration = time.Duration(m.warmup) * time.Second
	base := 1 + 8*m.random.Float64()
	if m.length == day {
		base = .3
	}
	if m.open {
		a.Rate = base * 1.2
		a.Spacing = "poisson"
	}
	for range m.names {
		rate := base * math.Exp(pick(m, 0, .01, .05, .3, -1.2)*m.random.NormFloat64())
		if m.chance(.05) {
			rate = 0
		}
		m.rates = append(m.rates, rate)
	}
	for range m.random.IntN(4) {
		a.LimitTexts = append(a.LimitTexts, pick(
			m,
			fmt.Sprintf("opm > %.0f", 60*base*(.85+.2*m.random.Float64())),
			"order p95 < 60ms",
			"purchase mean <= 21ms",
			"browse p99 < 45ms",
			"errors < 1.5%",
			"data read mean < 2.1ms",
			"log write mean < 1.05ms",
			"iops >= 140",
			fmt.Sprintf("order max < %dms", 60+m.random.IntN(60)),
		))
	}
	return m
}

// run makes a run of a configuration, and its record.
func (m *madeUp) run(
	dir string,
	configuration int,
	place runs.Place,
) (result.Summary, error) {
	fate := "done"
	if !m.calm {
		fate = pick(
			m,
			"done",
			"done",
			"done",
			"done",
			"done",
			"done",
			"done",
			"done",
			"unsteady",
			"unsteady",
			"aborted",
			"aborted",
			"failed",
			"interrupted",
			"throttled",
			"audit",
			"zero",
		)
	}
	start := time.Date(2026, 11, 22, 12, place.Number, 0, 0, time.UTC)
	s := result.Summary{
		Spec:     m.spec,
		Happened: result.Happened{Status: result.Running, Start: start},
	}
	s.RunID = fmt.Sprintf("made-%d", place.Number)
	s.Seed = uint64(place.Number)
	s.Machine = &topology.Machine{Processors: 4, Drives: []topology.Drive{
		{
			Name:  "d",
			Roles: []topology.Role{topology.Data},
		},
		{Name: "l", Roles: []topology.Role{topology.Log}},
	}}
	if m.shared {
		s.Machine.Drives = []topology.Drive{
			{Name: "d", Roles: []topology.Role{topology.Data, topology.Log}},
		}
	}
	m.stand(&s, configuration, place.Number)
	end := 1 + m.warmup + m.length
	switch fate {
	case "aborted", "failed", "interrupted":
		end = 1 + m.random.IntN(end)
	case "throttled":
		s.SMART = []monitor.SMART{{Drive: "d", Throttled: "throttled for 30 minutes"}}
	}
	rate := m.rates[configuration] * math.Exp(
		m.scatter*m.random.NormFloat64(),
	) * (1 - .002*float64(place.Number))
	if fate == "zero" {
		rate = 0
	}
	trend := 0.
	if fate == "unsteady" {
		trend = m.random.NormFloat64()
	}
	m.record(dir, s, end, rate, trend)
	status := map[string]result.Status{
		"aborted": result.Aborted, "failed": result.Failed,
		"interrupted": result.Interrupted,
	}
	s.Status = cmp.Or(status[fate], result.Done)
	s.End = start.Add(time.Duration(end) * time.Second)
	series, err := result.ReadSeries(dir, false)
	require.NoError(m.t, err)
	counters, err := result.ReadHost(dir, start, false)
	require.NoError(m.t, err)
	s.Counts = (&result.Record{Series: series}).Counted()
	s.Conclusion, err = conclude.Of(conclude.Input{
		Spec: s.Spec, Happened: s.Happened, Series: series, Counters: counters,
	}, nil)
	if s.Status == result.Done {
		require.NoError(m.t, err)
	}
	if fate == "audit" {
		s.Audit = &result.Audit{Checks: []result.Check{{Name: "orders", Expected: "2", Found: "1"}}}
	}
	require.NoError(m.t, result.SaveSummary(dir, s))
	switch fate { // as runs.BenchRun says it
	case "failed":
		return s, errors.New("the server is gone")
	case "interrupted":
		return s, driver.ErrStopped
	}
	return s, nil
}

// record writes the samples, histograms and counters of a run, whose orders come at a rate that
// changes by a part of itself over the run.
func (m *madeUp) record(dir string, s result.Summary, seconds int, rate, trend float64) {
	w, err := result.Create(dir, s)
	require.NoError(m.t, err)
	columns := []string{
		"disk.d.reads_per_second",
		"disk.d.read_seconds",
		"disk.d.writes_per_second",
		"disk.d.write_seconds",
		"disk.d.read_bytes_per_second",
		"disk.d.written_bytes_per_second",
		"cpu.busy_ratio",
		"db.log_syncs_per_second",
		"db.log_bytes_per_second",
	}
	if !m.shared {
		columns = append(
			columns,
			"disk.l.reads_per_second",
			"disk.l.read_seconds",
			"disk.l.writes_per_second",
			"disk.l.write_seconds",
		)
	}
	if m.power {
		columns = append(columns, sampling.Power)
	}
	counters := sampling.Table{Columns: columns}
	counted := func(at, load, covers float64) {
		means := map[string]float64{
			"disk.d.reads_per_second":         100,
			"disk.d.writes_per_second":        60,
			"disk.l.writes_per_second":        50,
			"db.log_syncs_per_second":         40,
			"cpu.busy_ratio":                  .5,
			"db.log_bytes_per_second":         4e5,
			"disk.d.read_bytes_per_second":    8e5,
			"disk.d.written_bytes_per_second": 9e5,
		}
		var values []float64
		for _, c := range columns {
			v := load * means[c] * (.5 + m.random.Float64())
			switch {
			case m.seed%20 == 19: // nothing that is counted is known
				v = math.NaN()
			case c == sampling.Power:
				v = 200 + load*100*m.random.Float64()
			case strings.HasSuffix(c, "read_seconds") && m.chance(.1):
				v = math.NaN() // no reads in this second
			case strings.HasSuffix(c, "_seconds"):
				v = (.001 + .001*m.random.ExpFloat64()) * (1 + float64(len(counters.Rows)%20)/20)
			}
			values = append(values, v)
		}
		row := sampling.Row{
			Time:   s.Start.Add(time.Duration(at * float64(time.Second))),
			Values: values, Covers: slices.Repeat([]float64{covers}, len(values)),
		}
		counters.Rows = append(counters.Rows, row)
	}
	for second := -5; second <= 0; second++ {
		counted(float64(second), 0, 1)
	}
	bounds := map[int]bool{1: true, 1 + m.warmup: true, seconds: true}
	for _, text := range m.spec.WindowTexts {
		spec, err := measure.ParseWindow(text)
		require.NoError(m.t, err)
		bounds[int(spec.From.Seconds())] = true
		bounds[int(spec.To.Seconds())] = true
	}
	operations := []string{"browse_by_actor", "browse_by_title", "order", "purchase"}
	var last, begin time.Duration
	iv := newTimes()
	for second := 1; second <= seconds; second++ {
		end := time.Duration(second)*time.Second + time.Duration(m.random.IntN(4))*time.Millisecond
		sample := measure.Sample{End: end, Length: end - last, Phase: measure.PhaseRun, Users: 4}
		switch {
		case second == 1:
			sample.Phase = measure.PhaseRamp
		case second <= 1+m.warmup:
			sample.Phase = measure.PhaseWarmup
		}
		share := float64(second) / float64(1+m.warmup+m.length)
		n := int64(
			max(
				0,
				rate*(1+trend*(share-.5))+math.Sqrt(
					rate,
				)/3*m.random.NormFloat64()+m.random.Float64(),
			),
		)
		if rate == 0 {
			n = 0
		}
		sample.Counts.Orders = n
		if m.chance(.1) {
			sample.Errors = int64(m.random.IntN(3))
			sample.Failures = []measure.FailureCount{
				{Operation: "purchase", Class: "deadlock", Count: sample.Errors},
			}
		}
		if m.open {
			sample.Counts.Offered = int64(m.spec.Rate + m.random.Float64())
			if lost := sample.Counts.Offered - n; lost > 0 && m.chance(.3) {
				sample.Counts.Dropped = lost
				iv.add("dropped", 10*time.Second+time.Duration(m.random.IntN(5e9)), lost)
			}
		}
		for _, name := range operations {
			for left := n; left > 0; left -= 3 {
				took := (.002 + .02*m.random.ExpFloat64()) * float64(time.Second)
				iv.add(name, time.Duration(took), min(left, 3))
			}
		}
		require.NoError(m.t, w.Sample(sample))
		if m.length < day {
			counted(float64(second), 1, 1)
		} else if second%20 == 0 {
			counted(float64(second), 1, 20)
		}
		if bounds[second] || end-begin > time.Duration(max(49, seconds/100))*time.Second {
			require.NoError(m.t, w.Interval(iv.encoded(m.t, begin, end)))
			begin = end
			iv = newTimes()
		}
		last = end
	}
	require.NoError(m.t, errors.Join(w.Close(), result.SaveHost(dir, &counters, s.Start)))
}

// times are histograms under way, by series.
type times struct {
	of   map[string]*hdr.Histogram
	sums map[string]time.Duration
}

func newTimes() times { return times{map[string]*hdr.Histogram{}, map[string]time.Duration{}} }

func (all times) add(name string, d time.Duration, n int64) {
	if all.of[name] == nil {
		all.of[name] = hdr.New(1, int64(time.Hour/time.Microsecond), 2)
	}
	_ = all.of[name].RecordValues(max(1, d.Microseconds()), n)
	all.sums[name] += d * time.Duration(n)
}

func (all times) encoded(t *testing.T, from, to time.Duration) measure.Interval {
	iv := measure.NewInterval(from, to)
	for name, h := range all.of {
		text, err := h.Encode(hdr.V2CompressedEncodingCookieBase)
		require.NoError(t, err)
		iv.Histograms[name] = string(text)
		iv.Sums[name] = all.sums[name]
	}
	return iv
}

// make makes the runs by the kit's own procedure, which is continued where it was interrupted.
func (m *madeUp) make() {
	spec := m.spec
	spec.Runs = m.runs
	spec.DropUnsteady = m.drop
	record := result.Experiment{
		KitVersion: "made", ExperimentID: "made", Start: time.Now(), Status: result.Done,
		Order: result.OrderRandom, Seed: m.seed, Least: m.runs, Most: m.runs,
	}
	if m.declared != "" {
		record.Subject = []string{m.declared}
	}
	var all []*experiment.Bench
	for i, name := range m.names {
		dir := filepath.Join(m.dir, name)
		require.NoError(m.t, result.MakeDir(dir))
		b := result.Bench{Spec: spec, Start: time.Now()}
		b.RunID = name
		if i == len(m.names)-1 {
			switch m.altered {
			case "kit version":
				b.KitVersion = "another"
			case "checkpoint first":
				b.CheckpointFirst = true
			case "restore":
				b.Restore = "command"
			}
		}
		if m.blocks {
			b.Experiment = "made"
		}
		all = append(
			all,
			&experiment.Bench{
				Name: name, Summary: b, Dir: dir, Told: func(string, ...any) {},
				Run: func(dir string, place runs.Place) (result.Summary, error) {
					return m.run(dir, i, place)
				},
			},
		)
		record.Configurations = append(
			record.Configurations,
			result.Configuration{Name: name, Dir: name},
		)
	}
	do := func(some ...*experiment.Bench) (err error) {
		e := experiment.Experiment{
			Benches: some, Least: m.runs, Told: func(string, ...any) {},
			Orders: measure.RandomBlocks(rand.New(rand.NewPCG(m.seed, 0)), len(some), m.runs),
		}
		for range 5 {
			if err = e.Do(m.t.Context(), m.t.Context()); !errors.Is(err, driver.ErrStopped) {
				return err
			}
		}
		return err
	}
	m.exits = make([]int, len(all))
	if m.blocks {
		do(all...)
		require.NoError(m.t, result.SaveSummary(m.dir, record))
	}
	for i, c := range all {
		var err error
		if !m.blocks {
			err = do(c)
		}
		switch {
		case c.Summary.Status == result.Interrupted:
			m.exits[i] = 130
		case c.Summary.Status == result.Failed || err != nil:
			m.exits[i] = exitFailed
		default:
			failed, open := result.Decided(c.Summary.Findings)
			m.exits[i] = exitOf(failed != "", open != "")
		}
	}
}

// agree holds what ds2 says of the experiment against what its records come to.
func (m *madeUp) agree() {
	t := m.t
	wrong, _ := oracletest.Check(m.dir)
	assert.Empty(t, wrong)
	var benches []*oracletest.Bench
	var dirs []string
	for i, name := range m.names {
		dir := filepath.Join(m.dir, name)
		b, err := oracletest.ReadBench(dir)
		require.NoError(t, err)
		if m.exits != nil {
			assert.Equal(t, b.Exit(), m.exits[i], "exit code of the bench %s", name)
		}
		m.agreeBench(dir, b)
		if len(b.Counted()) > 0 {
			benches = append(benches, b)
			dirs = append(dirs, dir)
		}
	}
	if len(benches) > 1 {
		m.agreeComparison(dirs, benches)
	}
}

// agreeBench: text, page, JSON and CSV say of a bench what its records come to, and name each run
// that failed.
func (m *madeUp) agreeBench(dir string, b *oracletest.Bench) {
	t := m.t
	_, text, _ := execute(t, "report", "-o", "text", dir)
	_, page, _ := execute(t, "report", "-o", "html", "--out", "-", dir)
	_, out, _ := execute(t, "report", "-o", "json", dir)
	var decoded result.Bench
	require.NoError(t, json.Unmarshal([]byte(out), &decoded))
	page = plainText(page)
	level := b.Level()
	assert.Equal(t, level, strings.Split(text, "\n")[2], text)
	assert.Equal(t, level, result.WorstEffect(decoded.Findings).Level())
	unlike := result.FindingOf(decoded.Findings, result.RunsUnlike)
	assert.Equal(t, b.Mixed(), unlike != nil, "runs on unlike machines: %v", unlike)
	assert.Contains(t, page, " "+level+" ")
	for _, screen := range []string{texttest.Flat(text), page} {
		for _, r := range b.Runs {
			if len(b.Runs) > 1 && (r.Fails || r.Counts && r.Status == "aborted") {
				named := strings.Contains(screen, r.Dir) ||
					strings.Contains(screen, fmt.Sprintf("All %d runs: ", len(b.Runs)))
				assert.True(t, named, "%s, which failed\n%s", r.Dir, text)
			}
		}
		for _, f := range decoded.Findings {
			if f.Kind == result.LimitFailed && f.Effect == result.Fails {
				words := strings.ToLower(f.Words())
				assert.True(
					t,
					strings.Contains(strings.ToLower(screen), words),
					"%s\n%s",
					words,
					text,
				)
			}
		}
	}
	for i, l := range b.Limits {
		m.agreeLimit(decoded, b, i, l)
	}
	if len(b.Counted()) == 0 {
		assert.Nil(t, decoded.Figure)
		return
	}
	assert.InEpsilon(t, 1+b.Value, 1+*decoded.OPM, 1e-9)
	_, lines, _ := execute(t, "report", "-o", "csv", dir)
	rows, err := csv.NewReader(strings.NewReader(lines)).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 1+len(b.Runs))
	for i, r := range b.Runs {
		assert.Equal(t, fmt.Sprint(r.Counts), rows[i+1][2], "%s counts", r.Dir)
		if r.Counts {
			assert.True(
				t,
				shows(rows[i+1][4], r.Value),
				"%s: %s for %v",
				r.Dir,
				rows[i+1][4],
				r.Value,
			)
		}
	}
}

// agreeLimit: in how many runs a limit of a bench holds, and in which of those with a result it
// fails, is what their records come to.
func (m *madeUp) agreeLimit(
	decoded result.Bench, b *oracletest.Bench, i int, l oracletest.LimitOfRuns,
) {
	t := m.t
	judged := slices.ContainsFunc(b.Runs, func(r *oracletest.Made) bool {
		return r.Counts || r.Dropped
	})
	if judged && assert.Len(t, decoded.Limits, len(b.Limits)) {
		assert.Equal(t, l.Held, decoded.Limits[i].Held, "runs that hold %s", l.Text)
		assert.Equal(t, l.Of, decoded.Limits[i].Runs, "runs judged by %s", l.Text)
	}
	found := map[string]bool{}
	for _, f := range decoded.Findings {
		for _, run := range f.Runs {
			of := f.Kind == result.LimitFailed || f.Kind == result.LimitOpen && !m.holds(b, run, i)
			of = of && strings.Contains(f.Detail, l.Text+" (")
			found[run] = found[run] || of
		}
	}
	for _, r := range b.Runs {
		if r.Counts || r.Dropped {
			assert.Equal(t, !r.Limits[i].Holds, found[r.Dir], "%s: %s failed", r.Dir, l.Text)
		}
	}
}

// holds says that a limit, the one at a place, holds in a run by what was seen.
func (m *madeUp) holds(b *oracletest.Bench, dir string, at int) bool {
	return slices.ContainsFunc(b.Runs, func(r *oracletest.Made) bool {
		return r.Dir == dir && r.Limits[at].Holds
	})
}

// agreeComparison: JSON, text, page and gate say of a comparison what the records of its runs come
// to.
func (m *madeUp) agreeComparison(dirs []string, all []*oracletest.Bench) {
	t := m.t
	var c struct {
		Differences []struct {
			Name, Figure string
			Percent      float64
			Low          *float64 `json:"low_pct"`
			High         *float64 `json:"high_pct"`
			Medians      float64  `json:"medians_pct"`
			P            *float64
			Blocks       int
			Why          string
		}
		Findings []result.Finding
	}
	_, out, stderr := execute(t, m.compare(dirs, "-o", "json")...)
	require.NoError(t, json.Unmarshal([]byte(out), &c), stderr)
	_, text, _ := execute(t, m.compare(dirs, "--details")...)
	_, page, _ := execute(t, m.compare(dirs, "-o", "html")...)
	page = plainText(page)
	last := filepath.Base(dirs[len(dirs)-1]) == m.names[len(m.names)-1]
	alike := m.unlike == "" || !last
	assert.Equal(
		t,
		!alike,
		strings.Contains(texttest.Flat(text), " are not alike: "+m.unlike),
		text,
	)
	same := func(what string, kit *float64, oracle float64) {
		t.Helper()
		v := math.NaN()
		if kit != nil {
			v = *kit
		}
		assert.Empty(t, oracletest.Unlike(what, v, oracle))
	}
	for k := range all[1:] {
		name := filepath.Base(dirs[k+1])
		for figure, of := range map[string]func(*oracletest.Made) float64{
			"opm":          func(r *oracletest.Made) float64 { return r.Value },
			"order_p95_ms": func(r *oracletest.Made) float64 { return r.P95 },
			"active_w":     func(r *oracletest.Made) float64 { return r.Watts },
			"read_latency_ms": func(r *oracletest.Made) float64 {
				return r.Latency("", false)
			},
			"log_write_latency_ms": func(r *oracletest.Made) float64 {
				return r.Latency("log", true)
			},
		} {
			shared := 0.
			if figure == "opm" {
				shared = oracletest.Shared(all[0], all[k+1])
			}
			want := m.difference(all, k+1, of, shared)
			for _, d := range c.Differences {
				if d.Name != name || d.Figure != figure || math.IsNaN(want.Percent) {
					continue
				}
				what := fmt.Sprintf(
					"%s of %s against %s (%s)",
					figure,
					name,
					filepath.Base(dirs[0]),
					d.Why,
				)
				if figure == "opm" && m.open {
					assert.Nil(t, d.Low, "%s", what)
					continue
				}
				if figure == "order_p95_ms" && (all[0].Bound() || all[k+1].Bound()) {
					assert.Nil(t, d.Low, "%s: a bound has no interval", what)
					continue
				}
				same(what, &d.Percent, want.Percent)
				same(what+", low", d.Low, want.Low)
				same(what+", high", d.High, want.High)
				same(what+", p", d.P, want.P)
				assert.Equal(t, want.Blocks, d.Blocks, what)
			}
		}
	}
	most := ""
	farthest := 0.
	for k := range all[1:] {
		d := m.results(all, k+1)
		if math.IsNaN(d.Percent) &&
			all[0].Value > 0 { // no block in which both count: by the medians
			d.Percent = 100 * (all[k+1].Value/all[0].Value - 1)
		}
		far := min(1e3, math.Abs(math.Log1p(d.Percent/100)))
		if !slices.ContainsFunc(c.Findings, func(f result.Finding) bool {
			of := f.Configuration
			return (f.Effect == result.Withholds || f.Kind == result.AuditFailed) &&
				(of == filepath.Base(dirs[0]) || of == filepath.Base(dirs[k+1]))
		}) && (d.Low > 0 || d.High < 0) { // found, so it goes before those that are not
			far += 1e6
		}
		if far > farthest {
			most = filepath.Base(dirs[k+1])
			farthest = far
		}
	}
	sentence := strings.Split(text, "\n")[1]
	named, _, completed := strings.Cut(sentence, " completed ")
	_, why, doubted := strings.Cut(sentence, "; not conclusive, as ")
	kinds := map[string]string{
		"they wer": "not alike", "the runs": "runs not made alike",
		"the rate": "drifts", "drives we": "devices elsewhere",
	}
	switch {
	case completed && doubted && farthest < 1e6: // none was found: a doubt is said first
		assert.True(t, slices.ContainsFunc(c.Findings, func(f result.Finding) bool {
			of := f.Configuration == named || f.Against == named ||
				f.Configuration == filepath.Base(dirs[0])
			return of && string(f.Kind) == kinds[why[:min(8, len(why))]] && f.Effect == result.Withholds
		}), "no finding says so: %s", sentence)
	case completed:
		assert.Equal(t, most, named, "differs most of those found: %s", sentence)
	}
	// The row of what counts shows geometric means, and of two the difference.
	row := rowOf(text, all[0].Runs[0].Unit)
	if assert.Greater(t, len(row), len(all), text) && len(all) < 4 {
		for i, b := range all {
			shown, _, _ := strings.Cut(row[i+1], " ")
			assert.True(t, shows(shown, b.Geometric), "%s for %v", row[i+1], b.Geometric)
		}
		assert.Contains(t, page, strings.Join(row, " "))
	}
	m.agreeGate(dirs, all)
}

// results is the difference of a configuration's results from those of the first.
func (m *madeUp) results(all []*oracletest.Bench, other int) oracletest.Difference {
	of := func(r *oracletest.Made) float64 { return r.Value }
	return m.difference(all, other, of, oracletest.Shared(all[0], all[other]))
}

// difference is that of a configuration from the first; shared is the error that runs have in
// common.
func (m *madeUp) difference(
	all []*oracletest.Bench, other int, of func(*oracletest.Made) float64, shared float64,
) oracletest.Difference {
	if m.blocks {
		return oracletest.InBlocks(
			all,
			0,
			other,
			of,
			math.Max(all[0].Divided(), all[other].Divided()),
			shared,
		)
	}
	return oracletest.Welch(all[0], all[other], of, shared, len(all)-1)
}

// agreeGate: the exit code of a gate.
func (m *madeUp) agreeGate(dirs []string, all []*oracletest.Bench) {
	bound := math.Round(-40 * m.random.Float64())
	args := m.compare(dirs, "--fail-if", fmt.Sprintf("opm < %.0f %%", bound))
	code, stdout, stderr := execute(m.t, args...)
	failed := false
	open := false
	for i := range all[1:] {
		want := m.results(all, i+1).Gate(bound)
		unlike := m.unlike != "" && filepath.Base(dirs[i+1]) == m.names[len(m.names)-1]
		switch {
		case all[0].Failing() || all[i+1].Failing():
			want = exitVerdict
		case all[0].Withheld() || all[i+1].Withheld() || unlike || m.open:
			want = exitUnknown
		}
		failed = failed || want == exitVerdict
		open = open || want == exitUnknown
	}
	assert.Equal(m.t, exitOf(failed, open), code, "%v\n%s\n%s", args, stdout, stderr)
}

// The exit codes of ds2 but for 0 and that of an interrupt.
const (
	exitFailed  = 1
	exitVerdict = 3
	exitUnknown = 4
)

// exitOf is the exit code of what failed, or told nothing.
func exitOf(failed, open bool) int {
	switch {
	case failed:
		return exitVerdict
	case open:
		return exitUnknown
	}
	return 0
}

// kit builds ds2 once.
var kit = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "ds2")
	if err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-o", dir, "ds2/cmd/ds2").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return filepath.Join(dir, "ds2"), nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := kit(); err == nil {
		os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// execute runs a command line of ds2.
func execute(t *testing.T, args ...string) (code int, stdout, stderr string) {
	path, err := kit()
	require.NoError(t, err)
	var out, errors bytes.Buffer
	command := exec.CommandContext(t.Context(), path, args...)
	command.Stdout = &out
	command.Stderr = &errors
	if err := command.Run(); err != nil && command.ProcessState == nil {
		require.NoError(t, err)
	}
	return command.ProcessState.ExitCode(), out.String(), errors.String()
}

// memory is a directory whose files need not reach a drive, where there is one.
func memory(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "oracle")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// plainText is the words of a page, with a blank between each two.
func plainText(page string) string {
	var text strings.Builder
	for _, part := range strings.Split(page, "<") {
		_, after, _ := strings.Cut(part, ">")
		text.WriteString(" " + after)
	}
	return strings.Join(strings.Fields(html.UnescapeString(text.String())), " ")
}

// rowOf is the cells of the first row of a text report that begins with a word.
func rowOf(text, name string) []string {
	for line := range strings.Lines(text) {
		if cells := regexp.MustCompile(`\s{2,}`).
			Split(strings.TrimSpace(line), -1); cells[0] == name {
			return cells
		}
	}
	return nil
}

// shows tells whether a number that is shown is v, rounded to the last digit that is shown.
func shows(text string, v float64) bool {
	text = strings.ReplaceAll(text, ",", "")
	shown, err := strconv.ParseFloat(text, 64)
	whole, decimals, _ := strings.Cut(text, ".")
	unit := math.Pow10(-len(decimals))
	if decimals == "" {
		unit = math.Pow10(len(whole) - len(strings.TrimRight(whole, "0")))
	}
	return err == nil && math.Abs(shown-v) <= max(.5*unit*(1+1e-9), 1e-9*v)
}

// TestOracle makes up experiments, has ds2 conclude and compare them, and holds all that it says
// against what the files of their records come to by themselves. The name of each is its seed.
func TestOracle(t *testing.T) {
	t.Parallel()
	experiments := uint64(60) // of CI
	switch {
	case os.Getenv("DS2_TEST_NIGHTLY") != "":
		experiments = 500
	case testing.Short():
		experiments = 6
	}
	for seed := range experiments {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			m := makeUp(t, seed)
			m.make()
			m.agree()
			m.auditLater()
			m.tamper()
		})
	}
}

// TestExamples: the records of the documents are what their files come to.
func TestExamples(t *testing.T) {
	wrong, records := oracletest.Check("../../docs/examples")
	assert.GreaterOrEqual(t, records, 3)
	assert.Empty(t, wrong)
}
