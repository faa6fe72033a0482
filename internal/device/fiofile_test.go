package device

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadOrFio reads what fio wrote for jobs of somebody's own: random reads of two jobs with a depth of 8, of one by
// itself, and flushed writes.
func TestReadOrFio(t *testing.T) {
	r, err := ReadOrFio("testdata/own-jobs.json")
	require.NoError(t, err)
	require.Len(t, r.Reads, 2)
	require.Equal(t, 1, r.Reads[0].Depth)
	require.InEpsilon(t, 112.081e-6, r.Reads[0].Mean, 1e-4)
	require.Equal(t, 16, r.Reads[1].Depth)
	require.InEpsilon(t, 34186, r.Reads[1].IOPS, 1e-4)
	require.InEpsilon(t, (607.642+1555.564)*1e-6, r.Log.Mean, 1e-4, "the write and its flush")

	text, err := os.ReadFile("testdata/own-jobs.json")
	require.NoError(t, err)
	one := string(text)
	path := filepath.Join(t.TempDir(), "file.json")
	changed := func(text string) (*Record, error) {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return ReadOrFio(path)
	}
	for _, c := range []struct{ why, text, said string }{
		{"no flush", strings.ReplaceAll(one, `"fdatasync": "1"`, `"fdatasync": "0"`), "no job of flushed writes"},
		{"reads of another size", strings.ReplaceAll(one, `"8k"`, `"1m"`), "no job of random reads"},
		{"a job that failed", strings.ReplaceAll(one, `"error": 0`, `"error": 5`), "ended with error 5"},
		{"neither fio's nor ds2's", `{"kind": "run"}`, "not a device record"},
	} {
		_, err := changed(c.text)
		require.ErrorContains(t, err, c.said, c.why)
		require.ErrorContains(t, err, path, c.why)
	}
	whole := strings.ReplaceAll(one, `"jobname": "one"`, `"jobname": "deep"`)
	r, err = changed(strings.ReplaceAll(whole, `"numjobs": "1"`, `"numjobs": "2"`))
	require.NoError(t, err)
	require.Len(t, r.Reads, 1, "entries of one job, without group_reporting")
	require.InEpsilon(t, 34186+8871, r.Reads[0].IOPS, 1e-4)
	require.Equal(t, 16, r.Reads[0].Depth)
}

// TestLatencyAt: LatencyAt is ReadsAt the other way round.
func TestLatencyAt(t *testing.T) {
	r := &Record{Reads: []Point{{IOPS: 100, Mean: .010}, {IOPS: 300, Mean: .013}, {IOPS: 290, Mean: .028}}}
	c := r.Curve()
	require.Equal(t, .010, c.LatencyAt(10))
	for _, reads := range []float64{101, 150, 299, 300} {
		require.InEpsilon(t, reads, c.ReadsAt(c.LatencyAt(reads)), 1e-9)
	}
	require.True(t, c.LatencyAt(301) > 1e9, "more than it can do")
}
