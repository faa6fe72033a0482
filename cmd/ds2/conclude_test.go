package main

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/compare"
	"ds2/internal/conclude"
	"ds2/internal/measure"
	"ds2/internal/metrics"
	"ds2/internal/result"
	"ds2/internal/sampling"
	"ds2/internal/texttest"
	"ds2/internal/topology"
	"ds2/internal/workload/ds2"
	"ds2/internal/workload/mailbox"
)

// made writes the record of a made-up run of 60 s, of a workload and a machine of the run's. Its
// second half is slower than its first, and waits for drives where the first fills the CPUs, after
// an event. It has limits that the first half keeps. The increase is what Prometheus saw the
// counter of orders grow by in the second half.
func made(
	t *testing.T, dir string, words result.Words, workload string, own any, machine int,
) (s result.Summary, increase float64) {
	t.Helper()
	start := time.Date(2026, 11, 22, 12, 0, 0, machine*1000, time.UTC)
	s.Spec = result.Spec{
		RunID:      "made",
		Workload:   workload,
		Words:      words,
		Engine:     "postgres",
		Targets:    []string{"host/db"},
		Size:       "S",
		Threads:    4,
		Seed:       1,
		UserOffset: machine * 4,
		Own:        result.NewBlock(own),
		LimitTexts: []string{"opm > 2000", words.Cycle + " p95 < 30ms"},
	}
	s.Happened = result.Happened{
		Status: result.Running, Start: start, End: start.Add(time.Minute),
		Events: []result.Event{{From: 30, To: 30, Command: "dmsetup suspend data"}},
		Machine: &topology.Machine{Processors: 4, Drives: []topology.Drive{
			{
				Name:  "d",
				Roles: []topology.Role{topology.Data},
			},
			{Name: "l", Roles: []topology.Role{topology.Log}},
		}},
	}
	w, err := result.Create(dir, s)
	require.NoError(t, err)
	meter := measure.NewMeter([]string{"read"}, []string{"host/db"})
	user := meter.NewRecorder(0)
	random := rand.New(rand.NewPCG(uint64(machine), uint64(len(filepath.Base(dir)))))
	of := sampling.ItemColumn
	counters := sampling.Table{Columns: []string{
		sampling.CPUBusy,
		sampling.Power,
		sampling.SessionsRunning,
		sampling.SessionsWaitingForDrives,
		of(sampling.DiskReads, "d"),
		of(sampling.DiskReadTime, "d"),
		of(sampling.DiskWrites, "d"),
		of(sampling.DiskWrites, "l"),
		of(sampling.DiskWriteTime, "l"),
		of(sampling.DiskReads, "l"),
	}}
	meter.Enter(measure.PhaseRun)
	for second := 1; second <= 60; second++ {
		slow := float64(second / 31) // 1 in the second half
		for range 40 - int(20*slow) + random.IntN(8) {
			var o measure.Order
			d := time.Duration(1+slow*4)*10*time.Millisecond + time.Duration(
				random.IntN(9000),
			)*time.Microsecond
			o.AddLatency(0, d)
			o.Complete(0, d, d)
			user.Record(&o)
		}
		end := time.Duration(second) * time.Second
		require.NoError(t, w.Sample(meter.Sample(end, []measure.Users{{measure.UserRunning: 4}})))
		if second%10 == 0 {
			require.NoError(t, w.Interval(meter.Interval(end)))
		}
		switch second {
		case 30:
			increase = -scraped(t, meter)["ds2_orders_total"]
		case 60:
			increase += scraped(t, meter)["ds2_orders_total"]
		}
		counters.Rows = append(counters.Rows, sampling.Row{Time: start.Add(end), Values: []float64{
			.95 - .7*slow, 100 + float64(second), 4 - 4*slow, 4 * slow,
			100 + 200*slow + random.Float64(), .002 + .03*slow, 30, 50, .001, 0,
		}})
	}
	require.NoError(t, result.SaveHost(dir, &counters, start))
	s.Status = result.Done
	require.NoError(t, w.Close())
	series, err := result.ReadSeries(dir, false)
	require.NoError(t, err)
	s.Counts = (&result.Record{Series: series}).Counted()
	s.Conclusion, err = conclude.Of(conclude.Input{
		Spec:     s.Spec,
		Happened: s.Happened,
		Series:   series,
		Counters: counters,
		Own:      reader().Workloads[workload],
	}, nil)
	require.NoError(t, errors.Join(err, result.SaveSummary(dir, s)))
	told := scraped(t, meter)
	mean := 1000 * told["ds2_order_duration_seconds sum"] / told["ds2_order_duration_seconds count"]
	assert.InDelta(
		t,
		mean,
		s.Windows[0].Latency[measure.WholeOrder].Mean,
		1e-9,
		"the means of Prometheus and record",
	)
	assert.InDelta(
		t,
		float64(s.CumulativeOf.Orders)*60/s.CumulativeOf.Seconds,
		*s.CumulativeOPM,
		1e-6,
	)
	return s, increase
}

