package result

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/measure"
	"ds2/internal/nightly"
	"ds2/internal/sampling"
)

// dayColumns are as many counters as a run of the mailbox workload has with a scan and readers of
// its log, on one drive.
const dayColumns = 64

// dayCounts are the own counts of the workload of the day.
var dayCounts = []string{"purchases", "cents"}

// simulate plays a run of some hours without waiting: 100 orders a second whose rate and response
// times swing, with checkpoints, failures and a run phase after 70 s. It hands out samples,
// intervals and rows of counters as a run does.
func simulate(hours int, sample func(measure.Sample), interval func(measure.Interval),
	row func(sampling.Row),
) *measure.Meter {
	operations := []string{
		"login",
		"new_customer",
		"browse_by_category",
		"browse_by_actor",
		"browse_by_title",
		"price",
		"purchase",
	}
	random := rand.New(rand.NewPCG(8, 8))
	m := measure.NewMeter(operations, []string{"host/db"}, dayCounts...)
	user := m.NewRecorder(0)
	m.Enter(measure.PhaseRamp)
	values := make([]float64, dayColumns)
	for second := 1; second <= hours*3600; second++ {
		if second == 71 {
			m.Enter(measure.PhaseRun)
		}
		rate := 100 + 20*math.Sin(float64(second)/1000) + 10*random.NormFloat64()
		for range int(rate) {
			var o measure.Order
			var sum time.Duration
			for op := range operations {
				d := time.Duration(
					float64(time.Millisecond) * math.Exp(
						random.NormFloat64()/2+float64(second%300)/600,
					),
				)
				o.AddLatency(op, d)
				sum += d
			}
			o.Own[0]++
			o.Own[1] += int64(random.IntN(20_000))
			if random.IntN(1000) == 0 {
				o.Fail(measure.Failure{Operation: "login", Class: "deadlock"})
				o.Retry(measure.Failure{Operation: "login", Class: "deadlock"})
			}
			o.Complete(0, sum, sum)
			user.Record(&o)
		}
		at := time.Duration(second)*time.Second + time.Duration(random.IntN(4))*time.Millisecond
		sample(m.Sample(at, []measure.Users{{measure.UserRunning: 32}}))
		if second == 70 || second%int(IntervalLength/time.Second) == 0 {
			interval(m.Interval(at))
		}
		for i := range values {
			values[i] = math.Floor(
				1000 * random.Float64() * float64(i%3),
			) // a third of the counters stands still
		}
		row(sampling.Row{Time: hostStart.Add(time.Duration(second) * time.Second), Values: values})
	}
	return m
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestDay records two hours of a run, or DS2_TEST_HOURS: what stays in memory does not grow, the
// record grows by at most 0.8 MB an hour, and what is read from it is what happened.
func TestDay(t *testing.T) {
	nightly.Long(t, "records two hours")
	hours, err := strconv.Atoi(cmp.Or(os.Getenv("DS2_TEST_HOURS"), "2"))
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "array[A] of *?") // not a pattern
	w, err := Create(dir, summaryOf(Running), dayCounts...)
	require.NoError(t, err)
	var columns []string
	for i := range dayColumns {
		columns = append(columns, fmt.Sprintf("group.item%d.quantity_per_second", i))
	}
	counters, err := CreateHost(dir, columns, hostStart)
	require.NoError(t, err)
	must := func(err error) { require.NoError(t, err) }
	var early, late, grown int64
	rows := 0
	meter := (*measure.Meter)(nil)
	meter = simulate(hours,
		func(s measure.Sample) {
			must(w.Sample(s))
			switch s.End.Truncate(time.Second) {
			case time.Hour:
				early = heap()
			case time.Duration(hours) * time.Hour:
				late = heap()
			}
		},
		func(iv measure.Interval) { must(w.Interval(iv)) },
		func(r sampling.Row) {
			counters.Write(&r)
			if rows++; rows%50 == 0 {
				must(counters.Flush())
			}
		})
	must(counters.Close())
	must(errors.Join(w.Close(), SaveSummary(dir, summaryOf(Done))))

	files, err := os.ReadDir(dir)
	must(err)
	for _, file := range files {
		info, err := file.Info()
		must(err)
		grown += info.Size()
	}
	t.Logf(
		"%d hours: heap %d KB after the first and %d KB at the end; %d files of %d KB, %d KB an hour",
		hours,
		early/1000,
		late/1000,
		len(files),
		grown/1000,
		grown/1000/int64(hours),
	)
	assert.LessOrEqual(
		t,
		late-early,
		int64(500_000),
		"bytes by which the heap grew: nothing of a run may stay",
	)
	assert.LessOrEqual(t, grown, int64(hours)*800_000, "bytes of the record")

	r, err := Read(dir)
	must(err)
	var all measure.Series
	simulate(hours, func(s measure.Sample) { all.Samples = append(all.Samples, s) },
		func(iv measure.Interval) {
			all.Intervals = append(all.Intervals, iv)
		}, func(sampling.Row) {})
	assert.Equal(t, len(all.Samples), len(r.Host.Rows), "rows of counters after reading")
	assert.Equal(t, r.Series.Progress().Rates, meter.Progress().Rates, "as the meter says")
	end := time.Duration(hours) * time.Hour
	for _, span := range []measure.Span{
		all.Phase(measure.PhaseRun),
		{From: 1000 * time.Second, To: 1200 * time.Second},
		{From: end - 2*time.Hour, To: end - time.Minute},
	} {
		want, err := all.Window("w", span)
		must(err)
		got, err := r.Series.Window("w", span)
		must(err)
		assert.Equal(t, want, got, "window %v after reading", span)
	}
}
