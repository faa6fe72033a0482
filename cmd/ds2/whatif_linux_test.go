package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/internal/result"
	"ds2/internal/slowdrive"
	"ds2/internal/whatif"
)

// fioOutput writes what fio would say of a drive whose reads and flushes take so many milliseconds, at any depth.
func fioOutput(t *testing.T, name string, read, flush float64) (path string) {
	t.Helper()
	job := func(name, rw, options string, reads, readNS, writes, syncNS float64) string {
		return fmt.Sprintf(`{"jobname": %q, "job options": {"rw": %q, "bs": "8k"%s}, "read": {"iops": %g, "lat_ns": {"mean": %g}},
			"write": {"iops": %g}, "sync": {"lat_ns": {"mean": %g, "N": %g}}}`, name, rw, options, reads, readNS, writes, syncNS, writes)
	}
	path = filepath.Join(t.TempDir(), name+".json")
	text := fmt.Sprintf(`{"fio version": "fio-3.33", "jobs": [%s, %s, %s]}`, job("one", "randread", "", 1e3/read, 1e6*read, 0, 0),
		job("deep", "randread", `, "ioengine": "libaio", "iodepth": "64"`, 64e3/read, 1e6*read, 0, 0),
		job("log", "write", `, "fdatasync": "1"`, 0, 0, 1e3/flush, 1e6*flush))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// TestWhatifPredict ranks drives by a model, says what holds each back, and refuses what lies outside the model.
func TestWhatifPredict(t *testing.T) {
	model := filepath.Join(t.TempDir(), "model.json")
	m := whatif.Model{Format: whatif.Format, Kind: whatif.Kind, Store: "a store", Processors: 2, Demand: whatif.Demand{Processor: .004, Reads: 6, Flushes: 1.5},
		Scatter: .03, Law: .03, Freedom: 9, Read: whatif.Range{Low: .001, High: .008}, Flush: whatif.Range{Low: .001, High: .008}, Users: whatif.Range{Low: 8, High: 32}}
	for i := range m.Inverse {
		m.Inverse[i][i] = .5
	}
	require.NoError(t, m.Save(model))
	slow, quick, log := fioOutput(t, "slow", 7, 2), fioOutput(t, "quick", 2, 2), fioOutput(t, "log", 1.5, 7.5)
	var p predictions
	require.NoError(t, json.Unmarshal([]byte(must(t, "whatif", "predict", model, slow, quick, log, "--threads", "8", "-o", "json")), &p))
	var order []string
	for _, d := range p.Drives {
		order = append(order, d.Drive+" "+d.HeldBack())
		require.Less(t, d.Low, d.OPM)
		require.Less(t, d.OPM, d.High)
	}
	require.Equal(t, []string{"quick reads", "log log flushes", "slow reads"}, order)
	require.InEpsilon(t, 60*8/.050, p.Drives[2].OPM, .02, "8 users / (4 ms + 6 x 7 ms + 1.5 x 2 ms, and 1 ms for which they wait for one another)")
	text := must(t, "whatif", "predict", model, quick)
	require.Contains(t, text, "quick is first")
	require.Contains(t, must(t, "whatif", "predict", model, quick, "-o", "html"), "<html")

	fails(t, exitUnknown, "fitted for reads of 1 to 8 ms; this drive's would take 11 ms", "whatif", "predict", model, quick, fioOutput(t, "disk", 11, 2))
	fails(t, exitUnknown, "fitted from 8 to 32 users", "whatif", "predict", model, quick, "--threads", "64")
	fails(t, exitUsage, "name a model", "whatif", "predict", model)
	fails(t, exitUsage, "not a model", "whatif", "predict", slow, quick)
	fails(t, exitUsage, "read device record", "whatif", "predict", model, model)
	fails(t, exitUsage, `--drives: "5ms" is no drive`, "whatif", "learn", "--drives", "5ms")
	fails(t, exitUsage, "--drives: at least 3", "whatif", "learn", "--drives", "5ms/1ms")
}

// TestWhatifLearn learns from a few seconds on each drive. How well that fits is not judged, nor whether it can be told at all, as that is
// a matter of what else the machine does.
func TestWhatifLearn(t *testing.T) {
	if testing.Short() {
		t.Skip("runs for a minute")
	}
	t.Parallel()
	drive, err := slowdrive.Mount(t.TempDir(), t.TempDir())
	if err != nil {
		t.Skip(err)
	}
	for err := drive.Unmount(); err != nil; err = drive.Unmount() { // a program that another test starts may hold it for a moment
		require.ErrorContains(t, err, "busy")
	}
	out := filepath.Join(t.TempDir(), "model")
	code, _, stderr := execute(t, "whatif", "learn", "--size", "10MB", "--buffers", "4MB", "--threads", "4,8", "--runs", "1", "--warmup-time", "1s",
		"--run-time", "3s", "--stage-time", "1s", "--drives", "2ms/10ms,20ms/10ms,2ms/200ms", "--check-drives", "5ms/30ms", "--out", out)
	record, err := result.ReadSummary[result.Experiment](out)
	require.NoError(t, err, stderr)
	require.Equal(t, result.Done, record.Status, stderr)
	require.Len(t, record.Configurations, 8)
	require.Contains(t, stderr, "run 8 of 8")
	if code == exitFailed && strings.Contains(stderr, whatif.ErrUnknown.Error()) {
		require.NoFileExists(t, filepath.Join(out, modelFile))
		return // seconds on a busy machine tell nothing, and ds2 says so
	}
	require.Equal(t, exitDone, code, stderr)
	m, err := whatif.Read(filepath.Join(out, modelFile))
	require.NoError(t, err)
	require.Len(t, m.Runs, 6)
	require.Equal(t, 2, len(m.Checks)+len(m.Refused))
	require.Greater(t, m.Read.Low, .002, "no read came from a page cache")
	require.Greater(t, m.Read.High, .020)
	require.Greater(t, m.Flush.Low, .010)
	require.Greater(t, m.Flush.High, .200)
	require.FileExists(t, filepath.Join(out, modelPage))
}
