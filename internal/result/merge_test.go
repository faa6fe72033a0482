package result

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/measure"
	"ds2/internal/sampling"
)

// machine is the record of one of several driver machines, with n users, each at an order a second,
// of d.
func machine(offset, n, ramp int, d time.Duration) *Record {
	m := measure.NewMeter([]string{"login"}, []string{"host/db"})
	user := m.NewRecorder(0)
	r := &Record{Dir: "dir", Summary: Summary{
		Spec: Spec{
			RunID:      "one",
			Engine:     "postgres",
			Targets:    []string{"host/db"},
			Size:       "S",
			Threads:    n,
			Seed:       1,
			UserOffset: offset,
		},
		Happened: Happened{
			Status: Done, Start: time.Date(2026, 11, 21, 4, 0, 0, offset*1000, time.UTC),
			Before:   []Marks{{"customerid": 20_000, "orderid": 12_000 + int64(offset)}},
			After:    []Marks{{"customerid": 20_010, "orderid": 12_030 + int64(offset)}},
			ByTarget: []Target{{Target: "host/db"}},
			Errors:   []measure.FailureCount{{Operation: "login", Class: "deadlock", Count: 2}},
		},
	}}
	m.Enter(measure.PhaseRamp)
	for second := 1; second <= 30; second++ {
		for range n {
			var o measure.Order
			o.Complete(0, d, d)
			user.Record(&o)
			r.Counts.Orders++
		}
		at := time.Duration(second)*time.Second + time.Duration(offset)*time.Millisecond
		r.Series.Samples = append(
			r.Series.Samples,
			m.Sample(at, []measure.Users{{measure.UserRunning: n}}),
		)
		if second == ramp || second == 30 {
			r.Series.Intervals = append(r.Series.Intervals, m.Interval(at))
			m.Enter(measure.PhaseRun)
		}
	}
	return r
}

// window is that of a span of a record.
func window(t *testing.T, r *Record, span measure.Span) measure.Window {
	t.Helper()
	w, err := r.Series.Window("run", span)
	require.NoError(t, err)
	return w
}

func TestMerge(t *testing.T) {
	a := machine(0, 2, 5, 10*time.Millisecond)
	b := machine(2, 3, 7, 20*time.Millisecond)
	a.Rate = 10
	b.Rate = 15
	b.Audit = &Audit{Passed: true}
	b.Warm = &Warm{}
	b.Changes = []Change{{Target: "host/db", When: "during the run"}}
	a.Series.NoCycles = "checkpoints are indirect"
	m, err := Merge([]*Record{a, b})
	require.NoError(t, err)
	assert.Equal(t, a.Series.NoCycles, m.Series.NoCycles)
	assert.Equal(t, b.Changes, m.Changes)
	assert.Equal(t, []string{"dir: not merged: audit, wait for a warm store"},
		Sentences(m.Noticed, Reserves))
	assert.True(
		t,
		m.Threads == 5 && m.Counts.Orders == 5*30 && m.Errors[0].Count == 4,
		"merged: %d users, %d orders, errors %v, want 5, 150, 4",
		m.Threads,
		m.Counts.Orders,
		m.Errors,
	)
	assert.EqualValues(t, 25, m.Rate, "at which the machines of an open loop offer orders")
	assert.True(t, m.Before[0]["orderid"] == 12_000 && m.After[0]["orderid"] == 12_032,
		"marks %v to %v, want the lowest and the highest of the machines", m.Before, m.After)
	w := window(t, m, m.Series.Phase(measure.PhaseRun))
	assert.Equal(
		t,
		[]float64{7, 30, 5 * 60},
		[]float64{w.From, w.To, w.OPM},
		"of the run phase: when both were in it",
	)
	l := window(t, m, measure.Span{To: 30 * time.Second}).Latency[measure.WholeOrder]
	assert.EqualValues(t, 150, l.Count, "60 orders of 10 ms and 90 of 20 ms")
	assert.InDeltaSlice(t, []float64{20, 20, 16}, []float64{l.P50, l.P95, l.Mean}, .2)
	for _, s := range m.Series.Samples {
		require.True(
			t,
			s.Counts.Orders == 5 && s.Users == 5,
			"sample %+v, want 5 orders of 5 users",
			s,
		)
	}
}

