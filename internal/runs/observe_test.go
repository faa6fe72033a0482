package runs

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
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
	"ds2/internal/store"
)

// observedRun makes a run that is observed so, with idle seconds before and after, and returns its record.
func observedRun(t *testing.T, s store.Database, observing monitor.Options) *result.Record {
	t.Helper()
	o := options(t, s)
	o.Idle, o.Cooldown = 2*time.Second, 2*time.Second
	observe(t, &o, observing)
	run := begin(t, o)
	driven(t, run)
	record, err := result.Read(o.Dir)
	require.NoError(t, err)
	return record
}

// TestObservedRun finds the samples of machine and database beside those of the orders, second by second, and in
// agreement with them.
func TestObservedRun(t *testing.T) {
	t.Parallel()
	_, s := loaded(t, localpg.Options{})
	r := observedRun(t, s, monitor.Options{PowerCommand: "echo 250"})

	at := map[time.Duration]bool{}
	idle, after := 0, 0
	end := r.Series.Samples[len(r.Series.Samples)-1].End
	for _, row := range r.Host.Rows {
		switch t := row.Time.Sub(r.Start); {
		case t < 0:
			idle++
		case t > end:
			after++
		default:
			at[t] = true
		}
	}
	assert.True(t, idle != 0 && after != 0, "%d samples before the run and %d after it, want some", idle, after)
	// A busy machine leaves some out, and ends an interval a moment late.
	if !slices.ContainsFunc(r.Series.Samples, func(s measure.Sample) bool { return at[s.End.Round(time.Second)] }) {
		t.Errorf("no second of the run has a sample of the machine: %v", at)
	}

	// Every order commits one purchase, and a login or a new customer, and prices; the counter sees the audit's too.
	commits, counted := 0.0, r.Start
	for i, v := range r.Host.Values("db.commits_per_second") {
		if at := r.Host.Rows[i].Time; at.After(r.Start) && !math.IsNaN(v) {
			commits += v * at.Sub(counted).Seconds() // it stands for seconds that were missed, too
			counted = at
		}
	}
	if orders := float64(r.Counts.Orders); commits < 2*orders {
		t.Errorf("the database counts %.0f commits for %.0f orders, want at least two each", commits, orders)
	}
	for _, column := range []string{"cpu.busy_ratio", "memory.available_bytes", "client.own_processors", "db.sessions_running", "db.log_bytes_per_second"} {
		assert.False(t, math.IsNaN(r.Host.Mean(column, r.Start, r.Start.Add(end))), "%s has no values", column)
	}
	if r.Machine == nil || r.Machine.Kernel == "" || len(r.Servers) != 1 || !strings.HasPrefix(r.Servers[0].Version, "PostgreSQL") {
		t.Errorf("machine %+v, servers %+v", r.Machine, r.Servers)
	}
	if warnings := strings.Join(r.Bottleneck.Warnings, "\n"); !strings.Contains(warnings, "of memory that its server may use") || !strings.Contains(warnings, "checkpoint_timeout") {
		t.Errorf("warnings of a small database and a short run: %q", warnings)
	}
	if r.Power == nil || *r.Power.Idle != 250 || *r.Power.Active != 250 || r.Bottleneck == nil {
		t.Errorf("power %+v, bottleneck %+v", r.Power, r.Bottleneck)
	}
	if len(r.Machine.Drives) > 0 && len(r.Host.Items(monitor.DiskWrittenBytes)) != len(r.Machine.Drives) {
		t.Errorf("drives %+v, columns %v", r.Machine.Drives, r.Host.Columns)
	}
}

