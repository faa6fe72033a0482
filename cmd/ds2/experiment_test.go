package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/fuzztest"
	"ds2/internal/limit"
	"ds2/internal/nightly"
	"ds2/internal/texttest"
)

// exampleFile is that of the help.
func exampleFile() string {
	_, file, _ := strings.Cut(newExperimentCommand().Example, "arrays.yaml:\n")
	return file
}

// TestExperimentFile reads the example of the help.
func TestExperimentFile(t *testing.T) {
	t.Setenv("HDD_PASSWORD", "a/b@c:d e")
	secret := textFile(t, "ssd", "s3cret\n")
	text := exampleFile()
	f, err := parseExperiment(
		t.Context(),
		"arrays.yaml",
		[]byte(strings.ReplaceAll(text, "/run/secrets/ssd", secret)),
	)
	require.NoError(t, err)
	assert.True(
		t,
		f.runs == (limit.Range{Least: 5, Most: 9}) && f.until == 2 && f.order == "random",
		"%+v",
		f,
	)
	var names, dirs, targets []string
	for _, c := range f.configurations {
		names = append(names, c.Name)
		dirs = append(dirs, c.Dir)
		targets = append(targets, c.bench.target)
		b := c.bench
		assert.True(
			t,
			b.RunTime.Duration == 20*time.Minute && b.restore.Way == "snapshot" &&
				len(c.Labels) == 2,
			"%s: %+v",
			c.Name,
			c,
		)
		assert.NotContains(t, fmt.Sprint(c.Settings), "s3cret", c.Name)
	}
	assert.Equal(
		t,
		[]string{"hdd, threads 32", "hdd, threads 128", "ssd, threads 32", "ssd, threads 128"},
		names,
	)
	assert.Equal(
		t,
		[]string{"hdd-threads-32", "hdd-threads-128", "ssd-threads-32", "ssd-threads-128"},
		dirs,
	)
	assert.Equal(t, "postgres://ds2:a%2Fb%40c%3Ad%20e@db1/ds2", targets[1])
	assert.Equal(t, "postgres://ds2:s3cret@db2/ds2", targets[2])
	assert.Equal(t, 128, f.configurations[3].bench.Threads)
	assert.Empty(
		t,
		f.configurations[0].bench.WindowTexts,
		"whole checkpoint cycles, or the run phase",
	)
	for text, want := range map[string][]string{
		"profile: report":               {"run+1000s-1200s=run+16m40s-20m0s"},
		"profile: report\nrun-time: 5m": nil,
	} {
		text += "\ntarget: postgres://u@h/d\n"
		report, err := parseExperiment(t.Context(), "x.yaml", []byte(text))
		require.NoError(t, err, text)
		assert.Equal(t, want, report.configurations[0].bench.WindowTexts, text)
	}
	hidden, err := parseExperiment(t.Context(), "x.yaml", []byte(`
run-time: 24h
restore: none
configurations: {70% full: {exporter: 'http://u:s3cret@m', password-command: echo s3cret}}
factors: {target: ['postgres://u:s3cret@h/d', 'postgres://u:s3cret@h/e']}`))
	require.NoError(t, err)
	assert.NotContains(
		t,
		fmt.Sprintf("%+v", hidden.configurations[1].Configuration),
		"s3cret",
	)
	var plan strings.Builder
	require.NoError(t, hidden.plan(&plan, t.TempDir()))
	assert.Equal(t, 1, strings.Count(plan.String(), "each run"))
	texttest.Contains(
		t,
		plan.String(),
		"each run: settle 8 min", // said once, as it is that of both
		"(whole checkpoint cycles count, else the run phase)",
	)
}

