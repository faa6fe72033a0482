package monitor

import (
	"testing"
	"time"

	"ds2/internal/machinetest"
	"ds2/internal/sampling"
	"ds2/internal/store"
	"ds2/internal/topology"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadDevices(t *testing.T) {
	type roles = map[string][]topology.Role
	for _, c := range []struct {
		given []string
		names []string
		roles roles
		err   string
	}{
		{nil, nil, roles{}, ""},
		{[]string{"nvme0n1", "sda"}, []string{"nvme0n1", "sda"}, roles{}, ""},
		{[]string{"data=sda", "log=sdb"}, []string{"sda", "sdb"}, roles{"sda": {topology.Data}, "sdb": {topology.Log}}, ""},
		{[]string{"data=sda", "log=sda", "sda"}, []string{"sda"}, roles{"sda": {topology.Data, topology.Log}}, ""},
		{[]string{"wal=sda"}, nil, nil, `"wal=sda" is not a device`},
		{[]string{"data="}, nil, nil, `"data=" is not a device`},
		{[]string{""}, nil, nil, `"" is not a device`},
	} {
		names, roles, err := readDevices(c.given)
		if c.err != "" {
			var option *OptionError
			require.ErrorAs(t, err, &option)
			assert.Equal(t, "devices", option.Field)
			assert.ErrorContains(t, err, c.err)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, c.names, names)
		assert.Equal(t, c.roles, roles)
	}
}

// TestRolesOfExporter reads a system drive and those of data and log from an exporter: without
// their roles there are no IOPS, with them the system drive has no part in them.
func TestRolesOfExporter(t *testing.T) {
	text := "node_cpu_seconds_total{cpu=\"0\",mode=\"idle\"} 1\n"
	for _, name := range []string{
		"reads_completed", "writes_completed", "read_bytes", "written_bytes",
		"flush_requests", "flush_requests_time_seconds",
	} {
		text += "# TYPE node_disk_" + name + "_total counter\n"
		for _, device := range []string{"sda", "nvme1n1", "nvme2n1"} {
			text += "node_disk_" + name + "_total{device=\"" + device + "\"} 1000\n"
		}
	}
	server := machinetest.NewExporter(t, text)
	for _, c := range []struct {
		devices []string
		sync    string  // how the server syncs its log
		iops    float64 // 0: unknown
		notes   int
	}{
		{nil, "fdatasync", 0, 1},
		{[]string{"nvme1n1", "nvme2n1"}, "fdatasync", 0, 1},
		{[]string{"data=nvme1n1", "nvme2n1"}, "open_datasync", 0, 1},
		{[]string{"data=nvme1n1", "log=nvme2n1"}, "fdatasync", 30, 0},
		{[]string{"data=nvme1n1", "log=nvme2n1", "sda"}, "fdatasync", 30, 0},
		// which flushes are a journal's is not to be seen
		{[]string{"data=nvme1n1", "log=nvme2n1"}, "fsync", 0, 1},
	} {
		server.Text = text
		w := &Observer{o: Options{Exporters: []string{server.URL}}}
		w.Servers = []topology.Server{{Settings: map[string]string{"wal_sync_method": c.sync}}}
		var err error
		w.devices, w.roles, err = readDevices(c.devices)
		require.NoError(t, err)
		require.NoError(t, w.openExporters(t.Context()))
		w.noteRoles()
		assert.Len(t, w.Notes, c.notes, "%q", c.devices)
		src := w.Sources[0]
		was := read(t, src)
		server.Show(map[string]float64{
			`node_disk_reads_completed_total{device="nvme1n1"}`:  1020,
			`node_disk_writes_completed_total{device="nvme1n1"}`: 1010,
			`node_disk_writes_completed_total{device="nvme2n1"}`: 1010,
			`node_disk_flush_requests_total{device="nvme2n1"}`:   1005,
			`node_disk_writes_completed_total{device="sda"}`:     2000,
		})
		now := read(t, src)
		start := time.Unix(0, 0)
		row := sampling.Row{Time: start.Add(time.Second)}
		var columns []string
		for _, column := range src.Columns {
			columns = append(columns, column.Name)
			row.Values = append(row.Values, column.Value(1, was, now))
		}
		seen := sampling.Drives{
			Counters: sampling.Table{Columns: columns, Rows: []sampling.Row{row}},
			Machine:  w.Machine,
			From:     start,
			To:       row.Time,
		}
		iops, measured := seen.IOPS()
		assert.Equal(t, c.iops, iops, "%q", c.devices)
		assert.Equal(t, c.iops > 0, measured, "%q", c.devices)
		s, _ := seen.Storage()
		assert.True(t, s == nil || !s.Shared && s.LogWrites == 5, "%q: %+v", c.devices, s)
	}
}

// read reads a source once.
func read(t *testing.T, s sampling.Source) []float64 {
	t.Helper()
	values := make([]float64, len(s.Figures))
	require.NoError(t, s.Read(t.Context(), values))
	return values
}

// labelled is a database that is known by its label.
type labelled struct {
	store.Database
	label string
}

func (l labelled) Label() string { return l.label }

// TestExporterOfTarget: an exporter tells of its own machine, and of another name for that of all
// targets.
func TestExporterOfTarget(t *testing.T) {
	exporter := machinetest.NewExporter(t, "node_cpu_seconds_total{cpu=\"0\",mode=\"idle\"} 1\n")
	for _, c := range []struct {
		targets []string
		of      []bool
		notes   int
	}{
		{[]string{"db1:5432/ds2", "db1:5432/mail"}, []bool{true, true}, 0},
		{[]string{"127.0.0.1:5432/ds2", "db2:5432/ds2"}, []bool{true, false}, 1},
		{[]string{"db1:5432/ds2", "db2:5432/ds2"}, []bool{false, false}, 2},
	} {
		w := &Observer{o: Options{Exporters: []string{exporter.URL}}}
		w.Servers = make([]topology.Server, len(c.targets))
		for _, label := range c.targets {
			w.targets = append(w.targets, labelled{label: label})
		}
		require.NoError(t, w.openExporters(t.Context()))
		w.noteWithoutExporter()
		for i, target := range w.targets {
			assert.Equal(t, c.of[i], w.exporterOf(target) != nil, "%v", c.targets)
		}
		assert.Len(t, w.Notes, c.notes, "%v", c.targets)
	}
}
