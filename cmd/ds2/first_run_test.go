package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/internal/texttest"
	"ds2/internal/workload/ds2"
)

// TestFirstRunHidesPassword has the script for a first run on SQL Server call a program that prints
// all that it is told, and the password as the server knows it: neither form of it is in what is
// packed, whose records can be reported, and nothing is packed where a record has it.
func TestFirstRunHidesPassword(t *testing.T) {
	const target, secret, plain = "sqlserver://sa:p%24s.%2Fw@127.0.0.1:1?database=X", "p%24s.%2Fw", "p$s./w"
	script, err := filepath.Abs("../../scripts/sqlserver-first-run")
	require.NoError(t, err)
	// run has the program record by a command, and gives what the script says and what it packs.
	run := func(record string) (said string, archives []string) {
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
	`+record+`
fi
`), 0o755))
		cmd := exec.Command("sh", script, target)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "DS2="+stub)
		output, err := cmd.CombinedOutput()
		require.Error(t, err, "the stub fails no step that is to fail")
		archives, err = filepath.Glob(filepath.Join(dir, "*.tar.gz"))
		require.NoError(t, err)
		return string(output), archives
	}
	said, archives := run("echo '" + plain + "' >\"$out/run.log\"")
	require.Empty(t, archives, said)
	require.Contains(t, said, "nothing is packed")

	record := t.TempDir()
	made(t, record, ds2.Workload{}.Words(), ds2.Name, struct{}{}, 0)
	said, archives = run("cp -r '" + record + "'/. \"$out\"")
	require.Len(t, archives, 1, said)
	text, err := exec.Command("tar", "-xOzf", archives[0]).Output()
	require.NoError(t, err)
	unpacked := t.TempDir()
	require.NoError(t, exec.Command("tar", "-xzf", archives[0], "-C", unpacked).Run())
	records, err := filepath.Glob(filepath.Join(unpacked, "*", "*", "summary.json"))
	require.NoError(t, err)
	require.Len(t, records, 10) // every --out of the short form
	for _, found := range records {
		require.Contains(t, must(t, "report", "-o", "text", filepath.Dir(found)), " OPM")
	}
	texttest.Contains(t, string(text), "drive --target", "FAILED: it said a password")
	// the last begins the one of ds2_first
	for _, password := range []string{secret, plain, "Aa1-"} {
		require.NotContains(t, string(text), password)
	}
}

// TestFirstRunWithoutDS2: nothing is begun without a ds2 to run.
func TestFirstRunWithoutDS2(t *testing.T) {
	script, err := filepath.Abs("../../scripts/sqlserver-first-run")
	require.NoError(t, err)
	cmd := exec.Command("sh", script, "sqlserver://sa:x@127.0.0.1:1?database=X")
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "DS2=no-such-ds2")
	said, _ := cmd.CombinedOutput()
	require.Equal(t, exitUsage, cmd.ProcessState.ExitCode(), string(said))
	require.Contains(t, string(said), "no-such-ds2 is not on the PATH")
	made, err := os.ReadDir(cmd.Dir)
	require.NoError(t, err)
	require.Empty(t, made)
}