// TestMergeGap adds up records of which all closed one second's sample so late that it counts to
// the next: the phase goes on.
func TestMergeGap(t *testing.T) {
	a := machine(0, 2, 5, time.Millisecond)
	b := machine(2, 3, 5, time.Millisecond)
	for _, r := range []*Record{a, b} {
		late := &r.Series.Samples[18] // closes the 19th second
		late.End, late.Length = late.End+200*time.Millisecond, late.Length+200*time.Millisecond
		r.Series.Samples[19].Length -= 200 * time.Millisecond
	}
	m, err := Merge([]*Record{a, b})
	require.NoError(t, err)
	w := window(t, m, m.Series.Phase(measure.PhaseRun))
	assert.Equal(t, []float64{5, 30, 5 * 60}, []float64{w.From, w.To, w.OPM})
	for _, s := range m.Series.Samples {
		assert.True(
			t,
			s.Phase != "" && s.Users == 5,
			"at %s phase %q with %d users",
			s.End,
			s.Phase,
			s.Users,
		)
	}
}

// TestMergeClients: the CPUs that ds2 took are those of all driver machines, and the busiest of
// these is the one that counts. What one of them did not see is unknown.
func TestMergeClients(t *testing.T) {
	a := machine(0, 1, 5, time.Millisecond)
	b := machine(1, 1, 5, time.Millisecond)
	counters := func(r *Record, own, busy float64, seconds int) {
		r.Host.Columns = append(r.Host.Columns, sampling.ClientOwn, sampling.ClientBusy)
		for second := range seconds {
			row := sampling.Row{
				Time:   r.Start.Add(time.Duration(second+1) * time.Second),
				Values: []float64{own, busy},
			}
			r.Host.Rows = append(r.Host.Rows, row)
		}
	}
	counters(a, .5, .9, 3)
	counters(b, .25, .3, 2)
	merged, err := Merge([]*Record{a, b})
	require.NoError(t, err)
	own := merged.Host.Values(sampling.ClientOwn)
	busy := merged.Host.Values(sampling.ClientBusy)
	require.Equal(t, "[0.75 0.75 NaN]", fmt.Sprint(own))
	require.Equal(t, []float64{.9, .9, .9}, busy)
	require.Equal(
		t,
		.5,
		a.Host.Values(sampling.ClientOwn)[0],
		"the record that was merged is as it was",
	)
}

func TestMergeRefuses(t *testing.T) {
	for want, spoil := range map[string]func(*Record){
		`runs "one" and "two"`: func(r *Record) { r.RunID = "two" },
		"other targets":        func(r *Record) { r.Size = "M" },
		"drew the same work":   func(r *Record) { r.UserOffset = 0 },
		"some of their users": func(r *Record) {
			r.UserOffset = 2
			r.Threads = 1
		},
		"the same parameters": func(r *Record) { r.ThinkTime.Duration = 1 },
		"started 5s apart":    func(r *Record) { r.Start = r.Start.Add(5 * time.Second) },
	} {
		a := machine(0, 3, 5, time.Millisecond)
		b := machine(0, 3, 5, time.Millisecond)
		b.UserOffset = 3
		spoil(b)
		_, err := Merge([]*Record{a, b})
		assert.ErrorContains(t, err, want)
	}
	b := machine(1, 1, 5, time.Millisecond)
	_, err := Merge([]*Record{machine(0, 1, 5, time.Millisecond), b, b})
	assert.ErrorContains(t, err, "drew the same work", "A, B and B")
}
