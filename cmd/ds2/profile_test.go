package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ds2/internal/result"
)

func TestSchedule(t *testing.T) {
	now := time.Date(2026, 11, 23, 14, 10, 0, 0, time.UTC)
	long := func(d time.Duration) result.Duration { return result.Duration{Duration: d} }
	short := result.Spec{Threads: 1, Targets: []string{"db"}, RampRate: 10}
	usual := result.Spec{
		Threads:    33,
		Targets:    []string{"db"},
		RampRate:   10,
		WarmupTime: long(time.Minute),
		RunTime:    long(20 * time.Minute),
		DrainTime:  long(30 * time.Second),
	}
	warm := usual
	warm.Idle = long(2 * time.Minute)
	warm.Cooldown = long(90 * time.Second)
	warm.WarmWithin = long(10 * time.Minute)
	for _, tt := range []struct {
		run  result.Spec
		want string
	}{
		{usual, "connect 33 users, ramp 4 s, warm up 1 min, run 20 min, drain up to 30 s; ends about 14:31"},
		{warm, "idle 2 min, connect 33 users, ramp 4 s, warm up 1 min, wait up to 10 min until the store is warm, " +
			"run 20 min, drain up to 30 s, cool down 1 min 30 s; ends at the earliest about 14:34"},
		{short, "connect 1 user, run until it is stopped"},
	} {
		require.Equal(t, "schedule: "+tt.want, schedule(tt.run, now))
	}
}

// TestFileAndProfile: what the command line says goes before the file, that before the environment,
// and that before the profile.
func TestFileAndProfile(t *testing.T) {
	file := textFile(t, "arrays.yaml", `
run-time: 3m
runs: 5
profile: report
configurations:
  hdd: {target: postgres://h/d, threads: 8}
  ssd: {target: postgres://h/e, settle: 1m}
`)
	t.Setenv("DS2_TARGET", "postgres://another/d")
	t.Setenv("DS2_THINK_TIME", "30ms")
	for _, tt := range []struct {
		why, args, want, err string
	}{
		{
			"a profile", "bench --profile afternoon --run-time 5m",
			"run-time=5m0s settle=30s warm-within=8m0s", "",
		},
		{
			"a profile of a single run", "drive --profile endurance",
			"run-time=24h0m0s warmup-time=10m0s", "",
		},
		{
			"a file", "bench --file " + file + " --configuration ssd --threads 4",
			"target=postgres://h/e threads=4 run-time=3m0s settle=1m0s idle=2m0s runs=5", "",
		},
		{
			"a file, for a single run", "drive --file " + file + " --configuration hdd",
			"target=postgres://h/d threads=8 run-time=3m0s", "",
		},
		{
			"a file before a variable", "drive --file " + file + " --configuration hdd",
			"target=postgres://h/d threads=8 think-time=30ms", "",
		},
		{"no configuration", "drive --file " + file, "", "name one by --configuration: hdd; ssd"},
		{
			"another", "drive --configuration x --file " + file, "",
			`has no configuration "x"; it has hdd; ssd`,
		},
		{"no file", "drive --configuration x", "", "--configuration: it is one of a file"},
	} {
		args := words("%s", tt.args)
		cmd, _, err := newRoot().Find(args[:1])
		require.NoError(t, err)
		flags := cmd.Flags()
		require.NoError(t, flags.Parse(args[1:]), tt.why)
		err = resolve(t.Context(), flags)
		if tt.err != "" {
			require.ErrorContains(t, err, tt.err, tt.why)
			continue
		}
		require.NoError(t, err, tt.why)
		for _, flag := range words("%s", tt.want) {
			name, want, _ := strings.Cut(flag, "=")
			require.Equal(t, want, flags.Lookup(name).Value.String(), "%s: --%s", tt.why, name)
		}
	}
}

// TestConfig prints where each value comes from, and no password.
func TestConfig(t *testing.T) {
	t.Setenv("DS2_N_THREADS", "7")
	file := textFile(
		t,
		"arrays.yaml",
		"configurations:\n  a: {target: 'postgres://u:secret@h/d'}\n",
	)
	stdout := must(t, words("config drive --file %s --profile quick --run-time 2m", file)...)
	require.NotContains(t, stdout, "secret")
	for _, want := range []string{
		`target +postgres://u:\*\*\*@h/d  \(` + file + `\)`,
		`threads +7  \(DS2_N_THREADS\)`,
		`run-time +2m0s  \(command line\)`,
		`warmup-time +15s  \(profile quick\)`,
		`ramp-rate +10  \(default\)`,
	} {
		require.Regexp(t, want, stdout)
	}
}
