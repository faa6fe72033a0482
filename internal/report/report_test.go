package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/compare"
	"ds2/internal/conclude"
	"ds2/internal/diagnose"
	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/sampling"
	"ds2/internal/store"
	"ds2/internal/texttest"
	"ds2/internal/topology"
)

// record writes the record of a made-up run of 70 seconds, 10 of them warm-up, and reads it again.
func record(t *testing.T, change func(*result.Summary)) *result.Record {
	t.Helper()
	return recordAt(t, t.TempDir(), 1, 0, change)
}

// recordAt is the record in dir of a run that is faster by a factor, whose rate grows by a share
// over the window.
func recordAt(
	t *testing.T,
	dir string,
	speed, growth float64,
	change func(*result.Summary),
) *result.Record {
	t.Helper()
	operations := []string{"login", "purchase"}
	m := measure.NewMeter(operations, []string{"host:5432/ds2"}, "purchases")
	user := m.NewRecorder(0)
	random := rand.New(rand.NewPCG(1, 1))
	var series measure.Series
	for second := 1; second <= 70; second++ {
		m.Enter(measure.PhaseRun)
		if second <= 10 {
			m.Enter(measure.PhaseWarmup)
		}
		for range int(speed * (1 + growth*(float64(second)-40)/60) * float64(90+random.IntN(20)+min(second, 10))) {
			var o measure.Order
			login := time.Duration(1000+random.IntN(900)) * time.Microsecond
			purchase := time.Duration(9000+random.IntN(9000)) * time.Microsecond
			o.AddLatency(0, login)
			o.AddLatency(1, purchase)
			o.Complete(0, login+purchase, login+purchase)
			o.Own[0]++
			user.Record(&o)
		}
		end := time.Duration(second) * time.Second
		series.Samples = append(
			series.Samples,
			m.Sample(end, []measure.Users{{measure.UserRunning: 8}}),
		)
		if second%10 == 0 {
			series.Intervals = append(series.Intervals, m.Interval(end))
		}
	}
	window, err := series.Window("run", measure.Span{From: 10 * time.Second, To: 70 * time.Second})
	require.NoError(t, err)
	s := result.Summary{
		Spec: result.Spec{
			RunID: "k7c2", KitVersion: "test", Words: orders, Engine: "postgres",
			Targets: []string{"host:5432/ds2"}, Size: "S", Threads: 8, Seed: 42,
		},
		Happened: result.Happened{
			Status: result.Done,
			Start:  time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC),
		},
		Conclusion: result.Conclusion{
			Headline: result.NewHeadline(
				&result.Figure{Unit: result.OPM, Value: window.OPM, CI95: window.CI95},
			),
			Windows: []measure.Window{window},
			Phases: []measure.PhaseSpan{
				{Phase: measure.PhaseWarmup, To: 10},
				{Phase: measure.PhaseRun, From: 10, To: 70},
			},
		},
	}
	s.Counts = (&result.Record{Series: series}).Counted()
	s.Errors = []measure.FailureCount{{Operation: "purchase", Class: "deadlock", Count: 3}}
	s.Retries = []measure.FailureCount{{Operation: "purchase", Class: "deadlock", Count: 2}}
	checks := []result.Check{{Name: "products", Passed: true, Expected: "10000", Found: "10000"}}
	s.Audit = &result.Audit{Passed: true, Checks: checks}
	if change != nil {
		change(&s)
	}
	w, err := result.Create(dir, s)
	require.NoError(t, err)
	for _, sample := range series.Samples {
		require.NoError(t, w.Sample(sample))
	}
	for _, interval := range series.Intervals {
		require.NoError(t, w.Interval(interval))
	}
	conclude.Find(&s)
	require.NoError(t, errors.Join(w.Close(), result.SaveSummary(dir, s)))
	r, err := result.Read(dir)
	require.NoError(t, err)
	return r
}

// written is a page as HTML.
func written(t *testing.T, p Page) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, p.HTML(&b))
	return b.String()
}

// told is a page as text, with the details.
func told(t *testing.T, p Page) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, p.Text(&b, true, 0))
	return b.String()
}

// limitedRun is a run whose interval has a width, in percent, and that something limited.
func limitedRun(percent float64, limits string) func(s *result.Summary) {
	return func(s *result.Summary) {
		s.Figure.CI95 = new(s.Figure.Value * percent / 100)
		s.Bottleneck = &result.Bottleneck{}
		s.Bottleneck.What = limits
	}
}

