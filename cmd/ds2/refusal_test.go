package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRefusedBeforeAnything gives each command flags that make no work, and a target that does not answer: what flags alone can tell
// is said first, and nothing is made.
func TestRefusedBeforeAnything(t *testing.T) {
	full := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(full, "x"), nil, 0o644))
	none := filepath.Join(t.TempDir(), "none")
	const target = "--target=postgres://127.0.0.1:1/ds2"
	for _, c := range []struct{ command, flags, names string }{
		{"demo", "--run-time 45s --crash-cycles 3", "--run-time"},
		{"demo", "--crash-after 5m", "--crash-after"},
		{"demo", "--verify none --crash-after 5s", "--crash-after"},
		{"demo", "--out " + full, "--out"},
		{"drive", "--out " + full, "--out"},
		{"drive", "--metrics-addr nowhere", "--metrics-addr"},
		{"drive", "--metrics-addr :123456", "--metrics-addr"},
		{"drive", "--device-record " + none, "--device-record"},
		{"drive", "--pushgateway host:9091", "--pushgateway"},
		{"drive", "--limit opm<1000", "--limit"},
		{"drive", "--limit errors<0%", "--limit"},
		{"drive", "--run-time 60s --window 1h-2h", "--window"},
		{"drive", "--crash-after 1s", "--crash-after"},
		{"preflight", "--metrics-addr nowhere", "--metrics-addr"},
		{"preflight", "--device-record " + none, "--device-record"},
		{"preflight", "--crash-after 5s --verify none", "--crash-after"},
		{"preflight", "--run-time 60s --window 1h-2h", "--window"},
		{"bench", "--out " + full, "--out"},
		{"bench", "--metrics-addr nowhere", "--metrics-addr"},
		{"bench", "--device-record " + none, "--device-record"},
		{"tune", "--out " + full, "--out"},
		{"tune", "--metrics-addr nowhere", "--metrics-addr"},
		{"tune", "--limit iops>10 --abort-on-fail 5s", "--abort-on-fail"},
		{"bench-backup", "--out " + full, "--out"},
		{"load", "--size S --metrics-addr nowhere", "--metrics-addr"},
	} {
		args := append([]string{c.command}, strings.Fields(c.flags)...)
		if c.command != "demo" {
			args = append(args, target)
		}
		code, stdout, stderr := execute(t, args...)
		if code != exitUsage || !strings.Contains(stderr, c.names) || stdout != "" {
			t.Errorf("ds2 %s %s: exit %d, %s%s", c.command, c.flags, code, stdout, stderr)
		}
	}
}
