package result

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
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
	return Summary{Asked: Asked{RunID: "abc"}, Happened: Happened{Status: status, Start: hostStart}}
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

func TestWindowsAreTheSameAfterReading(t *testing.T) {
	s, dir := series(), t.TempDir()
	write(t, dir, s)
	r, err := Read(dir)
	require.NoError(t, err)
	for i, sample := range s.Samples {
		got := r.Series.Samples[i].Operations
		require.True(t, len(sample.Operations) == 2 && len(got) == 2 && got[1].Name == "purchase" &&
			math.Abs(got[1].P95-sample.Operations[1].P95) <= 0.005,
			"operations of second %d: %v, after reading %v", i+1, sample.Operations, got)
	}
	assert.True(t, r.RunID == "abc" && r.Status == Done && r.Schema == Schema, "summary = %+v", r.Summary)
	span := measure.Span{From: 5 * time.Second, To: 10 * time.Second}
	want, err := s.Window("w", span)
	require.NoError(t, err)
	got, err := r.Series.Window("w", span)
	require.NoError(t, err)
	assert.Equal(t, want, got, "window after reading")
	assert.True(t, want.Latency["purchase"].Count == 5 && want.Counts.Of("in_doubt_total_cents") == 5,
		"window = %+v, want 5 purchases in 5 seconds", want)
}

// TestReadAfterCrash reads what there is of a record whose writer never came to its end: all that was written, and of a
// line that the crash cut nothing.
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
	for name, c := range map[string]struct {
		file, text string
		want       string
	}{
		"a directory without a record": {"other.txt", "", "is not a record"},
		"a newer schema":               {SummaryFile, `{"schema": 99}`, "use the ds2 that wrote it"},
		"a summary that is no JSON":    {SummaryFile, `{`, SummaryFile},
		"a summary without a schema":   {SummaryFile, `{}`, "schema 0"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, c.file), []byte(c.text), 0o644))
			_, err := Read(dir)
			assert.ErrorContains(t, err, c.want)
		})
	}
}

func TestReadNamesTheBadLine(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, series())
	lines := strings.Join(columnNames(samplesColumns(nil)), ",") + "\n1.0,x\n"
	squeeze(t, filepath.Join(dir, SamplesFile), strings.NewReader(lines))
	_, err := Read(dir)
	assert.ErrorContains(t, err, "samples.csv.gz line 2")
}

func TestCreateRefusesAFolderWithData(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "precious"), nil, 0o644))
	_, err := Create(dir, Summary{})
	assert.ErrorIs(t, err, ErrNotEmpty)
}

// TestMakeDirAfterAKill takes a directory in which a killed ds2 left its first summary half written, and nothing else.
func TestMakeDirAfterAKill(t *testing.T) {
	dir := t.TempDir()
	left := filepath.Join(dir, SummaryFile+".ABCDEFGHIJKLMNOPQRSTUVWXYZ.partial")
	require.NoError(t, os.WriteFile(left, []byte("{"), 0o600))
	assert.NoError(t, MakeDir(dir))
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("%v is there, %v", entries, err)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "other.partial"), nil, 0o600))
	assert.ErrorIs(t, MakeDir(dir), ErrNotEmpty, "a file of somebody else's")
}

func TestDirNameSortsByStart(t *testing.T) {
	at := time.Date(2026, 11, 21, 5, 15, 0, 0, time.FixedZone("CET", 3600))
	assert.Equal(t, "20261121T041500Z-k3f9", DirName(at, "k3f9"))
}