// TestEarned: a result is trustworthy with an interval of at most ± 5 % and storage as its limit,
// and else says what it lacks.
func TestEarned(t *testing.T) {
	for want, change := range map[string]func(s *result.Summary){
		"Trustworthy": limitedRun(5, diagnose.Storage),
		"With reservations The interval of the result is ± 14 %, more than ± 5 %. Not yet a statement about storage: " +
			"limited by the CPU.": limitedRun(14, diagnose.CPU),
		"storage: limited by nothing that could be named.": limitedRun(1, diagnose.Unclear),
		"The interval of the result is ± 6 %, more":        limitedRun(6, diagnose.Storage),
		"The result has no interval: that is unknown of OPM. Not yet a statement about storage: what limited it is unknown.": func(s *result.Summary) {
			s.Figure.CI95 = nil
		},
	} {
		assert.Contains(t, texttest.Flat(told(t, Runs(record(t, change)))), want)
	}
}

func TestHTML(t *testing.T) {
	page := written(t, Runs(record(t, limitedRun(2, diagnose.Storage))))
	texttest.Contains(t, page, `<div class="light good"><b>Trustworthy</b>`,
		"The audit of what this run wrote passed: 1 checks.")
	own := strings.Replace(page, string(echartsJS), "", 1)
	for _, tag := range []string{"src=", "<link rel=\"stylesheet", "@import", "url("} {
		assert.NotContains(t, own, tag, "the page fetches something")
	}
}

func TestHTMLTells(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*result.Summary)
		want   string
	}{
		"a failed audit": {func(s *result.Summary) {
			s.Audit = &result.Audit{Checks: []result.Check{{Name: "products", Expected: "10000", Found: "9999"}}}
		}, "The audit of what this run wrote FAILED: 1 of 1 checks"},
		"no audit": {func(s *result.Summary) { s.Audit = nil }, "The database was not audited."},
		"an interrupted run": {
			func(s *result.Summary) { s.Status = result.Interrupted },
			"The run was interrupted.",
		},
		"an unsteady window": {func(s *result.Summary) {
			s.Windows[0].Steady = measure.Steadiness{Why: "not steady: the rate drifts"}
		}, "Not steady: the rate drifts."},
		"a limit that failed": {func(s *result.Summary) {
			l := result.Verdict{Limit: "order p95 < 500ms", Unit: result.UnitSeconds, Bound: 0.5, Measured: new(0.612)}
			s.Limits = result.Verdicts{l}
		}, "Limits failed: order p95 &lt; 500ms (measured 612ms)."},
		"a damaged page": {func(s *result.Summary) {
			damage := store.Damage{Object: "public.orders", Place: "main block 17", Found: "invalid page"}
			s.DeepChecks = []store.DeepCheck{{Server: "PostgreSQL 18.3", Damage: []store.Damage{damage}}}
		}, "<th scope=\"row\">public.orders main block 17</th><td>invalid page</td>"},
		"a run without a result": {func(s *result.Summary) {
			s.Headline = result.Headline{}
			s.Windows = nil
			s.Status = result.Failed
		}, "no result"},
		"markup in an error": {func(s *result.Summary) {
			s.Status = result.Failed
			s.Error = "<script>alert(1)</script>"
		}, "&lt;script&gt;"},
	} {
		page := written(t, Runs(record(t, c.change)))
		assert.Contains(t, page, c.want, "the page of %s does not say", name)
		assert.NotContains(
			t,
			page,
			`class="light good"`,
			"the page of %s calls the result good",
			name,
		)
	}
}

