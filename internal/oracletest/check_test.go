package oracletest

import (
	"io/fs"
	"path/filepath"
)

// Check compares all records of runs and benches in a directory with what their files come to, and
// says where they disagree. Runs that have not come to their end, and what was damaged, are left
// out.
func Check(dir string) (wrong []string, records int) {
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "summary.json" {
			return nil
		}
		dir := filepath.Dir(path)
		s, err := readSummary(dir)
		if err != nil {
			return nil
		}
		var found []string
		switch s.text("kind") {
		case "run":
			if r, err := ReadRun(dir); err == nil && s.text("status") != "running" &&
				s.at("windows") != nil {
				found = r.Check()
				records = records + 1
			}
		case "bench":
			if b, err := ReadBench(dir); err == nil && b.Status == "done" {
				found = b.Check()
				records = records + 1
			}
		}
		for _, text := range found {
			wrong = append(wrong, dir+": "+text)
		}
		return nil
	})
	return wrong, records
}

// differ gathers where two figures differ.
type differ []string

func (d *differ) same(what string, kit, oracle any) {
	if text := Unlike(what, kit, oracle); text != "" {
		*d = append(*d, text)
	}
}

// Check compares the summary of a run with what its files come to.
func (r *Run) Check() (wrong differ) {
	s := r.summary
	windows := s.list("windows")
	wrong.same("has a window", len(windows) > 0, r.Reached)
	if len(windows) == 0 || !r.Reached || windows[0].yes("auto") {
		return wrong
	}
	w := windows[0]
	wrong.same("begin of the window", w.number("from_s"), float64(r.from)/1000)
	wrong.same("end of the window", w.number("to_s"), float64(r.to)/1000)
	wrong.same("OPM", w.number("opm"), r.OPM)
	if !r.Judged { // it has no figure that counts
		wrong.same("has a figure", s.at("figure") != nil, false)
		return wrong
	}
	wrong.same("figure that counts", s.number("figure", "value"), r.Value)
	wrong.same("unit", s.text("figure", "unit"), r.Unit)
	wrong.same("failed attempts", w.number("errors"), r.total("errors"))
	latencies, _ := w.at("latency").(map[string]any)
	for name := range latencies {
		for share, key := range map[float64]string{
			.5: "p50_ms", .95: "p95_ms", .99: "p99_ms", 1: "max_ms", -1: "mean_ms",
		} {
			v, _ := r.time(name, share)
			if share >= 0 || w.number("latency", name, "count") > 0 {
				wrong.same(name+" "+key, w.number("latency", name, key), v)
			}
		}
	}
	if w.at("cycle", "begun") == nil || w.number("cycle", "begun") < 3 {
		wrong.same("steady", w.yes("steady", "verdict"), r.Steady)
		if len(r.inWindow()) >= 10 && r.OPM > 0 {
			wrong.same("drift", w.number("steady", "drift_pct"), r.Drift)
		}
	}
	wrong.same("idle power", s.number("power", "idle_w"), r.Idle)
	wrong.same("active power", s.number("power", "active_w"), r.Watts)
	if r.Watts > 0 {
		wrong.same("per watt", s.number("figure", "per_watt"), r.Value/r.Watts)
	}
	figures := map[string]func() float64{
		"read latency, slowest device":      func() float64 { return r.Latency("", false) },
		"write latency, slowest device":     func() float64 { return r.Latency("", true) },
		"log write latency, slowest device": func() float64 { return r.Latency("log", true) },
		"reads of the devices": func() float64 {
			return r.ofDrives(".reads_per_second")
		},
		"writes of the devices": func() float64 {
			return r.ofDrives(".writes_per_second")
		},
	}
	for _, c := range s.list("conditions") {
		if figure, ok := figures[c.text("name")]; ok {
			wrong.same(c.text("name"), c.number("value"), figure())
		}
	}
	for i, l := range s.list("limits") {
		if i < len(r.Limits) {
			wrong.same(l.text("limit"), l.number("measured"), r.Limits[i].Measured)
			wrong.same(l.text("limit")+" holds", l.yes("ok"), r.Limits[i].Holds)
			one := r.Limits[i]
			open := l.number("low") < one.Bound && one.Bound < l.number("high")
			wrong.same(l.text("limit")+" cannot tell", l.yes("cannot_tell"), open)
		}
	}
	return wrong
}

// Check compares the summary of a bench with what the files of its runs come to.
func (b *Bench) Check() (wrong differ) {
	s := b.summary
	for i, run := range s.list("runs") {
		wrong.same(b.Runs[i].Dir+" counts", run.yes("counts"), b.Runs[i].Counts)
		if b.Runs[i].Counts {
			wrong.same(b.Runs[i].Dir, run.number("figure", "value"), b.Runs[i].Value)
			wrong.same(b.Runs[i].Dir+" p95", run.number("order_p95_ms"), b.Runs[i].P95)
		}
	}
	wrong.same("median", s.number("figure", "value"), b.Value)
	wrong.same("mean", s.number("runs_mean"), b.Mean)
	wrong.same("interval", s.number("runs_mean_ci95"), b.Half)
	wrong.same("spread", s.number("runs_spread_pct"), b.Spread)
	wrong.same("idle power", s.number("idle_w"), b.Idle)
	wrong.same("active power", s.number("active_w"), b.Watts)
	for i, l := range s.list("limits") {
		if i < len(b.Limits) {
			wrong.same(l.text("limit")+" holds", l.yes("ok"), b.Limits[i].Holds)
			wrong.same(l.text("limit")+" cannot tell", l.yes("cannot_tell"), b.Limits[i].Open)
		}
	}
	return wrong
}
