package runs

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg"
	"ds2/internal/measure"
	"ds2/internal/monitor"
	"ds2/internal/nightly"
	"ds2/internal/progress"
	"ds2/internal/promtest"
	"ds2/internal/result"
)

// observedRun makes a run that is observed so, with idle seconds before and after, and returns its record.
func observedRun(t *testing.T, o Options, observing monitor.Options) *result.Record {
	t.Helper()
	o.Idle.Duration, o.Cooldown.Duration = 2*time.Second, 2*time.Second
	observe(t, &o, observing)
	return recorded(t, begin(t, o), nil)
}

// TestObservedRun finds the samples of machine and database beside those of the orders, second by second, and in
// agreement with them.
func TestObservedRun(t *testing.T) {
	t.Parallel()
	_, o := ready(t, localpg.Options{})
	r := observedRun(t, o, monitor.Options{PowerCommand: "echo 250"})

	end := r.Series.Samples[len(r.Series.Samples)-1].End
	at := map[time.Duration]bool{}
	for _, row := range r.Host.Rows {
		at[row.Time.Sub(r.Start)] = true
	}
	times := slices.Sorted(maps.Keys(at))
	assert.Negative(t, times[0], "samples before the run")
	assert.Greater(t, times[len(times)-1], end, "samples after the run")
	// A busy machine leaves some out, and ends an interval a moment late.
	sampled := func(s measure.Sample) bool { return at[s.End.Round(time.Second)] }
	assert.True(t, slices.ContainsFunc(r.Series.Samples, sampled), "no second has a sample of the machine: %v", times)

	// Every order commits one purchase, and a login or a new customer, and prices; the counter sees the audit's too.
	commits, counted := 0.0, r.Start
	for i, v := range r.Host.Values("db.commits_per_second") {
		if at := r.Host.Rows[i].Time; at.After(r.Start) && !math.IsNaN(v) {
			commits += v * at.Sub(counted).Seconds() // it stands for seconds that were missed, too
			counted = at
		}
	}
	assert.GreaterOrEqual(t, commits, 2*float64(r.Counts.Orders), "commits, of which each order has two at least")
	hasValues(t, r, r.Start.Add(end), "cpu.busy_ratio", "memory.available_bytes", "client.own_processors",
		"db.sessions_running", "db.log_bytes_per_second")
	require.NotNil(t, r.Machine)
	assert.NotEmpty(t, r.Machine.Kernel)
	require.Len(t, r.Servers, 1)
	assert.True(t, strings.HasPrefix(r.Servers[0].Version, "PostgreSQL"), "%+v", r.Servers)
	require.NotNil(t, r.Bottleneck)
	contains(t, r.Bottleneck.Warnings, "of memory that its server may use", "checkpoint_timeout")
	require.NotNil(t, r.Power)
	assert.Equal(t, []float64{250, 250}, []float64{*r.Power.Idle, *r.Power.Active})
	if len(r.Machine.Drives) > 0 {
		assert.Len(t, r.Host.Items(monitor.DiskWrittenBytes), len(r.Machine.Drives))
	}
}

// hasValues asserts that columns have values over a run.
func hasValues(t *testing.T, r *result.Record, end time.Time, columns ...string) {
	t.Helper()
	for _, column := range columns {
		assert.False(t, math.IsNaN(r.Host.Mean(column, r.Start, end)), "%s has no values", column)
	}
}

// TestRunObservedFromElsewhere takes the machine's counters from node_exporter, and power from a meter's log; when the
// log has grown, the record is completed again. Two exporters are of several machines.
func TestRunObservedFromElsewhere(t *testing.T) {
	nightly.Long(t, "makes a run; the sources are tested in monitor")
	t.Parallel()
	one := "http://" + promtest.StartNodeExporter(t) + "/metrics"
	node := promtest.StartNodeExporter(t)
	_, o := ready(t, localpg.Options{})
	log := filepath.Join(t.TempDir(), "meter.csv")
	text := "time,watts\n" + time.Now().Format(time.RFC3339) + ",100\n"
	require.NoError(t, os.WriteFile(log, []byte(text), 0o644))
	observing := monitor.Options{Exporters: []string{one}, PowerLog: log}
	r := observedRun(t, o, observing)
	hasValues(t, r, r.End, monitor.CPUBusy, monitor.MemoryAvailable, "db.commits_per_second", "client.busy_ratio")
	assert.NotEmpty(t, r.Host.Items(monitor.DiskBusy), "drives in %v", r.Host.Columns)
	self := monitor.Root.Machine(nil)
	require.NotNil(t, r.Machine)
	assert.NotEmpty(t, r.Machine.Drives)
	assert.Equal(t, self.MemoryBytes, r.Machine.MemoryBytes)
	require.NotNil(t, r.Bottleneck)
	assert.NotNil(t, r.Bottleneck.Figures.CPUBusy)
	assert.NotNil(t, r.Bottleneck.Figures.DiskBusy)
	require.NotNil(t, r.Power)
	assert.Equal(t, 100., *r.Power.Active)

	text += fmt.Sprintf("---\n%d,300\n", r.Start.Unix())
	require.NoError(t, os.WriteFile(log, []byte(text), 0o644))
	observe(t, &o, observing)
	again, err := Complete(t.Context(), o)
	require.NoError(t, err)
	assert.Equal(t, 300., *again.Power.Active)
	contains(t, again.Bottleneck.Warnings, "rows without a reading, left out: 1")
	assert.Equal(t, r.Counts, again.Counts)

	observe(t, &o, monitor.Options{Exporters: []string{one, "http://" + node}})
	m := o.Observer.Machine
	assert.Equal(t, 2*self.Processors, m.Processors)
	assert.True(t, strings.HasPrefix(m.Drives[len(m.Drives)-1].Name, node+"."), "two machines are %+v", m)
	_, err = monitor.Observe(t.Context(), o.Targets, 0, monitor.Options{Exporters: []string{one, one}})
	assert.ErrorContains(t, err, "twice", "an exporter given twice")
}

// TestRunKeepsItsFigures: a record whose counters cannot be read at its end is an error, and loses nothing that is
// known without them.
func TestRunKeepsItsFigures(t *testing.T) {
	t.Parallel()
	_, o := ready(t, localpg.Options{})
	o.RunTime.Duration = 0 // until stopped
	observe(t, &o, monitor.Options{})
	run := begin(t, o)
	counters, damaged := filepath.Join(o.Dir, result.HostFile), filepath.Join(t.TempDir(), "damaged")
	var text bytes.Buffer
	zip := gzip.NewWriter(&text)
	fmt.Fprintln(zip, "t_s\nnever")
	require.NoError(t, zip.Close())
	require.NoError(t, os.WriteFile(damaged, text.Bytes(), 0o644))
	replaced := make(chan error)
	go func() {
		await(t, func() bool {
			_, err := os.Stat(counters)
			return err == nil
		})
		replaced <- os.Rename(damaged, counters)
	}()
	s, err := drive(t, run, func() {
		moreOrders(t, run, 1)
		later(t, run, 3*time.Second) // figures take whole seconds
	})
	require.NoError(t, <-replaced)
	require.Error(t, err)
	assert.NotNil(t, s.OPM)
	assert.Len(t, s.ByTarget, 1)
	_, err = run.Audit(t.Context(), progress.Ignore)
	assert.NoError(t, err, "Audit")
}
