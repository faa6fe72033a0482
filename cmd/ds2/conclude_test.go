package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"ds2/internal/conclude"
	"ds2/internal/measure"
	"ds2/internal/monitor"
	"ds2/internal/result"
	"ds2/internal/workload/ds2"
	"ds2/internal/workload/mailbox"
)

// made writes the record of a made-up run of 60 s, of a workload and a machine of the run's. Its second half is slower than its first,
// and waits for drives where the first fills the processors. It has limits that the first half keeps.
func made(t *testing.T, dir string, words result.Words, workload string, own any, machine int) result.Summary {
	t.Helper()
	start := time.Date(2026, 11, 22, 12, 0, 0, machine*1000, time.UTC)
	asked := result.Asked{
		RunID: "made", Workload: workload, Words: words, Engine: "postgres", Targets: []string{"host/db"}, Size: "S", Threads: 4, Seed: 1,
		Parameters: result.Parameters{UserOffset: machine * 4, Own: result.NewBlock(own)},
		LimitTexts: []string{"opm > 2000", words.Cycle + " p95 < 30ms"},
	}
	happened := result.Happened{
		Status: result.Running, Start: start, End: start.Add(time.Minute),
		Machine: &monitor.Machine{Processors: 4, Drives: []monitor.Drive{
			{Name: "d", Roles: []monitor.Role{monitor.Data}}, {Name: "l", Roles: []monitor.Role{monitor.Log}},
		}},
	}
	s := result.Summary{Asked: asked, Happened: happened}
	w, err := result.Create(dir, s)
	if err != nil {
		t.Fatal(err)
	}
	meter := measure.NewMeter([]string{"read"}, []string{"host/db"})
	user := meter.NewRecorder(0)
	random := rand.New(rand.NewPCG(uint64(machine), uint64(len(dir))))
	counters := monitor.Table{Columns: []string{
		monitor.CPUBusy, monitor.Power, monitor.SessionsRunning, monitor.SessionsWaitingForDrives,
		monitor.ItemColumn(monitor.DiskReads, "d"), monitor.ItemColumn(monitor.DiskReadTime, "d"), monitor.ItemColumn(monitor.DiskWrites, "d"),
		monitor.ItemColumn(monitor.DiskWrites, "l"), monitor.ItemColumn(monitor.DiskWriteTime, "l"),
	}}
	meter.Enter(measure.PhaseRun)
	for second := 1; second <= 60; second++ {
		slow := float64(second / 31) // 1 in the second half
		for range 40 - int(20*slow) + random.IntN(8) {
			var o measure.Order
			d := time.Duration(1+slow*4)*10*time.Millisecond + time.Duration(random.IntN(9000))*time.Microsecond
			o.AddLatency(0, d)
			o.Complete(d, d)
			user.Record(&o)
		}
		end := time.Duration(second) * time.Second
		if err := w.Sample(meter.Sample(end, []measure.Users{{measure.UserRunning: 4}})); err != nil {
			t.Fatal(err)
		}
		if second%10 == 0 {
			if err := w.Interval(meter.Interval(end)); err != nil {
				t.Fatal(err)
			}
		}
		counters.Rows = append(counters.Rows, monitor.Row{Time: start.Add(end), Values: []float64{
			.95 - .7*slow, 100 + float64(second), 4 - 4*slow, 4 * slow, 100 + 200*slow + random.Float64(), .002 + .03*slow, 30, 50, .001,
		}})
	}
	if err := errors.Join(w.Close(), result.SaveHost(dir, &counters, start)); err != nil {
		t.Fatal(err)
	}
	s.Status = result.Done
	series, err := result.ReadSeries(dir)
	if err != nil {
		t.Fatal(err)
	}
	s.Conclusion, err = conclude.Of(conclude.Input{Asked: s.Asked, Happened: s.Happened, Series: series, Counters: counters, Own: concluders()[workload]}, nil)
	if err := errors.Join(err, result.SaveSummary(dir, s)); err != nil {
		t.Fatal(err)
	}
	return s
}

