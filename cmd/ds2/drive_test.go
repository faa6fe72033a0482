package main

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/fuzztest"
)

// driveFlagSet is the flags of drive by themselves.
func driveFlagSet() (*driveFlags, *pflag.FlagSet) {
	var f driveFlags
	flags := pflag.NewFlagSet("drive", pflag.ContinueOnError)
	flags.SetNormalizeFunc(normalizeFlag)
	f.add(flags)
	return &f, flags
}

// TestStorageReportsCommandLine is WORKLOAD.md section 5's, word for word.
func TestStorageReportsCommandLine(t *testing.T) {
	f, flags := driveFlagSet()
	line := "--target=localhost --ramp_rate=10 --run_time=20 --n_threads=32 --db_size_str=W --think_time=0 " +
		"--database_name=DS2_1"
	require.NoError(t, flags.Parse(append(strings.Fields(line), "--engine", "postgres")))
	c := f.config
	assert.True(t, c.RampRate == 10 && c.Run == 20*time.Minute && c.Threads == 32 && f.size == "W", "parameters %+v", f)
	assert.True(t, c.Think == 0 && c.Warmup == time.Minute, "parameters %+v", f)
	urls, err := f.urls()
	require.NoError(t, err)
	assert.Equal(t, []string{"postgres://localhost?database=DS2_1"}, urls)
}

func TestUnits(t *testing.T) {
	for _, c := range []struct {
		arg  string
		get  func(*driveFlags) time.Duration
		want time.Duration
	}{
		{"--run_time=1.5", func(f *driveFlags) time.Duration { return f.config.Run }, 90 * time.Second},
		{"--run-time=90s", func(f *driveFlags) time.Duration { return f.config.Run }, 90 * time.Second},
		{"--warmup_time=2", func(f *driveFlags) time.Duration { return f.config.Warmup }, 2 * time.Minute},
		{"--think_time=0.25", func(f *driveFlags) time.Duration { return f.config.Think }, 250 * time.Millisecond},
		{"--think-time=250ms", func(f *driveFlags) time.Duration { return f.config.Think }, 250 * time.Millisecond},
		{"--operation-timeout=5s", func(f *driveFlags) time.Duration { return f.config.OperationTimeout },
			5 * time.Second},
	} {
		f, flags := driveFlagSet()
		err := flags.Parse([]string{c.arg})
		assert.True(t, err == nil && c.get(f) == c.want, "%s = %s, %v; want %s", c.arg, c.get(f), err, c.want)
	}
}

func TestRateValue(t *testing.T) {
	for text, want := range map[string]float64{"500/s": 500, "30000/m": 500, "0.5/s": 0.5} {
		v, err := readOrderRate(text)
		assert.True(t, err == nil && v == want, "rate %s = %v, %v; want %v a second", text, v, err, want)
	}
	for _, text := range []string{"", "0", "-1/s", "500", "500/h", "x/s", "NaN", "Inf"} {
		v, err := readOrderRate(text)
		assert.Error(t, err, "rate %q = %v", text, v)
	}
}

func TestConfigFileCountsInItsPlace(t *testing.T) {
	file := textFile(t, "driver.conf", "# the report's run\n\nn_threads=32\n--run_time = 20\ntarget=localhost\n")
	f, flags := driveFlagSet()
	require.NoError(t, flags.Parse(words("--n_threads=1 --target=other --config_file=%s --run_time=5", file)))
	// The later of file and arguments counts.
	assert.Equal(t, 32, f.config.Threads)
	assert.Equal(t, "localhost", f.target)
	assert.Equal(t, 5*time.Minute, f.config.Run)
}

func TestConfigFileNamesTheBadLine(t *testing.T) {
	for text, want := range map[string]string{
		"n_threads=32\nno_such=1\n":    `line 2: unknown parameter "no_such"`,
		"n_threads\n":                  "line 1: it is not parameter=value",
		"n_threads=many\n":             "line 1: ",
		"config_file=other.conf\n":     `line 1: unknown parameter "config_file"`,
		"ramp_rate=1\n\nthink_time=-1": "line 3: ",
	} {
		_, flags := driveFlagSet()
		err := flags.Parse([]string{"--config_file=" + textFile(t, "driver.conf", text)})
		assert.ErrorContains(t, err, want, "config file %q", text)
	}
}