// TestExperimentFileErrors: bad input exits with 2 and says where it is. The commonest is in
// testdata/mistakes.golden.
func TestExperimentFileErrors(t *testing.T) {
	t.Setenv("HDD_PASSWORD", "s3cret")
	for _, c := range []struct{ why, text, want string }{
		{"one of the factors", "TARGET\nfactors: {thredas: [1]}", `2: unknown key "thredas"`},
		{
			"an unknown disclosure", "configurations:\n  hdd:\n    TARGET\n    disclosure: {colour: red}",
			`4: configuration hdd: --disclosure: unknown key "colour"`,
		},
		{
			"a price without its currency", "configurations:\n  hdd:\n    TARGET\n    disclosure: {price: 12000}",
			`--disclosure: invalid price "12000"`,
		},
		{"a flag of the command line", "out: x", `1: unknown key "out"`},
		{
			"a value that cannot be read", "TARGET\nthreads: many",
			`2: --threads: not a whole number: "many"`,
		},
		{
			"one of a factor", "TARGET\nfactors:\n  threads: [8, x]",
			`3: --threads: not a whole number: "x"`,
		},
		{
			"a value that makes no run", "configurations:\n  hdd: {TARGET, threads: 0}",
			`2: --threads is 0`,
		},
		{
			"no target", "configurations:\n  hdd: {threads: 8}",
			`2: configuration hdd: --target is missing`,
		},
		{
			"a limit", "TARGET\nlimit: order p95 < 5",
			`2: configuration configuration: --limit: a latency needs a unit`,
		},
		{
			"a window beyond the run", "TARGET\nrun-time: 30s\nwindow: 100s-200s",
			`3: configuration configuration: --window: 100s-200s ends at`,
		},
		{
			"a list for a single value", "threads: [8, 32]",
			"1: threads has one value; values to compare stand under factors",
		},
		{
			"a factor that is given", "threads: 8\nfactors:\n  threads: [8, 32]",
			"1: threads is a factor already",
		},
		{
			"a factor with one value", "factors:\n  threads: 8",
			"2: threads: a factor has a list of values",
		},
		{
			"too many configurations", "factors:\n  threads: [" + strings.Repeat("1,", 100) + "2]",
			"2: 101 configurations are too many",
		},
		{
			"a configuration twice", "TARGET\nfactors:\n  threads: [8, 8]",
			`there are two configurations "threads 8"`,
		},
		{
			"a key twice", "threads: 8\nthreads: 9",
			`line 2: mapping key "threads" already defined at line 1`,
		},
		{
			"a flag twice", "threads: 8\nn_threads: 9",
			"2: threads is given twice, once by another name",
		},
		{"no value", "target:", "1: target has no value"},
		{"a value that is more", "target: {a: b}", "1: target has no value"},
		{
			"runs backwards", "runs: 9..3",
			"1: --runs: \"9..3\" must be 1 to 1000, the lower number first",
		},
		{"a range of runs without until", "TARGET\nruns: 3..9", "x.yaml: runs: 3..9 needs until"},
		{"until", "until: soon", `1: --until: "soon" is not a percentage such as 2 %`},
		{"until in sequence", "TARGET\nuntil: 2 %\norder: sequence", "x.yaml: until: in sequence"},
		{"order", "order: reverse", `1: --order: invalid value "reverse": use random or sequence`},
		{
			"two seeds", "configurations:\n  a: {TARGET, seed: 1}\n  b: {TARGET, seed: 2}",
			"3: seed: an experiment has one",
		},
		{"a file", "target: postgres://ds2:${file:nowhere}@h/d", "1: target: open nowhere: "},
		{
			"a password in what cannot be parsed",
			"target: postgres://ds2:${HDD_PASSWORD}@h:port/d", "it is not a URL",
		},
		{"a list", "- threads", "line 1: keys with values are expected here"},
		{"two documents", "threads: 8\n---\nthreads: 9", "it holds a second document"},
	} {
		f, err := parseExperiment(
			t.Context(),
			"x.yaml",
			[]byte(strings.ReplaceAll(c.text, "TARGET", "target: postgres://h/d")),
		)
		if c.why == "a password in what cannot be parsed" && err == nil { // it is opened later
			_, err = f.configurations[0].bench.open()
		}
		e, ok := errors.AsType[*exitError](err)
		require.True(t, ok && e.code == exitUsage, "%s: %v", c.why, err)
		assert.ErrorContains(t, err, c.want, c.why)
		assert.NotContains(t, redact(err.Error()), "s3cret", c.why)
	}
}

