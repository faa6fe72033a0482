package main

import (
	"fmt"
	"net/url"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/store/sqlserver/tdstest"
)

// TestPasswordCommand has every connection of a load and a short run take its password from a command.
func TestPasswordCommand(t *testing.T) {
	target, err := url.Parse(pgtest.Database(t))
	require.NoError(t, err)
	password, _ := target.User.Password()
	target.User = url.UserPassword(target.User.Username(), "another")
	asked := filepath.Join(t.TempDir(), "asked")
	for _, c := range []struct {
		why, command string
		exit         int
		says         string
	}{
		{"the right password", fmt.Sprintf("echo x >> %s; echo '%s'", asked, password), exitDone, ""},
		{"a wrong one", "echo wrong", exitFailed, "password authentication failed"},
		{"a command that fails after it has printed something", "echo hidden; echo no such account >&2; exit 3",
			exitFailed, "run --password-command: exit status 3: no such account"},
		{"a command that prints nothing", "true", exitFailed, "run --password-command: it printed nothing"},
	} {
		load := words("load --target %s --size 1MB --drop --password-command", target)
		_, stderr := ends(t, c.exit, append(load, c.command)...)
		assert.Contains(t, stderr, c.says, c.why)
		assert.NotContains(t, stderr, "hidden", c.why)
	}
	assert.FileExists(t, asked, "the command was not run")
}

// TestPasswordCommandOfSQLServer has a SQL Server see whose password it is; without a user it is a token, which is in
// no field of LOGIN7 for names: [MS-TDS] 2.2.6.4, FEDAUTH.
func TestPasswordCommandOfSQLServer(t *testing.T) {
	for _, c := range []struct{ why, user, want string }{
		{"a password", "ds2user", "ds2user"},
		{"a token", "", ""},
	} {
		logins := make(chan tdstest.Login, 100)
		refusal := tdstest.Answer(tdstest.Error(18456, 1, 14, "Login failed."), tdstest.Done(tdstest.DoneError))
		decide := func(l tdstest.Login) tdstest.Decision {
			logins <- l
			return tdstest.Decision{Close: true, Answer: refusal}
		}
		server := tdstest.Start(t, tdstest.Options{Encryption: tdstest.EncryptNothing, Decide: decide})
		target := server.URL("DS2")
		if target.User = nil; c.user != "" {
			target.User = url.UserPassword(c.user, "another")
		}
		ends(t, exitFailed, words("verify --target %s --password-command 'echo secret'", target)...)
		l := <-logins
		assert.True(t, l.User == c.want && l.Token == (c.user == ""), "%s: login %+v", c.why, l)
		assert.True(t, c.user == "" || l.Password == "secret", "%s: login %+v", c.why, l)
	}
}
