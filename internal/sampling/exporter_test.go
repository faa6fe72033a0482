package sampling

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/machinetest"
	"ds2/internal/promtest"
	"ds2/internal/topology"
)

// windowsExposition is made of the names, labels and kinds that windows_exporter's documentation
// gives.
//
//go:embed testdata/windows_exporter.prom
var windowsExposition string

func names(columns []Column) (all []string) {
	for _, c := range columns {
		all = append(all, c.Name)
	}
	return all
}

// columnsBetween gives a source's columns over n seconds.
func columnsBetween(src Source, seconds float64, was, now []float64) map[string]float64 {
	row := map[string]float64{}
	for _, c := range src.Columns {
		row[c.Name] = c.Value(seconds, was, now)
	}
	return row
}

func TestWindowsExporter(t *testing.T) {
	server := machinetest.NewExporter(t, windowsExposition)
	e, err := OpenExporter(t.Context(), server.URL)
	require.NoError(t, err)
	want := topology.Machine{
		Hostname:    "PC",
		System:      "Windows 10 Pro",
		Kernel:      "10.0.19045",
		Processors:  2,
		MemoryBytes: 16 << 30,
	}
	assert.Equal(t, want, e.Machine)
	src, err := e.Source(nil, false, nil)
	require.NoError(t, err)
	was := read(t, src)
	server.Show(map[string]float64{
		// 200 a second
		`windows_physical_disk_reads_total{disk="0"}`:                 1400,
		`windows_physical_disk_writes_total{disk="0"}`:                600,
		`windows_physical_disk_read_bytes_total{disk="0"}`:            8.192e6 + 400*8192,
		`windows_physical_disk_write_bytes_total{disk="0"}`:           4.096e6 + 100*8192,
		`windows_physical_disk_read_latency_seconds_total{disk="0"}`:  3 + 400*0.002,
		`windows_physical_disk_write_latency_seconds_total{disk="0"}`: 1 + 100*0.004,
		// of 2 s
		`windows_physical_disk_idle_seconds_total{disk="0"}`:   500.5,
		`windows_cpu_time_total{core="0,0",mode="privileged"}`: 100.5,
		// part of it
		`windows_cpu_time_total{core="0,0",mode="dpc"}`:                                   10.25,
		`windows_cpu_time_total{core="0,0",mode="user"}`:                                  200.5,
		`windows_memory_available_bytes`:                                                  1 << 30,
		`windows_net_bytes_received_total{nic="Microsoft Hyper-V Network Adapter _1"}`:    1000 + 2e6,
		`windows_net_bytes_sent_total{nic="Microsoft Hyper-V Network Adapter _1"}`:        2000 + 25e6,
		`windows_net_current_bandwidth_bytes{nic="Microsoft Hyper-V Network Adapter _1"}`: 1.25e8,
	})
	got := columnsBetween(src, 2, was, read(t, src))
	const nic = "network.Microsoft Hyper-V Network Adapter _1."
	for column, value := range map[string]float64{
		"disk.0.reads_per_second": 200, "disk.0.writes_per_second": 50,
		"disk.0.read_bytes_per_second": 200 * 8192, "disk.0.written_bytes_per_second": 50 * 8192,
		"disk.0.read_seconds": 0.002, "disk.0.write_seconds": 0.004, "disk.0.busy_ratio": 0.75, "disk.0.queue": 0.6,
		"cpu.busy_ratio": 0.25, "cpu.0,0.busy_ratio": 0.5, "cpu.0,1.busy_ratio": 0,
		"memory.available_bytes":          1 << 30,
		nic + "received_bytes_per_second": 1e6, nic + "sent_bytes_per_second": 12.5e6, nic + "used_ratio": 0.1,
	} {
		assert.Contains(t, got, column)
		assert.InDelta(t, value, got[column], 1e-9*max(value, 1), column)
		delete(got, column)
	}
	assert.Empty(t, got, "columns besides")
	for i, f := range src.Figures {
		// Which Windows does not tell.
		assert.Equal(t, f.Name == "cpu_iowait_seconds_total", math.IsNaN(was[i]), "%v", f)
	}
	asked := url.Values{"collect[]": {"cpu", "memory", "net", "physical_disk"}}
	assert.Equal(t, asked.Encode(), server.Queries[len(server.Queries)-1], "each second")
}