// scraped is the run as Prometheus sees it: the sum of each metric, and of a histogram its sum and
// count.
func scraped(t *testing.T, meter *measure.Meter) map[string]float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(metrics.NewCollector(metrics.Run{ID: "agree", Meter: meter}))
	families, err := registry.Gather()
	require.NoError(t, err)
	values := map[string]float64{}
	for _, family := range families {
		for _, m := range family.Metric {
			values[family.GetName()] += m.GetCounter().GetValue()
			values[family.GetName()+" sum"] += m.GetHistogram().GetSampleSum()
			values[family.GetName()+" count"] += float64(m.GetHistogram().GetSampleCount())
		}
	}
	return values
}

// madeBench writes the record of a bench of two made-up runs.
func madeBench(t *testing.T, dir, experiment string) {
	t.Helper()
	words := ds2.Workload{}.Words()
	spec := result.Spec{
		RunID:   "made",
		Words:   words,
		Engine:  "postgres",
		Size:    "S",
		Threads: 4,
		Runs:    2,
	}
	b := result.Bench{Spec: spec, Status: result.Done, Experiment: experiment}
	for i := 1; i <= 2; i++ {
		run := result.BenchRun{
			Dir:    fmt.Sprintf("run-%d", i),
			Status: result.Done,
			Block:  i,
			Number: i,
		}
		s, _ := made(t, filepath.Join(dir, run.Dir), words, ds2.Name, struct{}{}, i)
		compare.Take(&run, s)
		b.Runs = append(b.Runs, run)
	}
	compare.Runs(&b)
	require.NoError(t, result.SaveSummary(dir, b))
}