// madeBench writes the record of a bench of two made-up runs.
func madeBench(t *testing.T, dir, experiment string) {
	t.Helper()
	words := ds2.Workload{}.Words()
	b := result.Bench{Status: result.Done, BenchID: "made", Experiment: experiment, Words: words, Setup: result.Setup{Engine: "postgres", Size: "S", Threads: 4, Runs: 2}}
	for i := 1; i <= 2; i++ {
		run := result.BenchRun{Dir: fmt.Sprintf("run-%d", i), Status: result.Done, Block: i, Number: i}
		conclude.Digest(&run, made(t, filepath.Join(dir, run.Dir), words, ds2.Name, struct{}{}, i))
		b.Runs = append(b.Runs, run)
	}
	conclude.Bench(&b)
	if err := result.SaveBench(dir, b); err != nil {
		t.Fatal(err)
	}
}

// TestLaterWindow: under a window that is chosen later, the text, the page, JSON, CSV, a comparison and a gate agree on a run, a run of
// two machines, a bench, an experiment, a run on mailboxes and one of a workload that this ds2 does not know, to the last digit that each shows, and give the verdicts of that window.
func TestLaterWindow(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	orders, mails := ds2.Workload{}.Words(), mailbox.Workload{}.Words()
	made(t, at("run"), orders, ds2.Name, struct{}{}, 0)
	made(t, at("machine"), orders, ds2.Name, struct{}{}, 1)
	made(t, at("mailbox"), mails, mailbox.Name, map[string]any{"mailboxes": 5, "operations_per_transaction": 1}, 0)
	bank := result.Words{Cycle: "transfer", Cycles: "transfers", Rate: "TPM", Unit: "TPM", Groups: map[string][]string{"any": {"read"}}}
	made(t, at("bank"), bank, "bank", struct{}{}, 0)
	madeBench(t, at("bench"), "")
	madeBench(t, at("experiment/a"), "made")
	madeBench(t, at("experiment/b"), "made")
	e := result.Experiment{Status: result.Done, ExperimentID: "made", Order: result.OrderRandom, Least: 2, Most: 2, Configurations: []result.ExperimentConfiguration{
		{Name: "a", Dir: "a"}, {Name: "b", Dir: "b"}}}
	if err := result.SaveExperiment(at("experiment"), e); err != nil {
		t.Fatal(err)
	}
	const window = "30s-60s"
	output := func(arguments ...string) string {
		t.Helper()
		code, stdout, stderr := execute(t, append(arguments, "--window", window)...)
		if code != exitDone {
			t.Fatalf("ds2 %v: exit %d, %s", arguments, code, stderr)
		}
		return stdout
	}
	type headline struct {
		result.Headline
		Limits     []struct{ OK bool }
		Bottleneck *struct{ What string }
		Windows    []measure.Window
		Power      *result.Power
	}
	first := func(text string) (h headline) {
		t.Helper()
		var all []headline
		if err := json.Unmarshal([]byte(text), &all); err != nil {
			t.Fatal(err)
		}
		return all[0]
	}
	shown := func(f *result.Figure) string { // as reports show it
		text := strconv.FormatFloat(f.Value, 'f', 1, 64)
		if i := strings.IndexByte(text, '.'); i > 3 {
			text = text[:i-3] + "," + text[i-3:]
		}
		return text + " " + f.Unit
	}
	for _, c := range []struct {
		name      string
		arguments []string // of ds2 report
	}{
		{"run", []string{at("run")}},
		{"merged", []string{"--merge", at("run"), at("machine")}},
		{"mailbox", []string{at("mailbox")}},
		{"another workload", []string{at("bank")}},
	} {
		h := first(output(append([]string{"report", "--output", "json"}, c.arguments...)...))
		if w := h.Windows[0]; w.From != 30 || h.Power == nil || *h.Power.Active != 145.5 || h.Bottleneck == nil || h.Bottleneck.What != "storage" {
			t.Errorf("%s: from %v s, power %+v, bottleneck %+v", c.name, w.From, h.Power, h.Bottleneck)
		}
		if *h.Figure.PerWatt != h.Figure.Value/145.5 {
			t.Errorf("%s: %v a watt of %v", c.name, *h.Figure.PerWatt, h.Figure.Value)
		}
		if c.name != "merged" && (len(h.Limits) != 2 || h.Limits[1].OK) || h.Windows[0].OPM < 2000 == (c.name == "merged") {
			t.Errorf("%s: OPM %v, limits %+v", c.name, h.Windows[0].OPM, h.Limits)
		}
		for _, form := range []string{"text", "html"} {
			if text := output(append([]string{"report", "--output", form, "--out", "-"}, c.arguments...)...); !strings.Contains(text, shown(h.Figure)) || !strings.Contains(text, "Bottleneck: storage") || !strings.Contains(text, "FAIL: ") {
				t.Errorf("%s: the %s lacks %s, the bottleneck or the verdict:\n%.600s", c.name, form, shown(h.Figure), text)
			}
		}
		if c.name == "merged" {
			continue
		}
		exact := strconv.FormatFloat(h.Figure.Value, 'f', -1, 64)
		if lines := output("compare", "--output", "csv", c.arguments[0]); !strings.Contains(lines, ","+exact+",") || !strings.Contains(lines, strings.ToLower(h.Figure.Unit)+",") {
			t.Errorf("%s: the CSV lacks %s:\n%s", c.name, exact, lines)
		}
	}
	run := first(output("report", "--output", "json", at("run")))
	other := first(output("report", "--output", "json", at("machine")))
	code, stdout, _ := execute(t, "compare", "--output", "json", "--window", window, "--fail-if", "opm < -99%", at("run"), at("machine"))
	var compared struct {
		Configurations []result.Headline
		Gates          []struct {
			Change struct {
				Percent float64 `json:"pct"`
			}
		}
	}
	if err := json.Unmarshal([]byte(stdout), &compared); err != nil {
		t.Fatalf("exit %d, %v: %s", code, err, stdout)
	}
	for i, h := range []headline{run, other} {
		if got := compared.Configurations[i].Figure; *got.PerWatt != *h.Figure.PerWatt || got.Value != h.Figure.Value {
			t.Errorf("compared: %+v, reported: %+v", got, h.Figure)
		}
	}
	if want := 100 * (other.Figure.Value/run.Figure.Value - 1); len(compared.Gates) != 1 || compared.Gates[0].Change.Percent-want > 1e-9 || want-compared.Gates[0].Change.Percent > 1e-9 {
		t.Errorf("the gate has %+v, want a change of %v %%", compared.Gates, want)
	}

	for _, name := range []string{"bench", "experiment/a"} {
		var b struct {
			result.Headline
			Runs []struct {
				result.Headline
				Limits []struct{ OK bool }
			}
		}
		if err := json.Unmarshal([]byte(output("report", "--output", "json", at(name))), &b); err != nil {
			t.Fatal(err)
		}
		for i, r := range b.Runs {
			alone := first(output("report", "--output", "json", filepath.Join(at(name), fmt.Sprintf("run-%d", i+1))))
			if r.Figure.Value != alone.Figure.Value || *r.OPM != *alone.OPM || r.Limits[1].OK != alone.Limits[1].OK {
				t.Errorf("%s: run %d has %+v in the bench, %+v alone", name, i+1, r.Figure, alone.Figure)
			}
		}
		if want := (b.Runs[0].Figure.Value + b.Runs[1].Figure.Value) / 2; b.Figure.Value != want {
			t.Errorf("%s: %v, want the median of its runs, %v", name, b.Figure.Value, want)
		}
		if lines := output("report", "--output", "csv", at(name)); !strings.Contains(lines, ","+strconv.FormatFloat(b.Runs[1].Figure.Value, 'f', -1, 64)+",") {
			t.Errorf("%s: %s", name, lines)
		}
	}
	var all struct {
		Comparison struct{ Configurations []result.Headline }
	}
	if err := json.Unmarshal([]byte(output("report", "--output", "json", at("experiment"))), &all); err != nil {
		t.Fatal(err)
	}
	a := all.Comparison.Configurations[0]
	if alone := compareAlone(t, at("experiment/a"), window); a.Figure.Value != alone {
		t.Errorf("the experiment has %v for a configuration, the bench %v", a.Figure.Value, alone)
	}
}

// compareAlone is the result of a bench under a window, by its own report.
func compareAlone(t *testing.T, dir, window string) float64 {
	t.Helper()
	read, err := reader(window)
	if err != nil {
		t.Fatal(err)
	}
	b, err := read.Bench(dir)
	if err != nil {
		t.Fatal(err)
	}
	return b.Figure.Value
}