// TestRunObservedFromElsewhere takes the machine's counters from node_exporter, and power from a meter's log; when the
// log has grown, the record is completed again.
func TestRunObservedFromElsewhere(t *testing.T) {
	nightly.Long(t, "makes a run; the sources are tested in monitor")
	t.Parallel()
	node := promtest.StartNodeExporter(t)
	_, s := loaded(t, localpg.Options{})
	log := filepath.Join(t.TempDir(), "meter.csv")
	require.NoError(t, os.WriteFile(log, []byte("time,watts\n"+time.Now().Format(time.RFC3339)+",100\n"), 0o644))
	observing := monitor.Options{Exporters: []string{"http://" + node + "/metrics"}, PowerLog: log}
	r := observedRun(t, s, observing)
	assert.Subset(t, r.Host.Columns, []string{"cpu.busy_ratio", "memory.available_bytes", "db.commits_per_second", "client.busy_ratio", monitor.Power})
	if len(r.Host.Items(monitor.DiskBusy)) == 0 {
		t.Errorf("no drives in %v", r.Host.Columns)
	}
	if self := monitor.Root.Machine(nil); r.Machine == nil || r.Machine.MemoryBytes != self.MemoryBytes {
		t.Errorf("machine %+v, want one with %d bytes of memory", r.Machine, self.MemoryBytes)
	}
	if r.Power == nil || *r.Power.Active != 100 {
		t.Errorf("power %+v, want 100 W", r.Power)
	}

	late := fmt.Sprintf("%d,300\n", r.Start.Unix())
	file, err := os.OpenFile(log, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = file.WriteString(late)
	require.NoError(t, err)
	file.Close()
	w, err := monitor.Observe(t.Context(), []store.Database{s}, 0, observing)
	require.NoError(t, err)
	o := options(t, s)
	o.Observer, o.Dir = w, r.Dir
	again, err := Complete(t.Context(), o)
	require.NoError(t, err)
	if *again.Power.Active != 300 || !reflect.DeepEqual(again.Counts, r.Counts) {
		t.Errorf("completed again: power %+v", again.Power)
	}
}

// TestRunObservedByExporters takes the machine's counters from one node_exporter, and from two that are of several
// machines.
func TestRunObservedByExporters(t *testing.T) {
	nightly.Long(t, "makes a run; the sources are tested in monitor")
	t.Parallel()
	one := "http://" + promtest.StartNodeExporter(t) + "/metrics"
	node := promtest.StartNodeExporter(t)
	two := "http://" + node
	_, s := loaded(t, localpg.Options{})
	r := observedRun(t, s, monitor.Options{Exporters: []string{one}})
	self := monitor.Root.Machine(nil)
	for _, column := range []string{monitor.CPUBusy, monitor.MemoryAvailable} {
		assert.False(t, math.IsNaN(r.Host.Mean(column, r.Start, r.End)), "%s has no values", column)
	}
	if len(r.Host.Items(monitor.DiskBusy)) == 0 || r.Machine == nil || len(r.Machine.Drives) == 0 || r.Machine.MemoryBytes != self.MemoryBytes {
		t.Errorf("machine %+v, columns %v", r.Machine, r.Host.Columns)
	}
	if b := r.Bottleneck; b == nil || b.Figures.CPUBusy == nil || b.Figures.DiskBusy == nil {
		t.Errorf("the bottleneck is judged by %+v", b)
	}

	w, err := monitor.Observe(t.Context(), []store.Database{s}, 0, monitor.Options{Exporters: []string{one, two}})
	require.NoError(t, err)
	if m := w.Machine; m.Processors != 2*self.Processors || !strings.HasPrefix(m.Drives[len(m.Drives)-1].Name, node+".") {
		t.Errorf("two machines are %+v", m)
	}
	_, err = monitor.Observe(t.Context(), []store.Database{s}, 0, monitor.Options{Exporters: []string{one, one}})
	assert.ErrorContains(t, err, "twice", "an exporter given twice")
}

// TestLocksAreSeen has all users wait for a lock, and finds their sessions waiting.
func TestLocksAreSeen(t *testing.T) {
	t.Parallel()
	_, s := loaded(t, localpg.Options{})
	holder, err := s.DB().BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = holder.ExecContext(t.Context(), "LOCK TABLE inventory IN EXCLUSIVE MODE")
	require.NoError(t, err)
	o := options(t, s)
	o.Driver.Run, o.Driver.OperationTimeout = 0, time.Hour
	observe(t, &o, monitor.Options{})
	run := begin(t, o)
	_, err = driveUntil(t, run, func() {
		for waiting := 0; waiting < o.Driver.Threads && t.Context().Err() == nil; time.Sleep(50 * time.Millisecond) {
			s.DB().QueryRow("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'").Scan(&waiting)
		}
		later(t.Context(), run, 5*time.Second)
		holder.Rollback()
		moreOrders(t.Context(), run, 1)
	})
	require.NoError(t, err)
	r, err := result.Read(o.Dir)
	require.NoError(t, err)
	require.Contains(t, r.Host.Values(monitor.SessionsWaitingForLock), float64(o.Driver.Threads))
}

// TestRunKeepsItsFigures: a record whose counters cannot be read at its end is an error, and loses nothing that is
// known without them.
func TestRunKeepsItsFigures(t *testing.T) {
	t.Parallel()
	_, s := loaded(t, localpg.Options{})
	o := options(t, s)
	o.Driver.Run = 0 // until stopped
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
		for _, err := os.Stat(counters); err != nil && t.Context().Err() == nil; _, err = os.Stat(counters) {
			time.Sleep(10 * time.Millisecond)
		}
		replaced <- os.Rename(damaged, counters)
	}()
	s1, err := driveUntil(t, run, func() {
		moreOrders(t.Context(), run, 1)
		later(t.Context(), run, 3*time.Second) // figures take whole seconds
	})
	require.NoError(t, <-replaced)
	if err == nil || s1.OPM == nil || len(s1.ByTarget) != 1 {
		t.Errorf("Drive = %v, with %v OPM and %d targets; want an error, and the figures", err, s1.OPM, len(s1.ByTarget))
	}
	_, err = run.Audit(t.Context(), progress.Ignore)
	assert.NoError(t, err, "Audit")
}
