package result

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/measure"
)

// own are counts of a workload's own.
var own = []string{"purchases", "in_doubt_total_cents"}

// series records ten seconds of one user with known counts and response times.
func series() measure.Series {
	m := measure.NewMeter([]string{"login", "purchase"}, []string{"host/db"}, own...)
	user := m.NewRecorder(0)
	m.Enter(measure.PhaseRun)
	var s measure.Series
	for second := 1; second <= 10; second++ {
		var o measure.Order
		o.AddLatency(0, 3*time.Millisecond)
		o.AddLatency(1, 40*time.Millisecond)
		o.Complete(0, 43*time.Millisecond, 43*time.Millisecond)
		o.Own[0]++
		o.Own[1]++
		o.Fail(measure.Failure{Operation: "login", Class: "connection"})
		user.Record(&o)
		t := time.Duration(second)*time.Second + 3*time.Millisecond
		s.Samples = append(s.Samples, m.Sample(t, []measure.Users{{measure.UserRunning: 1}}))
		if second%5 == 0 {
			s.Intervals = append(s.Intervals, m.Interval(t))
		}
	}
	return s
}

// summaryOf is that of a run with a status.
func summaryOf(status Status) Summary {
	return Summary{Spec: Spec{RunID: "abc"}, Happened: Happened{Status: status, Start: hostStart}}
}

// begin writes a record without ending it.
func begin(t testing.TB, dir string, s measure.Series) *Writer {
	t.Helper()
	w, err := Create(dir, summaryOf(Running), own...)
	require.NoError(t, err)
	for _, sample := range s.Samples {
		require.NoError(t, w.Sample(sample))
	}
	for _, iv := range s.Intervals {
		require.NoError(t, w.Interval(iv))
	}
	return w
}

func write(t testing.TB, dir string, s measure.Series) {
	t.Helper()
	require.NoError(t, errors.Join(begin(t, dir, s).Close(), SaveSummary(dir, summaryOf(Done))))
}

func TestRecordIsTheSameAfterReading(t *testing.T) {
	s := series()
	dir := t.TempDir()
	write(t, dir, s)
	r, err := Read(dir)
	require.NoError(t, err)
	for i, sample := range s.Samples {
		require.Len(t, sample.Operations, 2)
		got := r.Series.Samples[i].Operations[1]
		assert.Equal(t, "purchase", got.Name)
		assert.InDelta(t, sample.Operations[1].P95, got.P95, .005, "second %d", i+1)
	}
	assert.True(
		t,
		r.RunID == "abc" && r.Status == Done && r.Schema == Schema,
		"summary = %+v",
		r.Summary,
	)
}

// TestReadAfterCrash reads what there is of a record whose writer never came to its end: all that
// was written, and of a line that the crash cut nothing.
func TestReadAfterCrash(t *testing.T) {
	dir := t.TempDir()
	begin(t, dir, series())
	path := filepath.Join(dir, SamplesFile)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text[:len(text)-16], 0o644))
	r, err := Read(dir)
	require.NoError(t, err)
	n := len(r.Series.Samples)
	assert.Equal(t, Running, r.Status)
	assert.True(t, n >= 5 && n <= 9, "%d samples of a file cut near its end", n)
	assert.Len(t, r.Series.Intervals, 2)
	assert.EqualValues(t, n, r.Counts.Orders, "a crashed run has an order a sample")
	require.NoError(t, os.Truncate(filepath.Join(dir, HistogramsFile), 5))
	r, err = Read(dir)
	require.NoError(t, err, "histograms cut in their first bytes")
	assert.Empty(t, r.Series.Intervals)
}

func TestReadRefuses(t *testing.T) {
	for text, want := range map[string]string{`{"schema": 99}`: "use the ds2 that wrote it, or a later one", `{}`: "schema 0"} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, SummaryFile), []byte(text), 0o644))
		_, err := Read(dir)
		assert.ErrorContains(t, err, want)
	}
	bench := Bench{Status: Done, Runs: []BenchRun{{Dir: "run-1", Counts: true}}}
	require.ErrorContains(t, bench.check(), `"run-1" counts and has no result`)
	bench.Runs[0].Headline = NewHeadline(&Figure{Unit: OPM, Value: -1})
	require.ErrorContains(t, bench.check(), `"run-1": its result of -1 OPM is negative`)
}

// TestCreateAfterAKill takes a directory in which a killed ds2 left its first summary half written,
// and nothing else.
func TestCreateAfterAKill(t *testing.T) {
	dir := t.TempDir()
	left := filepath.Join(dir, SummaryFile+".ABCDEFGHIJKLMNOPQRSTUVWXYZ.partial")
	require.NoError(t, os.WriteFile(left, []byte("{"), 0o600))
	assert.NoError(t, MakeDir(dir))
	assert.NoFileExists(t, left)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "other.partial"), nil, 0o600))
	_, err := Create(dir, Summary{})
	assert.ErrorIs(t, err, ErrNotEmpty, "another's file")
}

func TestDirNameSortsByStart(t *testing.T) {
	at := time.Date(2026, 11, 21, 5, 15, 0, 0, time.FixedZone("CET", 3600))
	assert.Equal(t, "20261121T041500Z-k3f9", DirName(at, "k3f9"))
}

// TestPrice: what some read as 12 and others as 12,000 is refused.
func TestPrice(t *testing.T) {
	for text, want := range map[string]float64{
		"12000 USD": 12_000, "1234567.5 EUR": 1_234_567.5, "0.50 EUR": .5,
		"12.000 EUR": 0, "12,000 EUR": 0, "1234,56 EUR": 0, "12,34 EUR": 0, "1,2345 EUR": 0, "-5 EUR": 0, "12000": 0, "1e9 EUR": 0, "0 EUR": 0,
	} {
		amount, _, err := ParsePrice(text)
		assert.Equal(t, want, amount, text)
		assert.Equal(t, want == 0, err != nil, text)
	}
}

func TestPer(t *testing.T) {
	assert.Equal(
		t,
		&Costs{Reads: new(2.), Joules: new(.5)},
		Costs{Reads: new(200.), Joules: new(50.)}.Per(100),
	)
	assert.Nil(t, Costs{Reads: new(200.)}.Per(0), "no orders")
	assert.Nil(t, Costs{}.Per(100), "nothing was measured")
}

// TestLiftKeepsSeeds: a seed has up to 20 digits, of which a float64 keeps 15.
func TestLiftKeepsSeeds(t *testing.T) {
	old := `{"schema":3,"kind":"run","spec":{"seed":18446744073709551615}}`
	text, err := lift([]byte(old), OldestSchema)
	require.NoError(t, err)
	var s Summary
	require.NoError(t, decode(text, &s))
	assert.Equal(t, uint64(math.MaxUint64), s.Seed)
	assert.Equal(t, Schema, s.Schema)
	for schema := OldestSchema; schema < Schema; schema++ {
		assert.NotNil(t, lifts[schema], "schema %d has no way to the next", schema)
	}
}
