package esrp

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/sampling"
	"ds2/internal/topology"
)

// storeOf is the record of a run of a minute, from a second of an hour on, on servers of which each
// has an exporter and one drive for data and log: 100 reads and 80 writes a second, of these 10
// reads and 6 writes of vacuums and 30 writes of the log. A read of a transaction waits for 20 ms,
// of which the drive takes 5.
func storeOf(t *testing.T, from time.Duration, hosts ...string) *result.Record {
	t.Helper()
	start := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC).Add(from)
	r := &result.Record{Dir: "run"}
	r.Start = start
	r.Windows = []measure.Window{{From: 0, To: 60}}
	r.Machine = &topology.Machine{Hostname: "all"}
	var values []float64
	add := func(column, item string, value float64) {
		r.Host.Columns = append(r.Host.Columns, sampling.ItemColumn(column, item))
		values = append(values, value)
	}
	for _, host := range hosts {
		drive := host + ":9100.sda"
		r.Targets = append(r.Targets, host+":5432/mail")
		r.Machine.Drives = append(r.Machine.Drives, topology.Drive{
			Name: drive, Machine: host + ":9100",
			Roles: []topology.Role{topology.Data, topology.Log},
		})
		add(sampling.DiskReads, drive, 100)
		add(sampling.DiskReadTime, drive, .005)
		add(sampling.DiskReadBytes, drive, 100*8192)
		add(sampling.DiskWrites, drive, 80)
		add(sampling.DiskWriteTime, drive, .002)
		add(sampling.DiskWrittenBytes, drive, 80*8192)
		add(sampling.DatabaseLogSyncs, host+":5432", 30)
		add(sampling.DatabaseLogBytes, host+":5432", 30*8192)
		add(sampling.TransactionReads, host+":5432", 90)
		add(sampling.TransactionReadTime, host+":5432", 90*.020)
		add(sampling.TransactionWrites, host+":5432", 44)
		add(sampling.VacuumReads, host+":5432", 10)
		add(sampling.VacuumWrites, host+":5432", 6)
	}
	for second := 1; second <= 60; second++ {
		r.Host.Rows = append(r.Host.Rows, sampling.Row{
			Time: start.Add(time.Duration(second) * time.Second), Values: values,
		})
	}
	var err error
	r.Storage, err = drivesOf(r).Storage()
	require.NoError(t, err)
	return r
}

// TestFormHasTheRunsAccounts: the form of one run on two machines sums to what the run's first
// screen says, without the log's writes and those of vacuums, which each server has its own of.
func TestFormHasTheRunsAccounts(t *testing.T) {
	r := storeOf(t, 0, "db1", "db2")
	f, err := NewForm([]*result.Record{r})
	require.NoError(t, err)
	require.Len(t, f.Servers, 2)
	sum := 0.
	for _, s := range f.Servers {
		assert.InDelta(t, 90+44, s.IOPS, 1e-9)
		assert.InDelta(t, 16, s.MaintenanceIOPS, 1e-9)
		assert.InDelta(t, 30, s.LogWrites, 1e-9)
		assert.InDelta(t, .020, s.Read.Seconds, 1e-9)
		assert.True(t, s.Read.OfServer, "the server's wait is longer")
		assert.InDelta(t, .002, s.Write.Seconds, 1e-9)
		assert.False(t, s.Write.OfServer, "of which the server times nothing")
		sum += s.IOPS
	}
	require.NotNil(t, f.Together)
	assert.InDelta(t, r.Storage.IOPS, f.Together.IOPS, 1e-9)
	assert.InDelta(t, r.Storage.IOPS, sum, 1e-9)
	assert.InDelta(t, 32, f.Together.MaintenanceIOPS, 1e-9)

	r.Machine.Drives[1].Machine = "db1:9101" // two exporters of one host: whose is what, is unknown
	f, err = NewForm([]*result.Record{r})
	require.NoError(t, err)
	require.Len(t, f.Servers, 1)
	assert.InDelta(t, r.Storage.IOPS, f.Servers[0].IOPS, 1e-9)
	assert.Nil(t, f.Together)
}

// TestSumTakesOverlap: servers of several runs have a sum where their windows overlap by nine
// tenths, and runs of one server have none.
func TestSumTakesOverlap(t *testing.T) {
	name := func(r *result.Record, name string) *result.Record {
		r.Machine.Hostname = name
		return r
	}
	for _, c := range []struct {
		later time.Duration
		other string
		apart string
	}{
		{5 * time.Second, "b", ""},
		{7 * time.Second, "b", "for 88 % of the longest window"},
		{2 * time.Minute, "b", "for 0 % of the longest window"},
		{0, "a", "two runs are of a"},
	} {
		a := name(storeOf(t, 0, "db1"), "a")
		b := name(storeOf(t, c.later, "db2"), c.other)
		f, err := NewForm([]*result.Record{a, b})
		require.NoError(t, err)
		require.Len(t, f.Servers, 2)
		require.Equal(t, c.apart == "", f.Together != nil, c.later)
		assert.Contains(t, f.Apart, c.apart)
		if f.Together != nil {
			assert.InDelta(t, 268, f.Together.IOPS, 1e-9)
			assert.InDelta(t, 60, f.Together.LogWrites, 1e-9)
		}
	}
}
