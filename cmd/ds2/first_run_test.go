package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFirstRunHidesPassword has the script for a first run on SQL Server call a program that prints all that it is told, and the password
// as the server knows it: neither form of it is in what is packed, and nothing is packed where a record has it.
func TestFirstRunHidesPassword(t *testing.T) {
	const target, secret, plain = "sqlserver://sa:p%24s.%2Fw@127.0.0.1:1?database=X", "p%24s.%2Fw", "p$s./w"
	script, err := filepath.Abs("../../scripts/sqlserver-first-run")
	require.NoError(t, err)
	for _, c := range []struct{ why, record string }{{"told", ":"}, {"in a record", "echo '" + plain + "' >\"$out/run.log\""}} {
		dir := t.TempDir()
		stub := filepath.Join(dir, "stub")
		require.NoError(t, os.WriteFile(stub, []byte(`#!/bin/sh
echo "$@"
echo 'the password is `+plain+`'
out=
while [ $# -gt 0 ]; do
	if [ "$1" = --out ]; then out=$2; fi
	shift
done
if [ -n "$out" ]; then
	mkdir -p "$out"
	`+c.record+`
fi
`), 0o755))
		cmd := exec.Command("sh", script, "--quick", target)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "DS2="+stub)
		said, err := cmd.CombinedOutput()
		require.Error(t, err, "the stub fails no step that is to fail")
		archives, err := filepath.Glob(filepath.Join(dir, "*.tar.gz"))
		require.NoError(t, err)
		if c.record != ":" {
			require.Empty(t, archives, "%s: packed\n%s", c.why, said)
			require.Contains(t, string(said), "nothing is packed", c.why)
			continue
		}
		require.Len(t, archives, 1, "%s\n%s", c.why, said)
		text, err := exec.Command("tar", "-xOzf", archives[0]).Output()
		require.NoError(t, err)
		require.Contains(t, string(text), "drive --target")
		require.NotContains(t, string(text), secret)
		require.NotContains(t, string(text), plain)
	}
}

// TestFirstRunTwin: both scripts have the same steps, in the same order.
func TestFirstRunTwin(t *testing.T) {
	steps := func(file, pattern string) (all []string) {
		text, err := os.ReadFile("../../scripts/" + file)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
			all = append(all, strings.Trim(m[1], `'"`))
		}
		return all
	}
	shell := steps("sqlserver-first-run", `(?m)^ *(?:step|backup) ('[^']+'|"[^"]+"|\w+) [01] `)
	twin := steps("sqlserver-first-run.ps1", `(?m)^ *(?:Step|Backup) ('[^']+'|"[^"]+"|\w+) [01] `)
	if len(shell) < 20 || !slices.Equal(shell, twin) {
		t.Errorf("steps\n%q\nof the twin\n%q", shell, twin)
	}
}
