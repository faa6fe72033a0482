package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/result"
	"ds2/internal/slowdrive"
	"ds2/internal/whatif"
)

// fioOutput writes what fio would say of a drive whose reads, flushes and random writes take so many milliseconds, at
// any depth; without writes of 0 ms.
func fioOutput(t *testing.T, name string, read, flush, write float64) (path string) {
	t.Helper()
	job := func(name, rw, options string, reads, readNS, writes, writeNS, syncNS, syncs float64) string {
		return fmt.Sprintf(`{"jobname": %q, "job options": {"rw": %q, "bs": "8k"%s},
			"read": {"iops": %g, "lat_ns": {"mean": %g}}, "write": {"iops": %g, "lat_ns": {"mean": %g}},
			"sync": {"lat_ns": {"mean": %g, "N": %g}}}`,
			name, rw, options, reads, readNS, writes, writeNS, syncNS, syncs)
	}
	jobs := []string{job("one", "randread", "", 1e3/read, 1e6*read, 0, 0, 0, 0),
		job("deep", "randread", `, "ioengine": "libaio", "iodepth": "64"`, 64e3/read, 1e6*read, 0, 0, 0, 0),
		job("log", "write", `, "fdatasync": "1"`, 0, 0, 1e3/flush, 0, 1e6*flush, 1e3/flush)}
	if write > 0 {
		jobs = append(jobs, job("writes", "randwrite", "", 0, 0, 1e3/write, 1e6*write, 0, 0))
	}
	path = filepath.Join(t.TempDir(), name+".json")
	text := fmt.Sprintf(`{"fio version": "fio-3.33", "jobs": [%s]}`, strings.Join(jobs, ", "))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// TestWhatifPredict ranks drives by a model, says what holds each back, and refuses what lies outside the model.
func TestWhatifPredict(t *testing.T) {
	model := filepath.Join(t.TempDir(), "model.json")
	m := whatif.Model{
		Format: whatif.Format, Kind: whatif.Kind, Store: "a store", Processors: 2,
		Figure: whatif.Figure{Unit: "OPM", Name: "Orders per minute (OPM)", One: "an order"}, Each: 60,
		Demand: whatif.Demand{Processor: .004, Reads: 6, Flushes: 1.5}, Scatter: .03, Law: .03, Freedom: 9,
		Read: whatif.Range{Low: .001, High: .008}, Flush: whatif.Range{Low: .001, High: .008},
		Users: whatif.Range{Low: 8, High: 32},
	}
	for i := range m.Inverse {
		m.Inverse[i][i] = .5
	}
	require.NoError(t, m.Save(model))
	slow, fast, log := fioOutput(t, "slow", 7, 2, 5), fioOutput(t, "quick", 2, 2, 0), fioOutput(t, "log", 1.5, 7.5, 0)
	p := decoded[predictions](t, "whatif", "predict", model, slow, fast, log, "--threads", "8", "-o", "json")
	var order []string
	for _, d := range p.Drives {
		order = append(order, d.Drive+" "+d.HeldBack())
		require.Less(t, d.Low, d.Value)
		require.Less(t, d.Value, d.High)
	}
	require.Equal(t, []string{"quick reads", "log log flushes", "slow reads"}, order)
	require.InEpsilon(t, 60*8/.050, p.Drives[2].Value, .02,
		"8 users / (4 ms + 6 x 7 ms + 1.5 x 2 ms, and 1 ms for which they wait for one another)")
	require.Contains(t, must(t, "whatif", "predict", model, fast), "quick is first")
	require.Contains(t, must(t, "whatif", "predict", model, fast, "-o", "html"), "<html")

	m.Demand.Writes, m.Write = 3, whatif.Range{Low: .0001, High: .006}
	require.NoError(t, m.Save(model))
	p = decoded[predictions](t, "whatif", "predict", model, slow, fast, "--threads", "8", "-o", "json")
	require.True(t, p.Drives[0].NoWrites)
	require.InEpsilon(t, 60*8/.065, p.Drives[1].Value, .02, "and 3 x 5 ms")
	require.Contains(t, must(t, "whatif", "predict", model, fast), "The record of quick has no random writes")
	const target = "postgres://nobody:secret@127.0.0.1:1/ds2"
	cold, disk := fioOutput(t, "cold", 2, 2, 10), fioOutput(t, "disk", 11, 2, 0)
	empty, data := t.TempDir(), filepath.Dir(textFile(t, "PG_VERSION", ""))
	running := filepath.Join(t.TempDir(), "array[A]") // not a pattern
	require.NoError(t, os.Rename(filepath.Dir(textFile(t, "postmaster.pid", "")), running))
	for _, c := range []struct {
		code       int
		says, args string
	}{
		{exitUnknown, "fitted for writes of data of 0.1 to 6 ms; this drive's take 10 ms", "predict MODEL " + cold},
		{exitUnknown, "fitted for reads of 1 to 8 ms; this drive's would take 11 ms", "predict MODEL QUICK " + disk},
		{exitUnknown, "fitted from 8 to 32 users", "predict MODEL QUICK --threads 64"},
		{exitUsage, "name a model", "predict MODEL"},
		{exitUsage, "not a model", "predict QUICK QUICK"},
		{exitUsage, "read device record", "predict MODEL MODEL"},
		{exitUsage, `--drives: "5ms" is no drive`, "learn --drives 5ms"},
		{exitUsage, "--drives: it takes at least 3 drives", "learn --drives 5ms/1ms"},
		{exitUsage, "--drives: it takes at least 4 drives", "learn --drives 5ms/1ms,5ms/9ms,9ms/1ms/1ms/8"},
		{exitUsage, "--mailboxes: it is a flag of workload mailbox", "learn --mailboxes 5"},
		{exitUsage, "go together", "learn --target TARGET"},
		{exitUsage, "go together", "learn --mount DATA"},
		{exitUsage, "--size is of a server that ds2 starts",
			"learn --target TARGET --data-dir DATA --mount EMPTY --size 1MB"},
		{exitUsage, "no engine for scheme", "learn --target mysql://h/ds2 --data-dir DATA --mount EMPTY"},
		{exitUsage, "PostgreSQL only", "learn --target sqlserver://x:x@h?database=ds2 --data-dir DATA --mount EMPTY"},
		{exitUsage, "--data-dir: ", "learn --target TARGET --data-dir EMPTY --mount EMPTY"},
		{exitUsage, "--data-dir: a server is at work", "learn --target TARGET --data-dir RUNNING --mount EMPTY"},
		{exitUsage, "--mount: ", "learn --target TARGET --data-dir DATA --mount RUNNING"},
	} {
		names := strings.NewReplacer("MODEL", model, "QUICK", fast, "TARGET", target, "DATA", data, "EMPTY", empty,
			"RUNNING", running)
		fails(t, c.code, c.says, words("whatif %s", names.Replace(c.args))...)
	}
	_, stderr := ends(t, exitUsage, words("whatif learn --target %s --data-dir /none --mount %s", target, empty)...)
	require.Contains(t, stderr, "--data-dir: open /none: no such file or directory")
	require.NotContains(t, stderr, "does not hold", "one line is enough")
}

// slows skips where there are no slowed drives.
func slows(t *testing.T) {
	t.Helper()
	drive, err := slowdrive.Mount(t.TempDir(), t.TempDir())
	if err != nil {
		t.Skip(err)
	}
	// A program that another test starts may hold it for a moment.
	for err := drive.Unmount(); err != nil; err = drive.Unmount() {
		require.ErrorContains(t, err, "busy")
	}
}

// TestWhatifTarget learns the IOPS of mailboxes on a user's own server, which is started on the slowed drive when ds2
// asks for it, and stopped before that is unmounted.
func TestWhatifTarget(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	slows(t)
	dir := t.TempDir() // whose parents only their owner enters
	for at := dir; at != os.TempDir() && at != "/"; at = filepath.Dir(at) {
		require.NoError(t, os.Chmod(at, 0o755))
	}
	at, below := filepath.Join(dir, "slow"), filepath.Join(dir, "data")
	require.NoError(t, os.Mkdir(at, 0o755))
	require.NoError(t, os.Mkdir(below, 0o755))
	server := pgtest.Start(t, localpg.Options{DataDir: filepath.Join(at, "cluster")})
	must(t, words("load --target %s --workload mailbox --mailboxes 4 --mailbox-size 5MB --quiet", server.URL("ds2"))...)
	args := func(data, mount string) []string {
		return words("whatif learn --target %s --data-dir %s --mount %s --threads 2,4 --runs 1 --warmup-time 1s "+
			"--run-time 2s --stage-time 1s --drives 1ms/2ms,5ms/2ms,1ms/20ms --out out", server.URL("ds2"), data, mount)
	}
	other := filepath.Dir(textFile(t, "PG_VERSION", ""))
	fails(t, exitFailed, "which is not slowed", args(other, t.TempDir())...)
	server.Quit()
	require.NoError(t, os.Rename(filepath.Join(at, "cluster"), filepath.Join(below, "cluster")))
	learn := startProgram(t, args(below, at)...)
	t.Cleanup(server.Quit) // before the program is killed, which would leave the server without its drive
	learn.start(t)
	said := func(text string) {
		learn.await(t, text, func() bool { return strings.Contains(learn.stderr.String(), text) })
	}
	said("start the server now")
	require.NoError(t, server.Restart(t.Context()))
	said("stop the server now")
	server.Quit()
	learn.awaitEnd(t)
	record, err := result.ReadSummary[result.Experiment](learn.out)
	require.NoError(t, err, learn.stderr.String())
	require.Equal(t, result.Done, record.Status, learn.stderr.String())
	var units []string
	for _, c := range record.Configurations {
		bench, err := result.ReadSummary[result.Bench](filepath.Join(learn.out, c.Dir))
		require.NoError(t, err)
		require.NotNil(t, bench.Figure)
		units = append(units, bench.Figure.Unit)
	}
	// The slow drive counts its I/Os; on a busy machine a run of 2 s may have no sample of them.
	require.Contains(t, units, result.IOPS)
	require.FileExists(t, filepath.Join(below, "cluster", "PG_VERSION"))
	require.NoDirExists(t, filepath.Join(at, "cluster"), "the drive is unmounted")
}

// TestWhatifLearn learns from a few seconds on each drive. How well that fits is not judged, nor whether it can be told
// at all, as that is a matter of what else the machine does.
func TestWhatifLearn(t *testing.T) {
	if testing.Short() {
		t.Skip("runs for a minute")
	}
	t.Parallel()
	slows(t)
	out := filepath.Join(t.TempDir(), "model")
	code, _, stderr := execute(t, words("whatif learn --size 10MB --buffers 4MB --threads 4,8 --runs 1 --warmup-time "+
		"1s --run-time 3s --stage-time 1s --drives 2ms/10ms,20ms/10ms,2ms/200ms,2ms/10ms/5ms --check-drives 5ms/30ms "+
		"--out %s", out)...)
	record, err := result.ReadSummary[result.Experiment](out)
	require.NoError(t, err, stderr)
	require.Equal(t, result.Done, record.Status, stderr)
	require.Len(t, record.Configurations, 10)
	require.Contains(t, stderr, "run 10 of 10")
	if code == exitFailed && strings.Contains(stderr, whatif.ErrUnknown.Error()) {
		require.NoFileExists(t, filepath.Join(out, modelFile))
		return // seconds on a busy machine tell nothing, and ds2 says so
	}
	require.Equal(t, exitDone, code, stderr)
	m, err := whatif.Read(filepath.Join(out, modelFile))
	require.NoError(t, err)
	require.Len(t, m.Runs, 8)
	require.Equal(t, "OPM", m.Unit)
	require.Greater(t, m.Write.High, .005)
	require.Equal(t, 2, len(m.Checks)+len(m.Refused))
	require.Greater(t, m.Read.Low, .002, "no read came from a page cache")
	require.Greater(t, m.Read.High, .020)
	require.Greater(t, m.Flush.Low, .010)
	require.Greater(t, m.Flush.High, .200)
	require.FileExists(t, filepath.Join(out, modelPage))
}
