package device

import (
	"context"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/diskspace"
)

// needFio skips where there is no fio, unless CI says that there must be one.
func needFio(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("fio"); err != nil && os.Getenv("DS2_TEST_FIO") == "" {
		t.Skip(err)
	}
}

func near(got, want, share float64) bool { return math.Abs(got-want) <= share*want }

func TestReadsAt(t *testing.T) {
	r := &Record{Reads: []Point{
		{Depth: 1, IOPS: 1000, Mean: 1e-3}, {Depth: 4, IOPS: 4000, Mean: 1e-3}, {Depth: 16, IOPS: 8000, Mean: 2e-3},
		{Depth: 64, IOPS: 7000, Mean: 9e-3}, // too many at once
		{Depth: 256, IOPS: 8200, Mean: 30e-3},
	}}
	assert.EqualValues(t, 8200, r.MaxReads(), "at most")
	for _, c := range []struct{ latency, want float64 }{
		{0.1e-3, 1000},                // faster than one alone: from a cache
		{math.Sqrt2 * 1e-3, 5656.854}, // halfway between two points, by the logarithm
		{2e-3, 8000},
		{9e-3, 8000 * math.Pow(8200./8000, math.Log(4.5)/math.Log(15))}, // the slump does not count
		{1, 8200},
	} {
		if got := r.Curve().ReadsAt(c.latency); !near(got, c.want, 1e-6) {
			t.Errorf("at %g s: %g reads a second, want %g", c.latency, got, c.want)
		}
	}
}

func TestSteady(t *testing.T) {
	for _, c := range []struct {
		why    string
		rounds []float64
		want   bool
	}{
		{"too few", []float64{100, 100, 100, 100}, false},
		{"level, after a fall", []float64{900, 500, 101, 99, 100, 102, 98}, true},
		{"too wide", []float64{100, 100, 122, 100, 100}, false},
		{"falling within the range", []float64{108, 104, 100, 96, 92}, false},
	} {
		assert.Equal(t, c.want, steady(c.rounds), c.why)
	}
}

// Reports of fio 3.33 from a Debian 12, cut down to what might be read.
func TestParse(t *testing.T) {
	for _, c := range []struct {
		file string
		job  job
		want Point
	}{
		{"mixed.json", job{rw: "randrw", depth: 4}, Point{Depth: 4, IOPS: 6153.46288 + 2621.325361, Reads: 6153.46288, Writes: 2621.325361, Mean: (6153.46288*336158.58664 + 2621.325361*727212.127542) / 8774.788241 / 1e9, P50: 123392e-9, P95: 1351680e-9, P99: 3981312e-9}},
		{"log.json", job{rw: "write", depth: 1, sync: true}, Point{Depth: 1, IOPS: 292.061907, Writes: 292.061907, Mean: (778872.109402 + 2627746.883562) / 1e9, P50: 1875968e-9, P95: 7831552e-9, P99: 13565952e-9}},
	} {
		text, err := os.ReadFile(filepath.Join("testdata", c.file))
		require.NoError(t, err)
		got, _, err := parse(append([]byte("note: both iodepth >= 1 and synchronous I/O engine are selected\n"), text...), c.job)
		require.NoError(t, err)
		if !near(got.IOPS, c.want.IOPS, 1e-9) || !near(got.Mean, c.want.Mean, 1e-9) || !near(got.P99, c.want.P99, 1e-9) || !near(got.P50, c.want.P50, 1e-9) ||
			!near(got.P95, c.want.P95, 1e-9) || !near(got.Writes, c.want.Writes, 1e-9) || got.Reads != c.want.Reads {
			t.Errorf("%s: %+v, want %+v", c.file, got, c.want)
		}
	}
	for _, text := range []string{"", "{", `{"jobs":[]}`, `{"jobs":[{"error":5}]}`, `{"jobs":[{}]}`} {
		if p, _, err := parse([]byte(text), job{}); err == nil {
			t.Errorf("%s: %+v", text, p)
		}
	}
}

func TestRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "device.json")
	r := &Record{Format: Format, Kind: "device", Reads: []Point{{Depth: 1, IOPS: 1000, Mean: 1e-3}}, Log: Point{Depth: 1, IOPS: 500, Mean: 2e-3}}
	require.NoError(t, r.Save(path))
	if got, err := Read(path); err != nil || got.Log != r.Log || got.Reads[0] != r.Reads[0] {
		t.Errorf("%+v, %v", got, err)
	}
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, c := range []struct{ old, replacement, want string }{
		{`"device"`, `"bench"`, "not a device record"},
		{`"format": 1`, `"format": 2`, "not a device record"},
		{`"iops": 1000`, `"iops": 0`, "0 I/Os a second"},
		{`"mean_s": 0.002`, `"mean_s": -1`, "of -1 s"},
		{`"depth": 1`, `"depth": NaN`, "invalid character"},
		{`"kind"`, strings.Repeat(" ", maxRecord) + `"kind"`, "too long"},
	} {
		text := strings.Replace(string(whole), c.old, c.replacement, 1)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v", c.replacement[:min(len(c.replacement), 40)], err)
		}
	}
}

// What would be overwritten or not fit is refused, and nothing is left behind.
func TestRefusals(t *testing.T) {
	needFio(t)
	dir := t.TempDir()
	small := Options{Dir: dir, FileBytes: 16 << 20, StageTime: time.Second}
	free, ok := diskspace.Free(dir)
	if !ok {
		t.Skip("nobody knows how much room there is")
	}
	large := small
	large.FileBytes = free
	_, err := Run(t.Context(), large)
	assert.ErrorContains(t, err, "bytes free", "no room")
	ctx, cancel := context.WithCancel(t.Context())
	stopped := small
	stopped.Progress = func(what string, _ time.Duration) {
		if strings.HasPrefix(what, "random reads") {
			cancel()
		}
	}
	_, err = Run(ctx, stopped)
	assert.ErrorIs(t, err, context.Canceled, "interrupted")
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	mine := filepath.Join(dir, fileName)
	require.NoError(t, os.WriteFile(mine, []byte("mine"), 0o644))
	_, err = Run(t.Context(), small)
	assert.ErrorContains(t, err, mine+" exists", "the file exists")
	if text, err := os.ReadFile(mine); err != nil || string(text) != "mine" {
		t.Errorf("it holds %q, %v", text, err)
	}
	for device, want := range map[string]string{mine: "not a block device", "/dev/null": "not a block device", filepath.Join(dir, "none"): "no such file"} {
		if _, err := Run(t.Context(), Options{Device: device, StageTime: time.Second}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", device, err, want)
		}
	}
}

func TestFindFio(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	_, err := findFio(t.Context())
	assert.ErrorContains(t, err, "apt-get install fio", "no fio")
	for said, want := range map[string]string{"fio-2.16": "3.0 or newer", "3.33": "3.0 or newer", "fio-3.33": ""} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "fio"), []byte("#!/bin/sh\necho "+said+"\n"), 0o755))
		if _, err := findFio(t.Context()); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", said, err, want)
		}
	}
}

// TestConclusion says what a curve of reads over depths means.
func TestConclusion(t *testing.T) {
	for want, rates := range map[string][]float64{
		"flat at 607/s from depth 1: an IOPS cap":                          {596, 599, 607, 606, 543},
		"still rising at depth 16 with 8000/s":                             {500, 1000, 2000, 4000, 8000},
		"rises from 500/s at depth 1 to 2000/s, nearly reached at depth 4": {500, 1000, 1950, 2000, 1990},
	} {
		r := Record{}
		for i, rate := range rates {
			r.Reads = append(r.Reads, Point{Depth: 1 << i, IOPS: rate, Mean: float64(int(1)<<i) / rate})
		}
		if got := r.Conclusion(); !strings.HasPrefix(got, want) {
			t.Errorf("%v: %s; want %s", rates, got, want)
		}
	}
}
