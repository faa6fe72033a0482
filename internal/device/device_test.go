package device

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/fuzztest"
)

// needFio skips where there is no fio, unless CI says that there must be one.
func needFio(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("fio"); err != nil && os.Getenv("DS2_TEST_FIO") == "" {
		t.Skip(err)
	}
}

func assertEmpty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left, "left behind")
}

func TestSteady(t *testing.T) {
	assert.True(t, roundsSteady([]float64{900, 500, 101, 99, 100, 102, 98}), "level, after a fall")
	for why, rounds := range map[string][]float64{
		"too few": {100, 100, 100, 100}, "too wide": {100, 100, 122, 100, 100},
		"falling within the range": {108, 104, 100, 96, 92},
	} {
		assert.False(t, roundsSteady(rounds), why)
	}
}

// Reports of fio 3.33 from a Debian 12, cut down to what might be read.
func TestParse(t *testing.T) {
	for _, c := range []struct {
		file string
		job  job
		want []float64
	}{
		{"mixed.json", job{Pattern: "randrw", Depth: 4}, []float64{
			6153.46288 + 2621.325361, 6153.46288, 2621.325361,
			(6153.46288*336158.58664 + 2621.325361*727212.127542) / 8774.788241 / 1e9,
			123392e-9, 1351680e-9, 3981312e-9,
		}},
		{"log.json", job{Pattern: "write", Depth: 1, Sync: true}, []float64{
			594.202899, 0, 594.202899,
			1678177.575273 / 1e9, 305152e-9, 6651904e-9, 15925248e-9,
		}},
	} {
		text, err := os.ReadFile(filepath.Join("testdata", c.file))
		require.NoError(t, err)
		note := "note: both iodepth >= 1 and synchronous I/O engine are selected\n"
		p, _, err := parseReport(append([]byte(note), text...), c.job)
		require.NoError(t, err)
		got := []float64{p.IOPS, p.Reads, p.Writes, p.Mean, p.P50, p.P95, p.P99}
		assert.InDeltaSlice(t, c.want, got, 1e-10, c.file)
	}
	for _, text := range []string{"", "{", `{"jobs":[]}`, `{"jobs":[{"error":5}]}`, `{"jobs":[{}]}`} {
		_, _, err := parseReport([]byte(text), job{})
		assert.Error(t, err, text)
	}
}

func TestFindFio(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	_, _, err := findFio(t.Context())
	assert.ErrorContains(t, err, "apt-get install fio", "no fio")
	find := func(said string) error {
		require.NoError(
			t,
			os.WriteFile(filepath.Join(dir, "fio"), []byte("#!/bin/sh\necho "+said+"\n"), 0o755),
		)
		_, _, err := findFio(t.Context())
		return err
	}
	assert.ErrorContains(t, find("fio-2.16"), "3.23 or newer")
	assert.ErrorContains(t, find("3.33"), "3.23 or newer")
	assert.NoError(t, find("fio-3.33"))
}

func FuzzFio(f *testing.F) {
	files, err := filepath.Glob("testdata/*.json")
	require.True(f, err == nil && len(files) != 0, "no output of fio in testdata")
	var examples [][]byte
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(f, err)
		examples = append(examples, text)
	}
	mixed := job{Pattern: "randrw", Block: 8192, Depth: 4}
	fuzztest.Run(f, func(t testing.TB, text []byte) { parseReport(text, mixed) }, examples...)
}
