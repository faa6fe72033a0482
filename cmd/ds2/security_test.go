package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/nightly"
)

// TestNoPasswordAnywhere looks for the target's password in all that commands print, serve and write, also where they
// fail or are made to dump their stacks.
func TestNoPasswordAnywhere(t *testing.T) {
	nightly.Long(t, "takes a few seconds")
	target := pgtest.Database(t)
	u, err := url.Parse(target)
	require.NoError(t, err)
	password, _ := u.User.Password()
	clean := func(where, text string) {
		t.Helper()
		assert.True(t, !strings.Contains(text, password) && !strings.Contains(text, url.QueryEscape(password)), "the password is in %s", where)
	}
	out := filepath.Join(t.TempDir(), "record")
	run := []string{"drive", "--target", target, "--threads", "2", "--ramp-rate", "100", "--warmup-time", "0"}
	unreachable := strings.Replace(target, u.Port(), "1", 1)
	for _, args := range [][]string{
		{"load", "--target", target, "--size", "1MB"},
		{"load", "--target", target, "--size", "1MB"}, // it is there already
		append(run, "--run-time", "2s", "--out", out),
		append(run, "--run-time", "2s", "--out", out), // so is the record
		{"report", out}, {"report", "--output", "json", out}, {"report", "--html", filepath.Join(filepath.Dir(out), "page"), out},
		{"verify", "--target", target, "--record", out}, {"reset", "--target", target}, {"snapshot", "restore", "--target", target},
		{"verify", "--target", unreachable}, {"drive", "--target", unreachable}, {"drive", target}, {"drive", "--threads", target},
	} {
		_, stdout, stderr := execute(t, args...)
		clean("what ds2 "+args[0]+" printed", stdout+stderr)
	}
	err = filepath.WalkDir(filepath.Dir(out), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if packed, bad := gzip.NewReader(bytes.NewReader(text)); bad == nil {
			if text, err = io.ReadAll(packed); err != nil {
				return err
			}
		}
		clean(path, string(text))
		return err
	})
	assert.NoError(t, err)

	// A run that is made to dump the stacks of its goroutines.
	p := startProgram(t, append(run, "--run-time", "1m", "--metrics-addr", "127.0.0.1:0", "--out", "out")...)
	p.start(t)
	p.await(t, "the run", p.holds("out/run.log", "enter phase"))
	require.NoError(t, p.Process.Signal(syscall.SIGQUIT))
	<-p.ended
	assert.Contains(t, p.stderr.String(), "goroutine ", "no stacks")
	clean("the stacks of goroutines", p.stderr.String())
}

// TestRecordModes looks who may read a record: the user alone.
func TestRecordModes(t *testing.T) {
	nightly.Long(t, "takes a few seconds")
	target := loaded(t)
	out := filepath.Join(t.TempDir(), "results", "record")
	must(t, "drive", "--target", target, "--threads", "1", "--warmup-time", "0", "--run-time", "1s", "--journal", "--metrics-addr", "", "--quiet", "--out", out)
	for _, dir := range []string{out, filepath.Dir(out)} {
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v: others can look into it", dir, info.Mode(), err)
		}
	}
	if info, err := os.Stat(filepath.Join(out, "acknowledged.bin")); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the journal: %v, %v", info.Mode(), err)
	}
}

// TestCommandsOfConfigFile shows what docs/explanation/security.md says: a configuration file may hold command lines,
// which run as whoever runs ds2.
func TestCommandsOfConfigFile(t *testing.T) {
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	file := filepath.Join(dir, "config")
	require.NoError(t, os.WriteFile(file, []byte("target=postgres://nobody@127.0.0.1:1/ds2\npassword_command=touch "+ran+"; echo x\n"), 0o600))
	execute(t, "drive", "--config_file", file, "--out", filepath.Join(dir, "record"))
	_, err := os.Stat(ran)
	assert.NoError(t, err, "the command of the file was not run")
}

// TestMetricsServer looks at what a client of a run's page can do: only read, on this machine only unless asked
// otherwise.
func TestMetricsServer(t *testing.T) {
	var f metricsFlags
	f.metricsAddr = defaultMetricsAddr
	host, _, _ := strings.Cut(f.metricsAddr, ":")
	assert.Equal(t, "127.0.0.1", host, "figures are served on %s by default", f.metricsAddr)
	nightly.Long(t, "takes a few seconds")
	target := loaded(t)
	p := startProgram(t, "drive", "--target", target, "--threads", "1", "--warmup-time", "0", "--run-time", "1m", "--metrics-addr", "127.0.0.1:0", "--out", "out")
	p.start(t)
	page := "http://" + p.page(t)
	p.await(t, "the run", p.holds("out/run.log", "enter phase"))
	for method, want := range map[string]int{"GET": http.StatusOK, "POST": http.StatusMethodNotAllowed, "DELETE": http.StatusMethodNotAllowed} {
		request, err := http.NewRequestWithContext(t.Context(), method, page+"/metrics", nil)
		require.NoError(t, err)
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		text, _ := io.ReadAll(response.Body)
		response.Body.Close()
		password, _ := mustParse(t, target).User.Password()
		assert.True(t, response.StatusCode == want && !strings.Contains(string(text), password), "%s: %s, want %d", method, response.Status, want)
	}
	response, err := http.Get(page + "/" + strings.Repeat("x", 1<<20))
	assert.True(t, err != nil || response.StatusCode != http.StatusOK, "a request line of a megabyte: %s", response.Status)
	p.Process.Kill()
}

func mustParse(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	require.NoError(t, err)
	return u
}
