package monitor

import (
	"math"
	"slices"
	"strings"
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
		{
			[]string{"data=sda", "log=sdb"},
			[]string{"sda", "sdb"},
			roles{"sda": {topology.Data}, "sdb": {topology.Log}},
			"",
		},
		{
			[]string{"data=sda", "log=sda", "sda"},
			[]string{"sda"},
			roles{"sda": {topology.Data, topology.Log}},
			"",
		},
		{[]string{"wal=sda"}, nil, nil, `"wal=sda" is not a device`},
		{[]string{"data="}, nil, nil, `"data=" is not a device`},
		{[]string{""}, nil, nil, `"" is not a device`},
	} {
		read, err := readDevices(c.given)
		if c.err != "" {
			var option *OptionError
			require.ErrorAs(t, err, &option)
			assert.Equal(t, "devices", option.Field)
			assert.ErrorContains(t, err, c.err)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, c.names, read.names)
		assert.Equal(t, c.roles, read.roles)
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
		settings := map[string]string{"wal_sync_method": c.sync}
		of := []target{{
			Database: labelled{label: "127.0.0.1:5432/ds2"},
			Server:   topology.Server{Settings: settings},
		}}
		named, err := readDevices(c.devices)
		require.NoError(t, err)
		w, err := findExporters(t.Context(), []string{server.URL}, of, named)
		require.NoError(t, err)
		notes := append(w.notes, findUnplaced(w.machine)...)
		assert.Len(t, notes, c.notes, "%q", c.devices)
		src := w.sources[0]
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
			Machine:  w.machine,
			From:     start,
			To:       row.Time,
		}
		want := c.iops
		if want == 0 {
			want = math.NaN()
		}
		assert.InDelta(t, want, seen.IOPS(), 0, "%q", c.devices)
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
		var targets []target
		for _, label := range c.targets {
			targets = append(targets, target{Database: labelled{label: label}})
		}
		w, err := findExporters(t.Context(), []string{exporter.URL}, targets, devices{})
		require.NoError(t, err)
		for i, target := range targets {
			assert.Equal(t, c.of[i], w.exporters.of(target) != nil, "%v", c.targets)
		}
		assert.Len(t, w.notes, c.notes, "%v", c.targets)
	}
}

// TestVolumesOfCSIDriver: the limits of volumes come from EBS's CSI driver, by the drives that a
// node_exporter beside it knows; the driver itself is no machine.
func TestVolumesOfCSIDriver(t *testing.T) {
	node := machinetest.NewExporter(t, `node_cpu_seconds_total{cpu="0",mode="idle"} 1
node_disk_info{device="nvme1n1",model="Amazon Elastic Block Store",serial="vol0123456789abcdef0"} 1
node_disk_reads_completed_total{device="nvme1n1"} 1
`)
	text := ""
	for _, name := range []string{
		"exceeded_iops_seconds", "exceeded_tp_seconds",
		"ec2_exceeded_iops_seconds", "ec2_exceeded_tp_seconds",
	} {
		name = "aws_ebs_csi_" + name + "_total"
		text += "# HELP " + name + " The total time, in seconds.\n# TYPE " + name + " counter\n"
		for _, volume := range []string{"vol-0123456789abcdef0", "vol-0fedcba9876543210"} {
			text += name + `{instance_id="i-0abc",volume_id="` + volume + "\"} 5\n"
		}
	}
	driver := machinetest.NewExporter(t, text)
	exceeded := `aws_ebs_csi_exceeded_iops_seconds_total{instance_id="i-0abc",` +
		`volume_id="vol-0123456789abcdef0"}`
	for _, c := range []struct {
		exporters []string
		item      string
		machine   bool
	}{
		{[]string{node.URL, driver.URL}, "nvme1n1", true},
		{[]string{driver.URL}, "vol-0123456789abcdef0", false},
	} {
		driver.Show(map[string]float64{exceeded: 5})
		w, err := findExporters(t.Context(), c.exporters, nil, devices{})
		require.NoError(t, err)
		assert.Equal(t, c.machine, w.machine != nil)
		src := w.sources[len(w.sources)-1]
		was := read(t, src)
		driver.Show(map[string]float64{exceeded: 14.7})
		now := read(t, src)
		column := sampling.ItemColumn(sampling.VolumeIOPSExceeded, c.item)
		i := slices.IndexFunc(src.Columns, func(one sampling.Column) bool {
			return one.Name == column
		})
		if assert.GreaterOrEqual(t, i, 0, "%v", src.Columns) {
			assert.InDelta(t, .97, src.Columns[i].Value(10, was, now), 1e-9)
		}
		if c.machine { // which has one of the two volumes
			assert.Len(t, src.Columns, 4)
			assert.Equal(t, 1, w.machine.Processors)
		}
	}
}

// TestExportersOfOneMachine: two exporters of one machine are told of, as what it counts would
// count twice.
func TestExportersOfOneMachine(t *testing.T) {
	cpu := "node_cpu_seconds_total{cpu=\"0\",mode=\"idle\"} 1\n"
	for second, noted := range map[string]bool{"db1": true, "db2": false} {
		var urls []string
		for _, name := range []string{"db1", second} {
			text := cpu + "node_uname_info{nodename=\"" + name + "\"} 1\n"
			urls = append(urls, machinetest.NewExporter(t, text).URL)
		}
		w, err := findExporters(t.Context(), urls, nil, devices{})
		require.NoError(t, err)
		told := strings.Contains(strings.Join(w.notes, "\n"), "are both of a machine db1")
		assert.Equal(t, noted, told, "db1 and %s: %v", second, w.notes)
	}
}