func FuzzConfigLine(f *testing.F) {
	fuzztest.Run(f, func(t testing.TB, line string) {
		name, value, err := configLine(line)
		assert.True(t, err != nil || name != "" || value == "",
			"configLine(%q) has a value, %q, of no parameter", line, value)
	}, "n_threads=32", "# comment", "", "--run_time = 20", "=", "a=b=c", "target=postgres://a:b@c/d")
}

func FuzzDurationValue(f *testing.F) {
	fuzztest.Run(f, func(t testing.TB, text string) {
		var d time.Duration
		if err := ds2Duration(&d, time.Minute).Set(text); err == nil && d < 0 {
			t.Errorf("%q is %s", text, d)
		}
	}, "20", "1.5", "90s", "1h2m3s", "1e300", "NaN", "-1", "Inf")
}

func TestTargets(t *testing.T) {
	for _, c := range []struct {
		flags targetFlags
		want  []string
		bad   string
	}{
		{flags: targetFlags{target: "postgres://a/x;postgres://b/x"},
			want: []string{"postgres://a/x", "postgres://b/x"}},
		{flags: targetFlags{target: "a;b:5433", engine: "postgres"},
			want: []string{"postgres://a?database=DS2", "postgres://b:5433?database=DS2"}},
		{flags: targetFlags{engine: "postgres"}, want: []string{"postgres://localhost?database=DS2"}},
		{flags: targetFlags{}, bad: "--target is missing"},
		{flags: targetFlags{target: "localhost"}, bad: "needs --engine"},
		{flags: targetFlags{target: "a;", engine: "postgres"}, bad: "a host name is empty"},
		{flags: targetFlags{target: "a b", engine: "postgres"}, bad: "invalid host name"},
		{flags: targetFlags{engine: "oracle"}, bad: `unknown engine "oracle"`},
		{flags: targetFlags{target: "postgres://a/x", database: "y"}, bad: "--database-name needs a host name"},
	} {
		got, err := c.flags.urls()
		if c.bad != "" {
			assert.ErrorContains(t, err, c.bad, "%+v: %v, want an error with %q", c.flags, err, c.bad)
		} else if err != nil || strings.Join(got, " ") != strings.Join(c.want, " ") {
			t.Errorf("%+v = %v, %v; want %v", c.flags, got, err, c.want)
		}
	}
}

// TestTargetSeveralTimes: every --target counts, and a file's stands for those before it.
func TestTargetSeveralTimes(t *testing.T) {
	file := textFile(t, "driver.conf", "target=postgres://f/x\n")
	a, b, conf := "--target=postgres://a/x", "--target=postgres://b/x", "--config-file="+file
	for want, args := range map[string][]string{
		"postgres://a/x postgres://b/x":                {a, b},
		"postgres://a/x postgres://b/x postgres://a/x": {a + ";postgres://b/x", a},
		"postgres://f/x":                               {a, b, conf},
		"postgres://b/x postgres://a/x":                {conf, b, a},
	} {
		f, flags := driveFlagSet()
		require.NoError(t, flags.Parse(args))
		got, err := f.urls()
		require.NoError(t, err, args)
		assert.Equal(t, want, strings.Join(got, " "), args)
	}
	fails(t, exitUsage, "--target: one of several is not a URL", "drive", a, "--target=b", "--threads=1")
}

func TestEnvironment(t *testing.T) {
	t.Setenv("DS2_N_THREADS", "0")
	t.Setenv("DS2_TARGET", "postgres://127.0.0.1:1/ds2")
	fails(t, exitUsage, "--threads is 0", "drive")
	fails(t, exitFailed, "127.0.0.1:1", "drive", "--threads", "1")
	t.Setenv("DS2_N_THREADS", "many")
	fails(t, exitUsage, "variable DS2_N_THREADS", "drive")
}