// TestExperimentEnvironment (W12): variables stand for what the file leaves out.
func TestExperimentEnvironment(t *testing.T) {
	t.Setenv("DS2_METRICS_ADDR", "127.0.0.1:1")
	t.Setenv("DS2_THREADS", "7")
	f, err := parseExperiment(
		t.Context(),
		"x.yaml",
		[]byte("threads: 3\nconfigurations: {a: {target: postgres://h/d}}"),
	)
	require.NoError(t, err)
	bench := f.configurations[0].bench
	assert.Equal(t, "127.0.0.1:1", bench.output.metricsAddr)
	assert.Equal(t, "3", f.configurations[0].bench.flags.Lookup("threads").Value.String())
}

// FuzzExperimentFile: whatever a file holds, it is read or refused as wrong usage.
func FuzzExperimentFile(f *testing.F) {
	text := exampleFile()
	fuzztest.Run(f, func(t testing.TB, text string) {
		if strings.Contains(text, "file:") ||
			strings.Contains(text, "words") { // reads files of this machine
			return
		}
		file, err := parseExperiment(t.Context(), "x.yaml", []byte(text))
		e, ok := errors.AsType[*exitError](err)
		assert.True(t, err == nil || ok && e.code == exitUsage, "%q: %v", text, err)
		if err == nil && (len(file.configurations) == 0 || len(file.configurations) > 100) {
			t.Errorf("%q: %d configurations", text, len(file.configurations))
		}
	}, text, "a: &a [*a]", "threads: [8", "factors: {threads: [1, 2]}", "configurations: {a: {<<: {threads: 8}}}",
		"? {}\n: 1")
}

// TestExperimentServes: with --serve the report and the record can be fetched until the experiment
// is stopped, which then ends by its verdict; without it they are not offered.
func TestExperimentServes(t *testing.T) {
	nightly.Long(t, "runs an experiment twice")
	text := "target: " + loaded(t) + "\nruns: 1\nrun-time: 5s\nfactors: {threads: [1, 2]}\n" +
		strings.Replace(noPausesYAML, "''", "127.0.0.1:0", 1)
	file := filepath.Join(t.TempDir(), "served.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	fetch := func(address, path string) (int, []byte) {
		response, err := http.Get("http://" + address + path)
		require.NoError(t, err)
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		return response.StatusCode, body
	}
	p := begin(t, "experiment", file, "--out", "out", "--serve")
	address := p.page(t)
	p.await(t, "its end", func() bool {
		return strings.Contains(p.stderr.String(), "are served until this is stopped")
	})
	code, page := fetch(address, "/report.html")
	assert.Equal(t, http.StatusOK, code)
	assert.Contains(t, string(page), "threads 2")
	code, record := fetch(address, "/record.zip")
	assert.Equal(t, http.StatusOK, code)
	archive := filepath.Join(t.TempDir(), "record.zip")
	require.NoError(t, os.WriteFile(archive, record, 0o600))
	texttest.Contains(t, must(t, "report", archive, "--output", "text"), "threads 1", "threads 2")
	require.NoError(t, p.Process.Signal(os.Interrupt))
	p.awaitEnd(t)
	assert.NotEqual(t, exitInterrupted, p.ProcessState.ExitCode())

	p = begin(t, "experiment", file, "--out", "out")
	code, _ = fetch(p.page(t), "/record.zip")
	assert.Equal(t, http.StatusNotFound, code)
	p.awaitEnd(t)
}
