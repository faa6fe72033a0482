package runs

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/measure"
	"ds2/internal/monitor"
	"ds2/internal/progress"
	"ds2/internal/result"
	"ds2/internal/sampling"
	"ds2/internal/store/postgres"
	"ds2/internal/texttest"
)

// TestObservedRun finds the samples of machine and database beside those of the orders, second by
// second, and in agreement with them.
func TestObservedRun(t *testing.T) {
	t.Parallel()
	_, o := ready(t, localpg.Options{})
	o.Idle.Duration = 2 * time.Second
	o.Cooldown.Duration = 2 * time.Second
	observe(t, &o, monitor.Options{PowerCommand: "echo 250"})
	run := begin(t, o)
	said := map[string]bool{} // by its first word
	stop := progress.Watch(t.Context(), 100*time.Millisecond, func(context.Context) bool {
		doing, _, _ := strings.Cut(run.Doing(), " until ")
		said[doing] = true
		return true
	})
	r := recorded(t, run, nil)
	stop()
	assert.Equal(t, map[string]bool{"idle": true, "": true, "cool down": true}, said)

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
	assert.True(
		t,
		slices.ContainsFunc(r.Series.Samples, sampled),
		"no second has a sample of the machine: %v",
		times,
	)

	// Every order commits one purchase, and a login or a new customer, and prices; the counter sees
	// the audit's too.
	commits := 0.0
	counted := r.Start
	for i, v := range r.Host.Values("db.commits_per_second") {
		if at := r.Host.Rows[i].Time; at.After(r.Start) && !math.IsNaN(v) {
			commits += v * at.Sub(counted).Seconds() // it stands for seconds that were missed, too
			counted = at
		}
	}
	assert.GreaterOrEqual(
		t,
		commits,
		2*float64(r.Counts.Orders),
		"commits, of which each order has two at least",
	)
	for _, column := range []string{
		"cpu.busy_ratio", "memory.available_bytes", "client.own_processors",
		"db.sessions_running", "db.log_bytes_per_second",
	} {
		assert.False(
			t,
			math.IsNaN(r.Host.Mean(column, r.Start, r.Start.Add(end))),
			"%s has no values",
			column,
		)
	}
	require.NotNil(t, r.Machine)
	assert.NotEmpty(t, r.Machine.Kernel)
	require.Len(t, r.Servers, 1)
	assert.True(t, strings.HasPrefix(r.Servers[0].Version, "PostgreSQL"), "%+v", r.Servers)
	require.NotNil(t, r.Bottleneck)
	texttest.Contains(t, strings.Join(result.Sentences(r.Findings, result.Reserves), "\n"),
		"of memory that its server may use", "checkpoint_timeout")
	require.NotNil(t, r.Power)
	assert.Equal(t, []float64{250, 250}, []float64{*r.Power.Idle, *r.Power.Active})
	if len(r.Machine.Drives) > 0 {
		assert.Len(t, r.Host.Items(sampling.DiskWrittenBytes), len(r.Machine.Drives))
	}
}

// silentExporter shows a machine whose only CPU is full, until the n-th question after which it
// answers no more.
func silentExporter(t *testing.T, n int64) string {
	began := time.Now()
	var asked atomic.Int64
	answer := func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) > n {
			<-r.Context().Done()
			return
		}
		fmt.Fprintln(w, "# TYPE node_cpu_seconds_total counter")
		fmt.Fprintf(
			w,
			"node_cpu_seconds_total{cpu=\"0\",mode=\"user\"} %f\n",
			time.Since(began).Seconds(),
		)
	}
	server := httptest.NewServer(http.HandlerFunc(answer))
	t.Cleanup(server.Close)
	return server.URL
}

// TestSourcesThatFallSilent: a command for the power that hangs from its fourth call on, and an
// exporter that answers for a third of the run. Of neither there is a figure of the window, and
// nothing stands on one.
func TestSourcesThatFallSilent(t *testing.T) {
	t.Parallel()
	_, o := ready(t, localpg.Options{})
	o.RunTime.Duration = 9 * time.Second
	calls := filepath.Join(t.TempDir(), "calls")
	observe(t, &o, monitor.Options{
		PowerCommand: "echo >> " + calls + "; [ $(wc -l < " + calls + ") -le 4 ] || exec sleep 600; echo 200",
		Exporters:    []string{silentExporter(t, 6)},
	})
	r := recorded(t, begin(t, o), nil)
	require.NotNil(t, r.Power)
	assert.Nil(t, r.Power.Active, "power of 3 of 9 s")
	require.NotNil(t, r.Costs)
	assert.Nil(t, r.Costs.Joules)
	require.NotNil(t, r.Bottleneck)
	assert.Nil(t, r.Bottleneck.Figures.CPUBusy)
	assert.NotEqual(t, "cpu", r.Bottleneck.What)
	warned := strings.Join(result.Sentences(r.Findings, result.Reserves), "\n")
	assert.Regexp(t, `the samples of .*the electric power cover [0-4] of 9 s of the window`, warned)
	assert.Regexp(t, `the samples of the CPUs.* cover [0-4] of 9 s of the window`, warned)
}

// TestSettingsFlipped: a setting that is changed and changed back within the run is not lost
// between the states before and after it.
func TestSettingsFlipped(t *testing.T) {
	t.Parallel()
	server, o := ready(t, localpg.Options{})
	o.RunTime.Duration = 0 // until stopped
	observe(t, &o, monitor.Options{})
	db := pgtest.Open(t, postgres.Open, server.URL("ds2")).DB()
	run := begin(t, o)
	s, err := drive(t, run, func() {
		moreOrders(t, run, 1)
		later(t, run, 2*time.Second)
		for _, statement := range []string{
			"ALTER SYSTEM SET synchronous_commit = off", "SELECT pg_reload_conf()", "SELECT pg_sleep(2)",
			"ALTER SYSTEM RESET synchronous_commit", "SELECT pg_reload_conf()",
		} {
			_, err := db.ExecContext(t.Context(), statement)
			assert.NoError(t, err)
		}
		later(t, run, 3*time.Second)
	})
	require.NoError(t, err)
	assert.Empty(t, s.Changes)
	assert.Contains(
		t,
		strings.Join(result.Sentences(s.Findings, result.Reserves), "\n"),
		"a server reloaded its settings",
	)
}

// TestRunKeepsItsFigures: a record whose counters cannot be read at its end is an error, and loses
// nothing that is known without them.
func TestRunKeepsItsFigures(t *testing.T) {
	t.Parallel()
	_, o := ready(t, localpg.Options{})
	o.RunTime.Duration = 0 // until stopped
	observe(t, &o, monitor.Options{})
	run := begin(t, o)
	counters := filepath.Join(o.Dir, result.HostFile)
	damaged := filepath.Join(t.TempDir(), "damaged")
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
