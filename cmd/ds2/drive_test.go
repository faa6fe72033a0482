package main

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/unicode"

	"ds2/internal/fuzztest"
	"ds2/internal/texttest"
)

// driveFlagSet is the flags of drive by themselves.
func driveFlagSet() (*runFlags, *pflag.FlagSet) {
	var f runFlags
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
	assert.True(
		t,
		f.RampRate == 10 && f.RunTime.Duration == 20*time.Minute && f.Threads == 32 &&
			f.size == "W",
		"parameters %+v",
		f,
	)
	assert.True(
		t,
		f.ThinkTime.Duration == 0 && f.WarmupTime.Duration == time.Minute,
		"parameters %+v",
		f,
	)
	urls, err := f.urls()
	require.NoError(t, err)
	assert.Equal(t, []string{"postgres://localhost?database=DS2_1"}, urls)
}

func TestUnits(t *testing.T) {
	for arg, is := range map[string]func(*runFlags) bool{
		"--run_time=1.5": func(f *runFlags) bool {
			return f.RunTime.Duration == 90*time.Second
		},
		"--run-time=90s": func(f *runFlags) bool {
			return f.RunTime.Duration == 90*time.Second
		},
		"--warmup_time=2": func(f *runFlags) bool {
			return f.WarmupTime.Duration == 2*time.Minute
		},
		"--think_time=0.25": func(f *runFlags) bool {
			return f.ThinkTime.Duration == 250*time.Millisecond
		},
		"--think-time=250ms": func(f *runFlags) bool {
			return f.ThinkTime.Duration == 250*time.Millisecond
		},
		"--operation-timeout=5s": func(f *runFlags) bool {
			return f.OperationTimeout.Duration == 5*time.Second
		},
		"--rate=500/s":   func(f *runFlags) bool { return f.Rate == 500 },
		"--rate=30000/m": func(f *runFlags) bool { return f.Rate == 500 },
		"--RUN_TIME=90s": func(f *runFlags) bool {
			return f.RunTime.Duration == 90*time.Second
		},
		"--rate=0.5/s": func(f *runFlags) bool { return f.Rate == 0.5 },
	} {
		f, flags := driveFlagSet()
		assert.True(t, flags.Parse([]string{arg}) == nil && is(f), "%s: %+v", arg, f)
	}
}

func TestConfigFileCountsInItsPlace(t *testing.T) {
	text := "\ufeff# the report's run\r\n\r\nn_threads=32\r\n--run_time = 20\r\n" +
		"target=localhost\r\nvirt_dir=ds2\r\npage_type=php\r\nwindows_perf_host=\r\nlinux_perf_host=db1:80\r\n" +
		"ds2_mode=y\r\nn_stores=1\r\n"
	utf16, err := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewEncoder().String(text)
	require.NoError(t, err)
	var f *runFlags
	for _, written := range []string{text, utf16} {
		var flags *pflag.FlagSet
		f, flags = driveFlagSet()
		file := textFile(t, "driver.conf", written)
		require.NoError(
			t,
			flags.Parse(words("--n_threads=1 --target=other --config_file=%s --run_time=5", file)),
		)
		// The later of file and arguments counts.
		assert.Equal(t, 32, f.Threads)
		assert.Equal(t, "localhost", f.target)
		assert.Equal(t, 5*time.Minute, f.RunTime.Duration)
	}
	var told strings.Builder
	f.tellIgnored(&told)
	texttest.Contains(
		t,
		told.String(),
		"page_type and virt_dir ignored",
		"linux_perf_host=db1:80 ignored",
		"--exporter",
		"ds2_mode and n_stores ignored, of DVD Store 3",
	)
}

