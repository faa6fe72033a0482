package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/nightly"
	"ds2/internal/result"
	"ds2/internal/workload/ds2/audit"
)

// loadedServer is a server of one's own with the dataset of 1 MB in it.
func loadedServer(t *testing.T) (s *localpg.Server, target string) {
	t.Helper()
	server := pgtest.Start(t, localpg.Options{Checksums: true})
	target = server.URL("ds2")
	must(t, "load", "--target", target, "--size", "1MB", "--quiet")
	return server, target
}

// TestLimitsForReal drives and tunes.
func TestLimitsForReal(t *testing.T) {
	t.Parallel()
	nightly.Only(t, "takes a minute")
	_, target := loadedServer(t)
	short := []string{"--target", target, "--warmup-time", "0", "--run-time", "2s", "--ramp-rate", "100", "--metrics-addr", "", "--quiet"}
	dir := t.TempDir()

	run := filepath.Join(dir, "run")
	code, stdout, stderr := execute(t, append([]string{"drive", "--out", run, "--verify", "deep", "--limit", "order p95 < 10m", "--limit", "purchase max < 1us"}, short...)...)
	if code != exitVerdict || !strings.Contains(stderr, "limits failed: purchase max < 1us (measured ") || !strings.Contains(stdout, "FAIL: purchase max < 1us") {
		t.Fatalf("drive: exit %d\n%s\n%s", code, stdout, stderr)
	}
	record, err := result.Read(run)
	require.NoError(t, err)
	if len(record.Limits) != 2 || !record.Limits[0].OK || record.Limits[1].OK || len(record.DeepChecks) != 1 || len(record.DeepChecks[0].Damage) != 0 {
		t.Errorf("limits %+v, deep checks %+v", record.Limits, record.DeepChecks)
	}

	for _, method := range []string{"golden", "steps"} {
		out := filepath.Join(dir, method)
		code, stdout, stderr := execute(t, append([]string{"tune", "--out", out, "--method", method, "--start-threads", "2", "--max-threads", "4", "--limit", "order p95 < 10m"}, short...)...)
		if code != exitDone || !strings.Contains(stdout, " OPM with ") || strings.Count(stderr, "trial ") < 4 {
			t.Fatalf("tune by %s: exit %d\n%s\n%s", method, code, stdout, stderr)
		}
		search, err := result.ReadSummary[result.Search](out)
		require.True(t, err == nil && search.Best != nil, "record of the search: %+v, %v", search, err)
		for n, dir := range trialDirs(search) {
			trial, err := result.Read(filepath.Join(out, dir))
			require.NoError(t, err)
			if customers := trial.Before[0][audit.LastCustomer]; trial.Audit == nil || !trial.Audit.Passed || customers != 2_000 {
				t.Errorf("trial %d began with %d customers, want those of the load; audit %+v", n, customers, trial.Audit)
			}
		}
		if len(search.Best.Trials) != 3 || search.Best.Threads > 4 || *search.OPM != search.Best.OPM() || !search.Verdicts[0].OK {
			t.Errorf("the search found %+v", search)
		}
		_, err = result.Read(filepath.Join(out, search.Best.Median().Record))
		assert.NoError(t, err)
		for _, format := range []string{"html", "text", "json"} {
			assert.Contains(t, must(t, "report", "--output", format, "--out", "-", out), search.RunID)
		}
	}
	continuedSearch(t, filepath.Join(dir, "golden"), append([]string{"tune", "--out", filepath.Join(dir, "golden"), "--method", "golden", "--start-threads", "2", "--max-threads", "4", "--limit", "order p95 < 10m"}, short...))
	fails(t, exitVerdict, "the limits fail already with 1 user", append([]string{"tune", "--out", filepath.Join(dir, "none"), "--limit", "order p95 < 1us"}, short...)...)

	fails(t, exitVerdict, "judge limit login p95 < 1s: the run has no sample of it", append([]string{"tune", "--out", filepath.Join(dir, "unmeasured"), "--pct-newcustomers", "100", "--limit", "login p95 < 1s"}, short...)...)
}

// TestAbortOnFail has a limit fail from the first order on: the run ends early, and with exit code 3.
func TestAbortOnFail(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "record")
	fails(t, exitVerdict, "s on end: order mean < 1us (measured ", "drive", "--target", loaded(t), "--threads", "4", "--ramp-rate", "100", "--warmup-time", "0",
		"--run-time", "1h", "--limit", "order mean < 1us", "--abort-on-fail", "1s", "--out", out, "--quiet")
	if r, err := result.Read(out); err != nil || r.Status != result.Aborted || r.Limits[0].Measured == nil {
		t.Errorf("%+v, %v", r, err)
	}
}

// trialDirs are the directories of the records of all trials.
func trialDirs(r result.Search) (dirs []string) {
	for _, p := range r.Curve {
		for _, trial := range p.Trials {
			dirs = append(dirs, trial.Record)
		}
	}
	return dirs
}

// damage changes a byte of block 3 of a table while the server is stopped.
func damage(t *testing.T, server *localpg.Server, target, table string) {
	t.Helper()
	db := openDB(t, target)
	var name string
	require.NoError(t, db.QueryRow("SELECT pg_relation_filepath($1::text::regclass)", table).Scan(&name))
	pgtest.Exec(t, db, "CHECKPOINT")
	server.Kill()
	pgtest.Flip(t, filepath.Join(server.DataDir(), name), 3*8192+5000)
	require.NoError(t, server.Restart(t.Context()))
}

// continuedSearch takes the end of a search away, as a crash does, and has the same command continue it: what is
// recorded is not made again. A search that is over, and one with other flags, is refused.
func continuedSearch(t *testing.T, dir string, command []string) {
	t.Helper()
	fails(t, exitUsage, "--out: the search in "+dir+" is over", command...)
	search, err := result.ReadSummary[result.Search](dir)
	require.NoError(t, err)
	const kept = 3
	first := slices.Clone(search.Trials[:kept])
	search.Trials, search.Status = search.Trials[:kept], result.Running
	require.NoError(t, result.SaveSummary(dir, search))
	fails(t, exitUsage, "another setup: gain;", append(command, "--gain", "5")...)
	code, stdout, stderr := execute(t, command...)
	if code != exitDone || !strings.Contains(stderr, "continued after 3 trials") || strings.Contains(stderr, "trial 3:") || !strings.Contains(stderr, "trial 4:") || !strings.Contains(stderr, "; the last\n") {
		t.Fatalf("continued: exit %d\n%s\n%s", code, stdout, stderr)
	}
	if search, err = result.ReadSummary[result.Search](dir); err != nil || search.Status != result.Done || search.Best == nil || !slices.Equal(search.Trials[:kept], first) {
		t.Errorf("continued: %+v, %v", search, err)
	}
	for _, trial := range search.Trials {
		if trial.Why == "" || !strings.Contains(stdout, trial.Why) {
			t.Errorf("no reason is given for the trial with %d users: %q", trial.Threads, trial.Why)
		}
	}
}
