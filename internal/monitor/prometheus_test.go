package monitor

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/promtest"
)

// TestPrometheusGivesTheSameColumns samples this machine directly and through node_exporter and Prometheus.
func TestPrometheusGivesTheSameColumns(t *testing.T) {
	t.Parallel()
	node := promtest.StartNodeExporter(t)
	url := promtest.Start(t, []string{node})
	prometheus, err := NewPrometheus(url)
	require.NoError(t, err)

	drives, err := Root.Drives()
	require.NoError(t, err)
	source, err := Root.Counters(drives)
	require.NoError(t, err)
	sampler := NewSampler(slog.New(slog.DiscardHandler), source)
	direct := Table{Columns: sampler.Columns()}
	var remote Table
	// irate needs two scrapes: go on until Prometheus has a row with a processor's load.
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	sampler.Run(ctx, time.Now(), func(r Row) {
		direct.Rows = append(direct.Rows, r)
		remote = Table{}
		for _, r := range direct.Rows {
			remote.Rows = append(remote.Rows, Row{Time: r.Time})
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

	found, err := prometheus.find(t.Context(), node, to)
	if err != nil || found.kind == nil {
		t.Fatalf("%+v, %v", found, err)
	}
	machine := found.kind.machine(found.shown)
	if self := Root.Machine(nil); machine.Kernel != self.Kernel || machine.MemoryBytes != self.MemoryBytes || machine.Processors != self.Processors {
		t.Errorf("Prometheus describes %+v, the machine itself %+v", machine, self)
	}

	power := Table{Rows: slices.Clone(remote.Rows)}
	require.NoError(t, prometheus.FillPower(t.Context(), &power, "vector(250)"))
	if got := power.Mean(Power, from, to); got != 250 {
		t.Errorf("power by query = %v W, want 250", got)
	}
	assert.ErrorContains(t, prometheus.FillPower(t.Context(), &power, "up * 0 > 1"), "0 series")
	assert.ErrorContains(t, prometheus.Fill(t.Context(), &remote, "elsewhere", nil), `"elsewhere"`)
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

// TestPrometheusMultipath has a Prometheus observe a machine whose NVMe drive counts nothing itself: its two paths do, 60 and 40 reads
// a second. What lies on the drive, and the path that was idle, count no second time. The machine says when it counted, so that the
// rates are exact however late a scrape comes.
func TestPrometheusMultipath(t *testing.T) {
	t.Parallel()
	start := time.Now()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		now := time.Now().UnixMilli()
		fmt.Fprintln(w, `node_cpu_seconds_total{cpu="0",mode="idle"} 1`)
		for device, rate := range map[string]int64{"nvme0n1": 0, "nvme0c0n1": 60, "nvme0c1n1": 40, "dm-0": 100, "nvme0n1p1": 0} {
			fmt.Fprintf(w, "node_disk_reads_completed_total{device=%q} %f %d\n", device, float64(rate*(now-start.UnixMilli()))/1000, now)
		}
	}))
	t.Cleanup(server.Close)
	instance := server.Listener.Addr().String()
	prometheus, err := NewPrometheus(promtest.Start(t, []string{instance}))
	require.NoError(t, err)
	var table Table
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		table = Table{}
		for at := start; at.Before(time.Now()); at = at.Add(time.Second) {
			table.Rows = append(table.Rows, Row{Time: at})
		}
		if err := prometheus.Fill(t.Context(), &table, instance, nil); err == nil && known(table.Values("disk.nvme0n1.reads_per_second")) >= 5 {
			break
		}
	}
	if drives := table.Items(DiskReads); !slices.Equal(drives, []string{"disk.nvme0n1.reads_per_second"}) {
		t.Errorf("drives %v", drives)
	}
	for _, reads := range table.Values("disk.nvme0n1.reads_per_second") {
		if math.Abs(reads-100) > 1e-6 { // where it is known
			t.Errorf("%v reads a second, want 100", reads)
		}
	}
}