// TestCounters shows the machine's and the database's counters on the page, and those that a server
// has of a file.
func TestCounters(t *testing.T) {
	r := record(t, func(s *result.Summary) {
		s.Power = &result.Power{Active: new(501.4)}
		s.Figure.PerWatt = new(13.0)
		full := result.NewFinding(result.IOErrors, "the log will be full in 7m")
		s.Noticed = []result.Finding{full.About("host/DS2")}
		s.Bottleneck = &result.Bottleneck{}
		s.Shown = []result.Finding{
			result.NewFinding(result.Distorted, "the drive is a loop device"),
		}
		s.Bottleneck.What = diagnose.Storage
		s.Bottleneck.Why = "sda was busy 99 % of the time"
		s.Machine = &topology.Machine{
			Kernel: "6.1.0",
			Drives: []topology.Drive{
				{Name: "sda", Model: "SSD 9000", Bytes: 480e9},
				{Name: "cust_1", File: true, Roles: []topology.Role{topology.Data}},
			},
		}
		s.Servers = []topology.Server{
			{Version: "PostgreSQL 18.3", Settings: map[string]string{"shared_buffers": "1GB"}},
		}
	})
	r.Host.Columns = []string{
		"disk.sda.read_seconds",
		"disk.sda.busy_ratio",
		"cpu.busy_ratio",
		"cpu.0.busy_ratio",
		"memory.available_bytes",
		sampling.Power,
		"disk.cust_1.reads_per_second",
		"disk.cust_1.read_seconds",
		"disk.cust_1.queue",
		"db.waits_data_read",
		"db.waits_log_write",
	}
	// with an idle time before the run, and a cool-down after
	for second := -4; second <= 75; second++ {
		v := float64(second)
		r.Host.Rows = append(r.Host.Rows, sampling.Row{
			Time:   r.Start.Add(time.Duration(second) * time.Second),
			Values: []float64{v / 1000, 0.99, 0.25, 0.5, 4e9, math.NaN(), 400, .016, 6.4, 5.5, .5},
		})
	}
	page := written(t, Runs(r))
	texttest.Contains(
		t,
		page,
		`id="run1-drives"`,
		`id="run1-busy"`,
		`id="run1-processors"`,
		`id="run1-memory"`,
		`id="run1-requests"`,
		`id="run1-queue"`,
		`id="run1-waits"`,
		`"name":"data read"`,
		`"name":"log write"`,
		// Rows after 10 s and up to 70 s are the window.
		"<tr><th scope=\"row\">disk sda read</th><td>ms</td><td>40.5</td><td>11.0</td><td>70.0</td></tr>",
		"<th scope=\"row\">cpu 0 busy</th><td>%</td><td>50.0</td>",
		"<th scope=\"row\">power</th><td>W</td><td>–</td>",
		"Bottleneck: storage. Sda was busy 99 % of the time.",
		"The drive is a loop device.",
		"Power: 501 W in the window, 13.0 OPM per watt.",
		"SSD 9000 480 GB, solid state",
		"<td>1GB</td>",
		"<tr><th scope=\"row\">disk cust_1 read</th><td>ms</td><td>16.0</td>",
		"<th scope=\"row\">db waits data read</th><td></td><td>5.50</td>",
		"file cust_1</th><td>as its server counts, data</td>",
		"host/DS2: the log will be full in 7m.",
	)
	// All share one time axis, with the times beside the run shaded.
	const axis = `"from":-5,"to":75,"bands":[{"name":"idle","from":-5,"to":0,"window":false},` +
		`{"name":"cool-down","from":70,"to":75,`
	assert.Equal(
		t,
		11,
		strings.Count(page, axis),
		"charts that have the time axis of the whole record",
	)
	assert.NotContains(t, page, `id="run1-network"`, "a chart of what was not counted")
}

func TestCSV(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, CSV(&b, []*result.Record{record(t, nil)}))
	lines, err := csv.NewReader(&b).ReadAll()
	require.NoError(t, err)
	require.Len(t, lines, 1+70)
	assert.Equal(t, []string{"k7c2", "70.000"}, lines[70][:2])
	assert.ErrorContains(
		t,
		CompareCSV(&b, compare.Comparison{}),
		"no configuration has a run that counts",
	)
}

func TestThinned(t *testing.T) {
	var samples []measure.Sample
	for second := 1; second <= 86_400; second++ {
		phase := measure.PhaseRun
		if second <= 100 {
			phase = measure.PhaseWarmup
		}
		samples = append(samples, measure.Sample{
			End: time.Duration(second) * time.Second, Length: time.Second,
			Phase: phase, Counts: measure.Counts{Orders: 10}, Mean: 5, Max: float64(second),
		})
	}
	drained := measure.Sample{
		End: 24*time.Hour + 10*time.Millisecond, Length: 10 * time.Millisecond,
		Phase: measure.PhaseDrain, Counts: measure.Counts{Orders: 8},
	} // 48,000 OPM
	thin := thinned(append(samples, drained), maxPoints)
	assert.LessOrEqual(
		t,
		len(thin),
		maxPoints+2,
		"%d points of %d samples",
		len(thin),
		len(samples),
	)
	var orders int64
	var length time.Duration
	for _, s := range thin {
		orders += s.Counts.Orders
		length += s.Length
		require.Equal(
			t,
			[]float64{600, 5, s.End.Seconds()},
			[]float64{s.OPM(), s.Mean, s.Max},
			"merged sample %+v",
			s,
		)
	}
	assert.EqualValues(t, 864_000, orders)
	assert.Equal(t, 24*time.Hour, length)
}

