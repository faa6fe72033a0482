package monitor

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadDevices(t *testing.T) {
	for _, c := range []struct {
		given []string
		names []string
		roles map[string][]Role
		err   string
	}{
		{nil, nil, map[string][]Role{}, ""},
		{[]string{"nvme0n1", "sda"}, []string{"nvme0n1", "sda"}, map[string][]Role{}, ""},
		{[]string{"data=nvme1n1", "log=nvme2n1"}, []string{"nvme1n1", "nvme2n1"}, map[string][]Role{"nvme1n1": {Data}, "nvme2n1": {Log}}, ""},
		{[]string{"data=sda", "log=sda", "sda"}, []string{"sda"}, map[string][]Role{"sda": {Data, Log}}, ""},
		{[]string{"wal=sda"}, nil, nil, `"wal=sda" is no device`},
		{[]string{"data="}, nil, nil, `"data=" is no device`},
		{[]string{""}, nil, nil, `"" is no device`},
	} {
		names, roles, err := readDevices(c.given)
		if option, ok := errors.AsType[*OptionError](err); c.err != "" && (!ok || option.Field != "devices" || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%q: %v, want %s", c.given, err, c.err)
		}
		if c.err == "" && (err != nil || !reflect.DeepEqual(names, c.names) || !reflect.DeepEqual(roles, c.roles)) {
			t.Errorf("%q: %v, %v, %v", c.given, names, roles, err)
		}
	}
}

// TestRolesOfExporter reads a system drive and those of data and log from an exporter: without their roles there are no
// IOPS, with them the system drive has no part in them.
func TestRolesOfExporter(t *testing.T) {
	text := "node_cpu_seconds_total{cpu=\"0\",mode=\"idle\"} 1\n"
	for _, name := range []string{"reads_completed", "writes_completed", "read_bytes", "written_bytes"} {
		text += "# TYPE node_disk_" + name + "_total counter\n"
		for _, device := range []string{"sda", "nvme1n1", "nvme2n1"} {
			text += "node_disk_" + name + "_total{device=\"" + device + "\"} 1000\n"
		}
	}
	server := newExporter(t, text)
	for _, c := range []struct {
		devices []string
		iops    float64 // NaN: unknown
		notes   int
	}{
		{nil, math.NaN(), 1},
		{[]string{"nvme1n1", "nvme2n1"}, math.NaN(), 1},
		{[]string{"data=nvme1n1", "nvme2n1"}, math.NaN(), 1},
		{[]string{"data=nvme1n1", "log=nvme2n1"}, 30, 0},
		{[]string{"data=nvme1n1", "log=nvme2n1", "sda"}, 30, 0},
	} {
		server.text = text
		w := &Observer{o: Options{Exporters: []string{server.URL}}}
		var err error
		if w.devices, w.roles, err = readDevices(c.devices); err != nil {
			t.Fatal(err)
		}
		require.NoError(t, w.openExporters(t.Context()))
		w.noteRoles()
		if len(w.Notes) != c.notes {
			t.Errorf("%q: notes %q, want %d", c.devices, w.Notes, c.notes)
		}
		src := w.Sources[0]
		was := read(t, src)
		server.show(map[string]float64{`node_disk_reads_completed_total{device="nvme1n1"}`: 1020, `node_disk_writes_completed_total{device="nvme1n1"}`: 1010,
			`node_disk_writes_completed_total{device="nvme2n1"}`: 1005, `node_disk_writes_completed_total{device="sda"}`: 2000})
		now := read(t, src)
		start := time.Unix(0, 0)
		row := Row{Time: start.Add(time.Second)}
		for _, column := range src.Columns {
			row.Values = append(row.Values, column.value(1, was, now))
		}
		seen := Drives{Table{names(src.Columns), []Row{row}}, w.Machine, start, row.Time}
		if iops, measured := seen.IOPS(); measured == math.IsNaN(c.iops) || measured && iops != c.iops {
			t.Errorf("%q: %v IOPS, measured %v, want %v", c.devices, iops, measured, c.iops)
		}
		if s := seen.Storage(); s != nil && (s.Shared || s.LogWrites != 5) {
			t.Errorf("%q: %+v", c.devices, s)
		}
	}
}

// TestSharedDrive has one server's data and log on one drive, and another server's log on a drive of its own: each
// write counts once.
func TestSharedDrive(t *testing.T) {
	columns := []string{"disk.a.reads_per_second", "disk.a.writes_per_second", "disk.a.written_bytes_per_second",
		"disk.b.reads_per_second", "disk.b.writes_per_second", "disk.b.written_bytes_per_second",
		"db.one.log_syncs_per_second", "db.two.log_syncs_per_second", "db.one.log_bytes_per_second", "db.two.log_bytes_per_second"}
	start := time.Unix(0, 0)
	storage := func(values ...float64) *Storage {
		machine := &Machine{Drives: []Drive{{Name: "a", Roles: []Role{Data, Log}}, {Name: "b", Roles: []Role{Log}}}}
		return Drives{Table{columns, []Row{{start.Add(time.Second), values}}}, machine, start, start.Add(time.Second)}.Storage()
	}
	s := storage(0, 100, 9e5, 0, 20, 2e5, 30, 20, 3e5, 2e5)
	if s == nil || s.LogWrites != 50 || s.Writes != 70 || s.IOPS != 70 || s.PageIOPS != 6e5/PageBytes || *s.LogBytes != 1e4 {
		t.Errorf("%+v", s)
	}
	unknown := math.NaN()
	assert.Nil(t, storage(0, 100, 9e5, 0, 20, 2e5, unknown, 20, 3e5, 2e5), "with the log's writes unknown")
	assert.Nil(t, storage(0, 100, 9e5, unknown, unknown, unknown, 30, 20, 3e5, 2e5), "with a drive that nobody counts")
	columns = columns[:6]
	assert.Nil(t, storage(0, 100, 9e5, 0, 20, 2e5), "with servers that count nothing of the log")
}
