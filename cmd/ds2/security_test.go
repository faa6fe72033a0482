package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
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
	"ds2/internal/tdstest"
)

// TestNoPasswordAnywhere looks for the target's password in all that commands print, serve and
// write, also where they fail or are made to dump their stacks.
func TestNoPasswordAnywhere(t *testing.T) {
	nightly.Long(t, "takes a few seconds")
	target := pgtest.Database(t)
	u := mustParse(t, target)
	password, _ := u.User.Password()
	clean := func(where, text string) {
		t.Helper()
		found := strings.Contains(text, password) ||
			strings.Contains(text, url.QueryEscape(password))
		assert.False(t, found, "the password is in %s", where)
	}
	out := filepath.Join(t.TempDir(), "record")
	unreachable := strings.Replace(target, u.Port(), "1", 1)
	const run = "drive --target TARGET --threads 2 --ramp-rate 100 --warmup-time 0 --run-time 2s --out RECORD"
	for _, line := range []string{
		"load --target TARGET --size 1MB", "load --target TARGET --size 1MB", // it is there already
		run, run, // the record is there already
		"report RECORD", "report --output json RECORD", "report --html RECORD.page RECORD",
		"verify --target TARGET --record RECORD", "reset --target TARGET", "snapshot restore --target TARGET",
		"verify --target NOWHERE",
	} {
		names := strings.NewReplacer("TARGET", target, "RECORD", out, "NOWHERE", unreachable)
		_, stdout, stderr := execute(t, strings.Fields(names.Replace(line))...)
		clean("what ds2 "+line+" printed", stdout+stderr)
	}
	err := filepath.WalkDir(filepath.Dir(out), func(path string, d fs.DirEntry, err error) error {
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
	p := begin(t, quick("drive", target, "--run-time 1m --metrics-addr 127.0.0.1:0 --out out")...)
	page := p.page(t)
	p.await(t, "the run", p.holds("out/run.log", "enter phase"))
	for _, path := range []string{"/", "/metrics"} {
		response, err := http.Get("http://" + page + path)
		require.NoError(t, err)
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		require.True(
			t,
			err == nil && response.StatusCode == http.StatusOK,
			"%s: %s, %v",
			path,
			response.Status,
			err,
		)
		clean("what is served at "+path, string(text))
	}
	require.NoError(t, p.Process.Signal(syscall.SIGQUIT))
	<-p.ended
	assert.Contains(t, p.stderr.String(), "goroutine ", "no stacks")
	clean("the stacks of goroutines", p.stderr.String())
}

// TestRecordModes looks who may read a record: the user alone.
func TestRecordModes(t *testing.T) {
	nightly.Long(t, "takes a few seconds")
	out := filepath.Join(t.TempDir(), "results", "record")
	must(
		t,
		quick("drive", loaded(t), "--threads 1 --run-time 1s --journal --quiet --out %s", out)...)
	for _, path := range []string{out, filepath.Dir(out), filepath.Join(out, "acknowledged.bin")} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Zero(t, info.Mode().Perm()&0o077, "%s: others can look into it", path)
	}
}

// TestCommandsOfConfigFile shows what docs/explanation/security.md says: a configuration file may
// hold command lines, which run as whoever runs ds2.
func TestCommandsOfConfigFile(t *testing.T) {
	ran := filepath.Join(t.TempDir(), "ran")
	file := textFile(
		t,
		"config",
		"target=postgres://nobody@127.0.0.1:1/ds2\npassword_command=touch "+ran+"; echo x\n",
	)
	execute(t, "drive", "--config_file", file, "--out", ran+".record")
	assert.FileExists(t, ran, "the command of the file was not run")
}

// TestDefaultMetricsAddr: who does not ask for another address shows figures on this machine only.
func TestDefaultMetricsAddr(t *testing.T) {
	assert.Regexp(t, `^127\.0\.0\.1:`, defaultMetricsAddr)
}

func mustParse(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	require.NoError(t, err)
	return u
}

// TestPasswordCommand has every connection of a load and a short run take its password from a
// command.
func TestPasswordCommand(t *testing.T) {
	target := mustParse(t, pgtest.Database(t))
	password, _ := target.User.Password()
	target.User = url.UserPassword(target.User.Username(), "another")
	asked := filepath.Join(t.TempDir(), "asked")
	for _, c := range []struct {
		why, command string
		exit         int
		says         string
	}{
		{
			"the right password", fmt.Sprintf("echo x >> %s; echo '%s'", asked, password), exitDone,
			"",
		},
		{"a wrong one", "echo wrong", exitFailed, "password authentication failed"},
		{
			"a command that fails after it has printed something", "echo hidden; echo no such account >&2; exit 3",
			exitFailed, "run --password-command: exit status 3: no such account",
		},
		{
			"a command that prints nothing", "true", exitFailed,
			"run --password-command: it printed nothing",
		},
	} {
		load := words("load --target %s --size 1MB --drop --password-command", target)
		_, stderr := ends(t, c.exit, append(load, c.command)...)
		assert.Contains(t, stderr, c.says, c.why)
		assert.NotContains(t, stderr, "hidden", c.why)
	}
	assert.FileExists(t, asked, "the command was not run")
}

// TestPasswordCommandOfSQLServer has a SQL Server see whose password it is; without a user it is a
// token, which is in no field of LOGIN7 for names: [MS-TDS] 2.2.6.4, FEDAUTH.
func TestPasswordCommandOfSQLServer(t *testing.T) {
	for _, user := range []string{"ds2user", ""} {
		logins := make(chan tdstest.Login, 100)
		server := tdstest.Start(t, tdstest.Options{Decide: func(l tdstest.Login) tdstest.Decision {
			logins <- l
			return tdstest.Refuse(tdstest.LoginFailed)
		}})
		target := server.URL("DS2")
		if target.User = nil; user != "" {
			target.User = url.UserPassword(user, "another")
		}
		ends(t, exitFailed, words("verify --target %s --password-command 'echo secret'", target)...)
		l := <-logins
		assert.True(t, l.User == user && l.Token == (user == ""), "user %q: login %+v", user, l)
		assert.True(t, user == "" || l.Password == "secret", "user %q: login %+v", user, l)
	}
}