func TestConfigFileNamesTheBadLine(t *testing.T) {
	for text, want := range map[string]string{
		"config_file=other.conf\n":     `line 1: unknown parameter "config_file"`,
		"n_stores=4":                   "line 1: --n-stores: a parameter of DVD Store 3; ds2 is DVD Store 2",
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

// TestTargets: every target counts, and a file's stands for those before it.
// testdata/mistakes.golden has what is none.
func TestTargets(t *testing.T) {
	file := textFile(t, "driver.conf", "target=postgres://f/x\n")
	const a, b, conf = " --target=postgres://a/x", " --target=postgres://b/x", " --config-file=F"
	for line, want := range map[string]string{
		a + ";postgres://b/x":                 "postgres://a/x postgres://b/x",
		a + b:                                 "postgres://a/x postgres://b/x",
		a + ";postgres://b/x" + a:             "postgres://a/x postgres://b/x postgres://a/x",
		a + b + conf:                          "postgres://f/x",
		conf + b + a:                          "postgres://b/x postgres://a/x",
		"--target=a;b:5433 --engine=postgres": "postgres://a?database=DS2 postgres://b:5433?database=DS2",
		"--engine=postgres":                   "postgres://localhost?database=DS2",
		"--target=a; --engine=postgres":       "--target: a host name is empty",
		"'--target=a b' --engine=postgres":    `--target: invalid host name "a b"`,
		a + " --database-name=y": "--database-name needs a host name as --target; " +
			"in a URL the database is part of it",
		a + " --target=b": "--target: one of several is not a URL; in a password, ; is written %3B",
	} {
		f, flags := driveFlagSet()
		require.NoError(t, flags.Parse(words("%s", strings.Replace(line, "=F", "="+file, 1))))
		got, err := f.urls()
		if err != nil {
			got = []string{err.Error()}
		}
		assert.Equal(t, want, strings.Join(got, " "), line)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("DS2_N_THREADS", "0")
	t.Setenv("DS2_TARGET", "postgres://127.0.0.1:1/ds2")
	fails(t, exitUsage, "--threads is 0", "drive")
	fails(t, exitFailed, "127.0.0.1:1", "drive", "--threads", "1")
	t.Setenv("DS2_N_THREADS", "many")
	fails(t, exitUsage, "variable DS2_N_THREADS", "drive")
}

// FuzzDriveFlags gives a run's flags values that no user would.
func FuzzDriveFlags(f *testing.F) {
	fuzztest.Run(f, func(t testing.TB, line string) {
		words := strings.Fields(line)
		for _, word := range words {
			// It would open a file of any name.
			if name := strings.ReplaceAll(word, "_", "-"); strings.Contains(name, "config") {
				return
			}
		}
		flags, set := driveFlagSet()
		set.SetOutput(io.Discard)
		if set.Parse(words) != nil || flags.check() != nil {
			return
		}
		flags.parseWindows(flags.Spec)
		flags.parseLimits()
	}, "--threads=32 --run_time=20", "--n_threads 4 --db_size_str=W", "--window=1000s-1200s --limit=order:p95<200ms",
		"--target=postgres://a:b@c/d",
		"--rate=500/s --spacing=even", "--think_time 5e9 --user-offset -1")
}

func FuzzRate(f *testing.F) {
	fuzztest.Run(f, func(t testing.TB, text string) {
		v, err := readOrderRate(text)
		assert.True(t, err != nil || v > 0 && v <= 1e6, "%q is %g a second", text, v)
	}, "500/s", "30000/m", "1", "NaN", "1e400", "-3/s", "1/min", "0/s", "NaN/s", "Inf/s", "x/s", "")
}

func FuzzByteSize(f *testing.F) {
	fuzztest.Run(f, func(t testing.TB, text string) {
		b, err := readByteSize(text)
		assert.True(t, err != nil || b > 0, "%q is %d bytes", text, b)
	}, "500MB", "2GB", "1e30GB", "-1", "0x10", "9223372036854775807")
}

// FuzzRedact hides a password in a URL amid any text.
func FuzzRedact(f *testing.F) {
	fuzztest.Run(f, func(t testing.TB, text string) {
		if strings.Contains(text, "hunter2") {
			return // it is no secret then
		}
		half := len(text) / 2
		assert.NotContains(
			t,
			redact(text[:half]+" postgres://user:hunter2@host"+text[half:]),
			"hunter2",
		)
	}, "load:/ds2: no such host", "host=a password=b", "user:x@host;", "password='a b' user=c")
}
