package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ds2/internal/driver"
	"ds2/internal/runs"
)

func TestSchedule(t *testing.T) {
	now := time.Date(2026, 11, 23, 14, 10, 0, 0, time.UTC)
	c := driver.Config{Threads: 33, Targets: []string{"db"}, RampRate: 10, Warmup: time.Minute, Run: 20 * time.Minute, Drain: 30 * time.Second}
	for _, tt := range []struct {
		o    runs.Options
		want string
	}{
		{runs.Options{Driver: c}, "schedule: connect, ramp 4 s, warm up 1 min, run 20 min, drain up to 30 s; ends about 14:31"},
		{runs.Options{Driver: c, Idle: 2 * time.Minute, Cooldown: 90 * time.Second, WarmMax: 10 * time.Minute},
			"schedule: idle 2 min, connect, ramp 4 s, warm up 1 min, wait up to 10 min until the store is warm, run 20 min, drain up to 30 s, cool down 1 min 30 s; ends at the earliest about 14:34"},
		{runs.Options{Driver: driver.Config{Threads: 1, Targets: []string{"db"}, RampRate: 10}}, "schedule: connect, run until it is stopped"},
	} {
		require.Equal(t, tt.want, schedule(tt.o, now))
	}
}

// TestFileAndProfile: what the command line says goes before the file, and that before the profile.
func TestFileAndProfile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "arrays.yaml")
	text := "run-time: 3m\nruns: 5\nprofile: report\nconfigurations:\n  hdd: {target: postgres://h/d, threads: 8}\n  ssd: {target: postgres://h/e, settle: 1m}\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	for _, tt := range []struct {
		why, command string
		args         []string
		want         map[string]string
		err          string
	}{
		{"a profile", "bench", []string{"--profile", "afternoon", "--run-time", "5m"}, map[string]string{"run-time": "5m0s", "settle": "30s", "warm-within": "8m0s"}, ""},
		{"a profile of a single run", "drive", []string{"--profile", "endurance"}, map[string]string{"run-time": "24h0m0s", "warmup-time": "10m0s"}, ""},
		{"a file", "bench", []string{"--file", file, "--configuration", "ssd", "--threads", "4"},
			map[string]string{"target": "postgres://h/e", "threads": "4", "run-time": "3m0s", "settle": "1m0s", "idle": "2m0s", "runs": "5"}, ""},
		{"a file, for a single run", "drive", []string{"--file", file, "--configuration", "hdd"}, map[string]string{"target": "postgres://h/d", "threads": "8", "run-time": "3m0s"}, ""},
		{"no configuration", "drive", []string{"--file", file}, nil, "name one by --configuration: hdd; ssd"},
		{"another", "drive", []string{"--file", file, "--configuration", "x"}, nil, `has no configuration "x"; it has hdd; ssd`},
		{"no file", "drive", []string{"--configuration", "x"}, nil, "--configuration: it is one of a file"},
	} {
		cmd, _, err := newRoot().Find([]string{tt.command})
		require.NoError(t, err)
		flags := cmd.Flags()
		require.NoError(t, flags.Parse(tt.args), tt.why)
		if err := fillIn(flags); tt.err != "" {
			require.ErrorContains(t, err, tt.err, tt.why)
			continue
		} else {
			require.NoError(t, err, tt.why)
		}
		for name, want := range tt.want {
			require.Equal(t, want, flags.Lookup(name).Value.String(), "%s: --%s", tt.why, name)
		}
	}
}
