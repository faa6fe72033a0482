package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/measure"
	"ds2/internal/nightly"
	"ds2/internal/result"
	"ds2/internal/texttest"
	"ds2/internal/workload/ds2/audit"
)

// loadedServer is a separate server with the dataset of 1 MB in it.
func loadedServer(t *testing.T) (s *localpg.Server, target string) {
	t.Helper()
	s = pgtest.Start(t, localpg.Options{Checksums: true})
	must(t, "load", "--target", s.URL("ds2"), "--size", "1MB", "--quiet")
	return s, s.URL("ds2")
}

// TestTuneForReal searches, and continues a search.
func TestTuneForReal(t *testing.T) {
	t.Parallel()
	nightly.Only(t, "takes a minute")
	_, target := loadedServer(t)
	dir := t.TempDir()
	short := func(out, more string) []string {
		return words(
			"tune --target %s --out %s/%s --warmup-time 0 --run-time 2s --ramp-rate 100 --metrics-addr '' "+
				"--quiet %s",
			target,
			dir,
			out,
			more,
		)
	}
	searching := short(
		"search",
		"--details --start-threads 2 --max-threads 4 --limit 'order p95 < 10m'",
	)
	out := filepath.Join(dir, "search")
	stdout, stderr := ends(t, exitDone, searching...)
	require.Contains(t, stdout, " OPM with 4 users")
	require.Equal(t, 5, strings.Count(stderr, "trial "), stderr)
	search, err := result.ReadSummary[result.Search](out)
	require.NoError(t, err)
	for _, made := range search.Trials {
		trial := recordOf(t, filepath.Join(out, made.Record))
		assert.EqualValues(
			t,
			2_000,
			trial.Before[0][audit.LastCustomer],
			"customers that %+v began with",
			made,
		)
		assert.True(
			t,
			trial.Audit != nil && trial.Audit.Passed,
			"%+v: audit %+v",
			made,
			trial.Audit,
		)
	}
	var confirmed []float64
	for _, t := range result.Confirming(search.Trials, 4) {
		confirmed = append(confirmed, t.Value)
	}
	require.Len(t, confirmed, 3)
	assert.True(
		t,
		*search.OPM == measure.Median(confirmed) && search.Verdicts[0].Held == 3,
		"found %+v",
		search,
	)
	continuedSearch(t, out, searching)
	fails(
		t,
		exitVerdict,
		"the limits fail already with 1 user",
		short("none", "--limit 'order p95 < 1us'")...)
}

// TestAbortOnFail has a limit fail from the first order on: the run ends early, and with exit code
// 3.
func TestAbortOnFail(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "record")
	fails(t, exitVerdict, "s on end: order mean < 1us (measured ", quick(
		"drive",
		loaded(t),
		"--threads 4 --run-time 1h --limit 'order mean < 1us' --abort-on-fail 1s --quiet --out %s",
		out,
	)...)
	r := recordOf(t, out)
	assert.True(t, r.Status == result.Aborted && r.Limits[0].Measured != nil, "%+v", r)
}

// continuedSearch takes the end of a search away, as a crash does, and has the same command
// continue it: what is recorded is not made again. A search that is over, and one with other flags,
// is refused.
func continuedSearch(t *testing.T, dir string, command []string) {
	t.Helper()
	fails(t, exitUsage, "--out: the search in "+dir+" is over", command...)
	search, err := result.ReadSummary[result.Search](dir)
	require.NoError(t, err)
	const kept = 3
	first := slices.Clone(search.Trials[:kept])
	search.Trials = search.Trials[:kept]
	search.Status = result.Running
	require.NoError(t, result.SaveSummary(dir, search))
	fails(t, exitUsage, "another setup: confirm 3, now 5;", append(command, "--confirm", "5")...)
	stdout, stderr := ends(t, exitDone, command...)
	texttest.Contains(t, stderr, "continued after 3 trials", "trial 4:", "; the last\n")
	require.NotContains(t, stderr, "trial 3:")
	search, err = result.ReadSummary[result.Search](dir)
	require.NoError(t, err)
	assert.True(t, search.Status == result.Done && search.Users == 4, "continued: %+v", search)
	assert.Equal(t, first, search.Trials[:kept])
	for _, trial := range search.Trials {
		assert.True(t, trial.Why != "" && strings.Contains(stdout, trial.Why),
			"no reason is given for the trial with %d users: %q", trial.Threads, trial.Why)
	}
}