// TestLaterWindow: under a window that is chosen later, the text, the page, JSON, CSV, Prometheus,
// a comparison and a gate agree on a run, a run of two machines, a bench, an experiment, a run on
// mailboxes and one of a workload that this ds2 does not know, to the last digit that each shows,
// and give the verdicts of that window.
func TestLaterWindow(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	orders := ds2.Workload{}.Words()
	mails := mailbox.Workload{}.Words()
	increase := map[string]float64{}
	_, increase["run"] = made(t, at("run"), orders, ds2.Name, struct{}{}, 0)
	_, increase["machine"] = made(t, at("machine"), orders, ds2.Name, struct{}{}, 1)
	increase["merged"] = increase["run"] + increase["machine"]
	own := map[string]any{"mailboxes": 5}
	_, increase["mailbox"] = made(t, at("mailbox"), mails, mailbox.Name, own, 0)
	made(t, at("mailbox-2"), mails, mailbox.Name, own, 1)
	bank := result.Words{
		Cycle: "transfer", Cycles: "transfers", Rate: "TPM", Unit: "TPM",
		Groups: map[string][]string{"any": {"read"}},
	}
	_, increase["another workload"] = made(t, at("bank"), bank, "bank", struct{}{}, 0)
	madeBench(t, at("bench"), "")
	madeBench(t, at("experiment/a"), "made")
	madeBench(t, at("experiment/b"), "made")
	e := result.Experiment{
		Status:       result.Done,
		ExperimentID: "made",
		Order:        result.OrderRandom,
		Least:        2,
		Most:         2,
		Configurations: []result.Configuration{
			{Name: "a", Dir: "a"},
			{Name: "b", Dir: "b"},
		},
	}
	require.NoError(t, result.SaveSummary(at("experiment"), e))
	const window = "30s-60s"
	reporting := func(form string, of ...string) []string {
		return append(
			words("report --details --out - --window %s --output %s", window, form),
			of...)
	}
	// as reports show what is 100 or more and has no narrow interval
	shown := func(f *result.Figure) string {
		text := strconv.FormatFloat(f.Value, 'f', 0, 64)
		if i := len(text); i > 3 {
			text = text[:i-3] + "," + text[i-3:]
		}
		return text + " " + f.Unit
	}
	for _, c := range []struct {
		name, unit string
		arguments  []string // of ds2 report
	}{
		{"run", result.OPM, []string{at("run")}},
		{"merged", result.OPM, []string{"--merge", at("run"), at("machine")}},
		{"mailbox", result.IOPS, []string{at("mailbox")}},
		{"another workload", "TPM", []string{at("bank")}},
	} {
		h := decoded[[]result.Summary](t, reporting("json", c.arguments...)...)[0]
		w := h.Windows[0]
		require.True(t, w.From == 30 && h.Power != nil && h.Bottleneck != nil, "%s: %+v", c.name, h)
		require.True(
			t,
			*h.Power.Active == 145.5 && h.Bottleneck.What == "storage",
			"%s: %+v",
			c.name,
			h,
		)
		require.Equal(t, c.unit, h.Figure.Unit, c.name)
		require.Equal(t, h.Figure.Value/145.5, *h.Figure.PerWatt, c.name)
		assert.Equal(t, c.name == "merged", w.OPM >= 2000, "%s: OPM %v", c.name, w.OPM)
		assert.True(
			t,
			c.name == "merged" || len(h.Limits) == 2 && !h.Limits[1].OK,
			"%s: limits %+v",
			c.name,
			h.Limits,
		)
		for _, form := range []string{"text", "html"} {
			text := must(t, reporting(form, c.arguments...)...)
			texttest.Contains(t, text, shown(h.Figure), "Bottleneck: storage", "imits failed: ")
		}
		assert.Equal(t, w.OPM, increase[c.name]*60/(w.To-w.From),
			"%s: the record's figure, and Prometheus's in the window", c.name)
		if c.name == "merged" { // which lies in no directory that could be compared
			samples, err := csv.NewReader(strings.NewReader(must(t, reporting("csv", c.arguments...)...))).
				ReadAll()
			require.NoError(t, err)
			orders := 0.
			for _, line := range samples[1:] { // run_id, t_s, phase, users, opm, orders
				var at, made float64
				_, err := fmt.Sscan(line[1]+" "+line[5], &at, &made)
				require.NoError(t, err)
				if at > 30 {
					orders += made
				}
			}
			require.Equal(t, increase[c.name], orders)
			continue
		}
		exact := strconv.FormatFloat(h.Figure.Value, 'f', -1, 64)
		lines := must(t, "compare", "--output", "csv", "--window", window, c.arguments[0])
		texttest.Contains(t, lines, ","+exact+",", strings.ToLower(h.Figure.Unit)+",")
	}
	for _, c := range []struct {
		unit      string
		arguments []string // of ds2 compare
		dirs      []string // of what is compared
	}{
		{"opm", []string{at("run"), at("machine")}, []string{at("run"), at("machine")}},
		{
			"iops",
			[]string{at("mailbox"), at("mailbox-2")},
			[]string{at("mailbox"), at("mailbox-2")},
		},
		{
			"opm",
			[]string{at("bench"), at("experiment/a")},
			[]string{at("bench"), at("experiment/a")},
		},
		{"opm", []string{at("experiment")}, []string{at("experiment/a"), at("experiment/b")}},
	} {
		command := words(
			"compare --output json --window %s --fail-if '%s < -99 %%'",
			window,
			c.unit,
		)
		_, stdout, stderr := execute(t, append(command, c.arguments...)...)
		var compared compare.Comparison
		err := json.Unmarshal([]byte(stdout), &compared)
		require.True(
			t,
			err == nil && len(compared.Gates) == 1,
			"%v: %v, %s%s",
			c.arguments,
			err,
			stdout,
			stderr,
		)
		var means []float64 // of the logarithms of the runs
		for i, dir := range c.dirs {
			figure, runs := reported(t, dir, window)
			got := compared.Configurations[i].Figure
			lost := func(c result.Condition) bool {
				return c.Name == result.LostOrders && c.Value > 0
			}
			assert.True(
				t,
				slices.ContainsFunc(compared.Configurations[i].Runs[0].Conditions, lost),
				dir,
			)
			assert.True(t, got.Value == figure.Value && *got.PerWatt == *figure.PerWatt,
				"%s: %+v, %+v", dir, got, figure)
			sum := 0.
			for _, run := range runs {
				sum += math.Log(run.Value)
			}
			means = append(means, sum/float64(len(runs)))
		}
		require.InDelta(
			t,
			100*(math.Exp(means[1]-means[0])-1),
			compared.Differences[0].Percent,
			1e-9,
			"the difference of %v",
			c.arguments,
		)
	}

	for _, name := range []string{"bench", "experiment/a"} {
		b := decoded[result.Bench](t, reporting("json", at(name))...)
		for i, r := range b.Runs {
			alone := decoded[[]result.Summary](t, reporting("json", filepath.Join(at(name), r.Dir))...)[0]
			assert.Equal(t, alone.Headline, r.Headline, "%s: run %d", name, i+1)
			assert.Equal(t, alone.Limits[1].OK, r.Limits[1].OK, "%s: run %d", name, i+1)
		}
		assert.Equal(t, (b.Runs[0].Figure.Value+b.Runs[1].Figure.Value)/2, b.Figure.Value, name)
		exact := strconv.FormatFloat(b.Runs[1].Figure.Value, 'f', -1, 64)
		assert.Contains(t, must(t, reporting("csv", at(name))...), ","+exact+",", name)
	}
	all := decoded[compare.Experiment](t, reporting("json", at("experiment"))...)
	alone, _ := reported(t, at("experiment/a"), window)
	require.Equal(
		t,
		alone.Value,
		all.Comparison.Configurations[0].Figure.Value,
		"of a configuration of the experiment",
	)
}