func TestCompareHTML(t *testing.T) {
	a := record(t, nil)
	b := record(t, func(s *result.Summary) { s.Threads = 16 })
	all, _, err := compare.ReadConfigurations(
		conclude.Reader{},
		[]string{"disks=" + a.Dir, "ssd=" + b.Dir},
	)
	require.NoError(t, err)
	texttest.Contains(
		t,
		written(t, Comparison(compare.WithFirst(all))),
		"<title>ds2 comparison</title>",
		`<p class="headline">ssd completed as many orders as disks; too few runs for an interval; `+
			"not conclusive, as they were not tested alike</p>",
		"disks and ssd are not alike: threads 8 and 16; declare by --subject what is meant to differ.",
		`id="compare-opm"`,
		`{"name":"disks","points":[[`,
		`{"name":"ssd","points":[[`,
		"<th scope=\"row\">OPM</th><td>"+opmOf(a.OPM, a.Windows[0].CI95)+"</td>",
	)
}

func TestNotesSayThatARunIsTooShort(t *testing.T) {
	var v view
	const short = "too short for a confidence interval: 10 samples, and it takes 50"
	s := result.Summary{Conclusion: result.Conclusion{
		Headline: result.NewHeadline(&result.Figure{Unit: result.OPM}),
		Windows:  []measure.Window{{NoCI95: short}},
	}}
	conclude.Find(&s)
	v.addRun(s)
	assert.Contains(t, v.All(), "The result has no interval: "+short+".")
	text, err := json.Marshal(measure.Window{})
	require.NoError(t, err)
	assert.Contains(t, string(text), `"opm_ci95":null`, "where there is no interval")
}

// TestHTMLOfSeveralRuns: the records of one run from several machines are told apart by their
// directories.
func TestHTMLOfSeveralRuns(t *testing.T) {
	one := record(t, nil)
	two := record(t, nil)
	page := written(t, Runs(one, two))
	texttest.Contains(
		t,
		page,
		`<a href="#run1">`,
		`<a href="#run2">`,
		`id="run2-opm"`,
		"<title>2 ds2 runs</title>",
		">"+one.Dir+"</a>: 6,560 OPM",
		">"+two.Dir+"</a>: 6,560 OPM",
	)
}

// TestSlowest: the page says which operations took the time of the slowest orders.
func TestSlowest(t *testing.T) {
	r := record(t, func(s *result.Summary) {
		s.Slowest = []result.SlowOrder{
			{From: 20, To: 20.9, Operation: "purchase"},
			{From: 30, To: 30.5, Operation: "login"},
			{From: 40, To: 40.25, Operation: "purchase"},
		}
	})
	texttest.Contains(
		t,
		written(t, Runs(r)),
		"The 3 slowest orders",
		`<th scope="row">purchase</th><td>2</td><td>900</td>`,
		`<th scope="row">login</th><td>1</td><td>500</td>`,
	)
}

// TestDisclosure: what is missing is called not stated, and a price gives the figure by it.
func TestDisclosure(t *testing.T) {
	hdd := compare.Configuration{Name: "hdd"}
	hdd.Headline = result.NewHeadline(&result.Figure{Unit: result.OPM, Value: 50000})
	hdd.Spec.Disclosure = map[string]string{"raid": "10", "price": "20000 USD"}
	rows := fmt.Sprint(fill("disclosure", []compare.Configuration{hdd, {Name: "ssd"}}).Rows)
	texttest.Contains(t, rows,
		"[raid 10 not stated]", "[firmware not stated not stated]",
		"[per 1,000 of the price's currency 2,500 OPM per 1,000 USD not stated]")
}

// TestDisclosureOnEveryPage: of a run, a bench and a comparison; the version is on those of what
// has no disclosure too.
func TestDisclosureOnEveryPage(t *testing.T) {
	found := search()
	found.KitVersion = "test"
	assert.Contains(t, Search(found).views[0].Byline, "ds2 test", "the page of a search")
	hdd, ssd := arrays(16, 16)
	for name, page := range map[string]Page{
		"run": Runs(record(t, nil)), "bench": Bench(hdd),
		"comparison": Comparison(compare.WithFirst([]compare.Configuration{hdd, ssd})),
	} {
		html := written(t, page)
		assert.Contains(t, html, "<summary>Disclosure</summary>", "the page of a %s", name)
		assert.Contains(t, html, "· ds2 test", "the page of a %s", name)
	}
}