// TestExporterGivesTheSameColumns samples this machine directly and through the real node_exporter.
func TestExporterGivesTheSameColumns(t *testing.T) {
	t.Parallel()
	e, err := OpenExporter(t.Context(), "http://"+promtest.StartNodeExporter(t)+"/metrics")
	require.NoError(t, err)
	drives, err := topology.Root.Drives()
	require.NoError(t, err)
	remote, err := e.Source(drives, false, nil)
	require.NoError(t, err)
	direct, err := MachineCounters(topology.Root, drives, nil)
	require.NoError(t, err)
	assert.ElementsMatch(
		t,
		names(direct.Columns),
		names(remote.Columns),
		"of the machine itself and of the exporter",
	)
	// What the machine itself has counted before and after holds what the exporter shows in
	// between.
	figures := func(src Source) map[string]float64 {
		all := map[string]float64{}
		for i, v := range read(t, src) {
			all[fmt.Sprint(src.Figures[i].Name, src.Figures[i].Item)] = v
		}
		return all
	}
	before := figures(direct)
	shown := figures(remote)
	after := figures(direct)
	held := 0
	for name, v := range shown {
		from, known := before[name]
		if to := after[name]; strings.Contains(name, "_total") && known && !math.IsNaN(v) {
			held++
			assert.True(
				t,
				v >= from-0.1 && v <= to+0.1,
				"%s: %v, through the exporter %v, %v",
				name,
				from,
				v,
				to,
			)
		}
	}
	assert.GreaterOrEqual(t, held, 3, "counters")
	assert.InEpsilon(t, before["memory_available_bytes"], shown["memory_available_bytes"], .25)
	self := topology.Root.Machine(nil)
	self.Hostname = e.Machine.Hostname
	self.Processor = e.Machine.Processor
	assert.Equal(t, self, e.Machine)
	assert.Contains(t, e.URL.RawQuery, "collect", "asked for all")
	_, err = e.Source([]string{"nosuch"}, false, nil)
	assert.ErrorContains(t, err, "nosuch")
}

// TestMissedScrape has an exporter that fails for a while, which is no zero.
func TestMissedScrape(t *testing.T) {
	server := machinetest.NewExporter(t, windowsExposition)
	e, err := OpenExporter(t.Context(), server.URL)
	require.NoError(t, err)
	src, err := e.Source(nil, false, nil)
	require.NoError(t, err)
	for _, broken := range []bool{true, false} {
		server.Broken = broken
		err := src.Read(t.Context(), make([]float64, len(src.Figures)))
		assert.Equal(t, broken, err != nil, "%v", err)
	}
}

// TestSeveralExporters tells their machines apart, in columns and in metrics.
func TestSeveralExporters(t *testing.T) {
	t.Parallel()
	var columns, figures []string
	for range 2 {
		e, err := OpenExporter(t.Context(), machinetest.NewExporter(t, windowsExposition).URL)
		require.NoError(t, err)
		src, err := e.Source(nil, true, nil)
		require.NoError(t, err)
		columns = append(columns, names(src.Columns)...)
		for _, f := range src.Figures {
			figures = append(figures, fmt.Sprintf("%s{%s=%q}", f.Name, f.Label, f.Item))
		}
		assert.Subset(t, columns, []string{
			ItemColumn(DiskReads, e.Name+".0"),
			ItemColumn(CPUBusy, e.Name),
			ItemColumn(MemoryAvailable, e.Name),
		})
	}
	for _, all := range [][]string{columns, figures} {
		slices.Sort(all)
		assert.Equal(
			t,
			len(all),
			len(slices.Compact(all)),
			"of two machines something has the same name: %v",
			all,
		)
	}
}

func TestOpenExporterRefuses(t *testing.T) {
	for address, want := range map[string]string{
		"db1:9100":                                      "write the exporter's URL",
		"ftp://db1/metrics":                             "write the exporter's URL",
		"http://127.0.0.1:1/metrics":                    "refused",
		machinetest.NewExporter(t, "up 1\n").URL:        "shows nothing of a node_exporter or windows_exporter",
		machinetest.NewExporter(t, "<html>").URL:        "read http",
		machinetest.NewExporter(t, "").URL + "/metrics": "shows nothing",
	} {
		_, err := OpenExporter(t.Context(), address)
		assert.ErrorContains(t, err, want, address)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := OpenExporter(ctx, machinetest.NewExporter(t, windowsExposition).URL)
	assert.ErrorIs(t, err, context.Canceled)
}
