package monitor_test

import (
	"context"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"ds2/internal/monitor"
	"ds2/internal/promtest"
)

// TestPrometheusGivesTheSameColumns samples this machine directly and through node_exporter and Prometheus.
func TestPrometheusGivesTheSameColumns(t *testing.T) {
	node := promtest.StartNodeExporter(t)
	url := promtest.Start(t, []string{node})
	prometheus, err := monitor.NewPrometheus(url)
	if err != nil {
		t.Fatal(err)
	}

	drives, err := monitor.Root.Drives()
	if err != nil {
		t.Fatal(err)
	}
	var sources []monitor.Source
	for _, open := range []func() (monitor.Source, error){
		func() (monitor.Source, error) { return monitor.Root.Disks(drives) }, monitor.Root.CPU, monitor.Root.Surroundings, monitor.Root.Memory, monitor.Root.Network,
	} {
		source, err := open()
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, source)
	}
	sampler := monitor.NewSampler(slog.New(slog.DiscardHandler), sources...)
	direct := monitor.Table{Columns: sampler.Columns()}
	var remote monitor.Table
	// irate needs two scrapes: go on until Prometheus has a row with a processor's load.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	sampler.Run(ctx, time.Now(), func(r monitor.Row) {
		direct.Rows = append(direct.Rows, r)
		remote = monitor.Table{}
		for _, r := range direct.Rows {
			remote.Rows = append(remote.Rows, monitor.Row{Time: r.Time})
		}
		if err := prometheus.Fill(ctx, &remote, node, drives); err == nil && known(remote.Values("cpu.busy_ratio")) >= 3 {
			cancel()
		}
	})

	for _, column := range remote.Columns {
		if !slices.Contains(direct.Columns, column) {
			t.Errorf("Prometheus gives %s, the machine itself only %v", column, direct.Columns)
		}
	}
	for _, column := range direct.Columns {
		// A drive without requests has no latency, and Prometheus then no series.
		if !strings.HasSuffix(column, "_seconds") && !slices.Contains(remote.Columns, column) {
			t.Errorf("Prometheus does not give %s, only %v", column, remote.Columns)
		}
	}
	from, to := direct.Rows[0].Time.Add(-time.Second), direct.Rows[len(direct.Rows)-1].Time
	a, b := direct.Mean("memory.available_bytes", from, to), remote.Mean("memory.available_bytes", from, to)
	if math.Abs(a-b) > a/4 {
		t.Errorf("memory available: %v directly, %v through Prometheus", a, b)
	}

	machine, err := prometheus.Machine(t.Context(), node, to)
	if err != nil {
		t.Fatal(err)
	}
	if self := monitor.Root.Machine(nil); machine.Kernel != self.Kernel || machine.MemoryBytes != self.MemoryBytes || machine.Processors != self.Processors {
		t.Errorf("Prometheus describes %+v, the machine itself %+v", machine, self)
	}

	power := monitor.Table{Rows: slices.Clone(remote.Rows)}
	if err := prometheus.FillPower(t.Context(), &power, "vector(250)"); err != nil {
		t.Fatal(err)
	}
	if got := power.Mean(monitor.Power, from, to); got != 250 {
		t.Errorf("power by query = %v W, want 250", got)
	}
	if err := prometheus.FillPower(t.Context(), &power, "up * 0 > 1"); err == nil || !strings.Contains(err.Error(), "0 series") {
		t.Errorf("a power query without a result gives %v", err)
	}
	if err := prometheus.Fill(t.Context(), &remote, "elsewhere", nil); err == nil || !strings.Contains(err.Error(), `"elsewhere"`) {
		t.Errorf("counters of an unknown machine give %v", err)
	}
}

// known counts the values that are there.
func known(values []float64) (n int) {
	for _, v := range values {
		if !math.IsNaN(v) {
			n++
		}
	}
	return n
}