func TestFaultsAndOpenLoopAreTold(t *testing.T) {
	s := result.Summary{
		Spec: result.Spec{Words: orders, Rate: 500},
		Happened: result.Happened{
			Errors: []measure.FailureCount{{
				Operation: "purchase", Class: "resource", Count: 4,
				Example: "disk full",
			}},
			Counts:   measure.Counts{Retries: 3, Reconnects: 2, GivenUp: 1},
			ByTarget: []result.Target{{Target: "a/ds2", OPM: 100}, {Target: "b/ds2", OPM: 200}},
		},
		Conclusion: result.Conclusion{Windows: []measure.Window{{Counts: measure.Counts{
			Offered: 1000, Orders: 990,
			Dropped: 7,
		}, Name: "run", Stalled: .3}}},
	}
	s.Counts.Own[0] = 1
	s.Counts.Names = &[]string{"in_doubt_purchases"}
	var v view
	conclude.Find(&s)
	v.addRun(s)
	text := strings.Join(v.All(), "\n")
	texttest.Contains(
		t,
		text,
		"1,000 fell due",
		"990 were completed and 7 dropped",
		"failed attempts: resource 4 (the first of resource in purchase: disk full); retries 3, reconnects 2, "+
			"orders given up 1",
		"purchases 1, new customers 0",
	)
	require.Equal(t, "FAILED", v.Light())
	require.Equal(
		t,
		"Nothing was completed in 30 % of the window run, while attempts failed.",
		v.Reasons()[0],
	)
	rows := fill("targets", s).Rows
	require.Len(t, rows, 2)
	assert.Equal(t, []string{"b/ds2", "200"}, rows[1][:2])
}

func TestARunWithoutFaultsTellsNone(t *testing.T) {
	s := result.Summary{Happened: result.Happened{ByTarget: []result.Target{{Target: "a/ds2"}}}}
	assert.Empty(t, sayEach("notes of a run", s), "of a closed loop")
	assert.Empty(t, result.FailureWords(s), "of no faults")
	assert.Empty(t, fill("targets", s).Rows, "of one target")
}

// TestEvents: text and page say what the events of a run did, and every chart over time shows them.
func TestEvents(t *testing.T) {
	r := record(t, func(s *result.Summary) {
		s.Events = []result.Event{
			{Asked: 30, From: 30.01, To: 30.02, Command: "dmsetup suspend data"},
			{From: 37, To: 37.1, Command: "dmsetup resume data", Error: "exit status 1"},
			{From: 55, To: 55.1, Command: "true"},
		}
		s.Disturbances = []result.Disturbance{
			{Events: []int{1, 2}, Disturbance: measure.Disturbance{
				From: 30.01, Undisturbed: 6000, Back: new(7.02),
				Lost: 702, LostCI95: new(40.), Longest: 7100, Errors: []measure.FailureCount{
					{Operation: "login", Class: "timeout", Count: 1},
					{Operation: "purchase", Class: "timeout", Count: 2},
				},
			}},
			{
				Events:      []int{3},
				Disturbance: measure.Disturbance{From: 55.1},
				Unknown:     "it is too late",
			},
		}
	})
	page := written(t, Runs(r))
	texttest.Contains(
		t,
		page,
		"Event 1 and event 2 at 30.0 s: 702 orders lost ± 40 against 6,000 OPM before, back within 5 % after 7.0 s; "+
			"the longest order took 7,100 ms, failed attempts: timeout 3.",
		"What event 3 at 55.1 s did is unknown: it is too late.",
		"<td>dmsetup resume data</td><td>exit status 1</td>",
	)
	charts, err := charts(r, "run1")
	require.NoError(t, err)
	for _, c := range charts {
		if c.Labels == nil && c.XName == "" {
			require.Equal(t, mark{"event 2", 37}, c.Verticals[1], c.ID)
		}
	}
}

// TestFirstFigures: the power of a run takes no other figure of its drives off the first screen.
func TestFirstFigures(t *testing.T) {
	r := record(t, func(s *result.Summary) {
		s.Power = &result.Power{Idle: new(393.1), Active: new(501.4)}
		s.Figure.PerWatt = new(13.0)
		s.Conditions = []result.Condition{
			{Name: result.ReadLatency, Value: 1.5, Unit: "ms"},
			{Name: result.LogWriteLatency, Value: .7, Unit: "ms"},
			{Name: result.ServerProcessors, Value: 40, Unit: "%"},
		}
		s.Costs = &result.Costs{Reads: new(2.5), Joules: new(4.)}
	})
	var first strings.Builder
	require.NoError(t, Runs(r).Text(&first, false, 0))
	texttest.Contains(t, first.String(),
		"active power, W", "OPM per watt", "read latency, slowest device, ms",
		"log write latency, slowest device, ms", "device reads per order")
}
