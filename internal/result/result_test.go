package result

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
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

// series records ten seconds of one user with known counts and response times.
// own are counts of a workload's own.
var own = []string{"purchases", "in_doubt_total_cents"}

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

// begin writes a record without ending it.
func begin(t *testing.T, dir string, s measure.Series) *Writer {
	t.Helper()
	w, err := Create(dir, Summary{
		Asked:    Asked{RunID: "abc"},
		Happened: Happened{Status: Running},
	}, own...)
	require.NoError(t, err)
	for _, sample := range s.Samples {
		require.NoError(t, w.Sample(sample))
	}
	for _, iv := range s.Intervals {
		require.NoError(t, w.Interval(iv))
	}
	return w
}

func write(t *testing.T, dir string, s measure.Series) {
	t.Helper()
	if err := errors.Join(begin(t, dir, s).Close(), SaveSummary(dir, Summary{
		Asked:    Asked{RunID: "abc"},
		Happened: Happened{Status: Done},
	})); err != nil {
		t.Fatal(err)
	}
}

func TestWindowsAreTheSameAfterReading(t *testing.T) {
	s, dir := series(), t.TempDir()
	write(t, dir, s)
	r, err := Read(dir)
	require.NoError(t, err)
	for i, sample := range s.Samples {
		got := r.Series.Samples[i].Operations
		if len(sample.Operations) != 2 || len(got) != 2 || math.Abs(got[1].P95-sample.Operations[1].P95) > 0.005 || got[1].Name != "purchase" {
			t.Fatalf("operations of second %d: %v, after reading %v", i+1, sample.Operations, got)
		}
	}
	if r.RunID != "abc" || r.Status != Done || r.Schema != Schema {
		t.Errorf("summary = %+v", r.Summary)
	}
	span := measure.Span{From: 5 * time.Second, To: 10 * time.Second}
	want, err := s.Window("w", span)
	require.NoError(t, err)
	got, err := r.Series.Window("w", span)
	require.NoError(t, err)
	assert.Equal(t, want, got, "window after reading")
	if want.Latency["purchase"].Count != 5 || want.Counts.Of("in_doubt_total_cents") != 5 {
		t.Errorf("window = %+v, want 5 purchases in 5 seconds", want)
	}
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
	if n := len(r.Series.Samples); r.Status != Running || n < 5 || n > 9 || len(r.Series.Intervals) != 2 {
		t.Errorf("status %s, %d samples of a file cut near its end, %d intervals; want running, 5 to 9 and 2", r.Status, n, len(r.Series.Intervals))
	}
	if r.Counts.Orders != int64(len(r.Series.Samples)) {
		t.Errorf("a crashed run has counts %+v; want an order a sample", r.Counts)
	}
	require.NoError(t, os.Truncate(filepath.Join(dir, HistogramsFile), 5))
	if r, err = Read(dir); err != nil || len(r.Series.Intervals) != 0 {
		t.Errorf("histograms cut in their first bytes: %v, %v", r, err)
	}
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
			if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Read = %v, want an error with %q", err, c.want)
			}
		})
	}
}

func TestReadNamesTheBadLine(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, series())
	path := filepath.Join(dir, SamplesFile)
	var text bytes.Buffer
	zip := gzip.NewWriter(&text)
	io.WriteString(zip, strings.Join(columnNames(samplesColumns(nil)), ",")+"\n1.0,x\n")
	require.NoError(t, errors.Join(zip.Close(), os.WriteFile(path, text.Bytes(), 0o644)))
	if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), "samples.csv.gz line 2") {
		t.Errorf("Read = %v, want the file and line", err)
	}
}

func TestCreateRefusesAFolderWithData(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "precious"), nil, 0o644))
	if _, err := Create(dir, Summary{}); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("Create = %v, want ErrNotEmpty", err)
	}
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
	if got, want := DirName(at, "k3f9"), "20261121T041500Z-k3f9"; got != want {
		t.Errorf("DirName = %s, want %s", got, want)
	}
}