// reported is the result of a run or a bench under a window, and those of its runs, by its own
// report.
func reported(t *testing.T, dir, window string) (*result.Figure, []*result.Figure) {
	t.Helper()
	over, err := measure.ParseWindow(window)
	require.NoError(t, err)
	opened, err := compare.Open(reader(over), dir)
	require.NoError(t, err)
	if run, ok := opened.(*result.Record); ok {
		return run.Figure, []*result.Figure{run.Figure}
	}
	b := opened.(result.Bench)
	var runs []*result.Figure
	for _, r := range b.Runs {
		runs = append(runs, r.Figure)
	}
	return b.Figure, runs
}

// TestDamagedRecord: no command makes a figure of a record that is damaged or was changed; it fails
// and names the file.
func TestDamagedRecord(t *testing.T) {
	dir := t.TempDir()
	made(t, dir, ds2.Workload{}.Words(), ds2.Name, struct{}{}, 0)
	require.Contains(t, must(t, "report", "-o", "text", dir), " OPM")
	whole := recordOf(t, dir).Summary
	for why, change := range map[string]func(*result.Summary){
		"result and its copies": func(s *result.Summary) {
			s.Headline = result.NewHeadline(&result.Figure{Unit: s.Figure.Unit, Value: 2 * s.Figure.Value})
			s.Windows = []measure.Window{s.Windows[0]}
			s.Windows[0].OPM *= 2
		},
		"orders":                  func(s *result.Summary) { s.Counts.Orders *= 10 },
		"an end before the start": func(s *result.Summary) { s.End = s.Start.Add(-time.Hour) },
		"a passed audit": func(s *result.Summary) {
			s.Audit = &result.Audit{Passed: true, Checks: []result.Check{{}}}
		},
	} {
		s := whole
		change(&s)
		require.NoError(t, result.SaveSummary(dir, s))
		for _, command := range []string{"report -o text", "compare"} {
			t.Log(why)
			fails(t, exitFailed, result.SummaryFile+": ", words("%s %s", command, dir)...)
		}
	}
	require.NoError(t, result.SaveSummary(dir, whole))
	require.NoError(t, os.Truncate(filepath.Join(dir, result.SamplesFile), 300))
	for _, command := range []string{"report", "report -o text", "report -o csv", "report -o json", "compare"} {
		stdout, stderr := ends(t, exitFailed, words("%s %s", command, dir)...)
		assert.Contains(t, stderr, result.SamplesFile+" is damaged", command)
		assert.NotContains(t, stdout, "OPM", command)
	}
}
