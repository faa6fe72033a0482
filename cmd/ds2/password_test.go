package main

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
		{"the right password", fmt.Sprintf("echo x >> %s; echo '%s'", asked, password), 0, ""},
		{"a wrong one", "echo wrong", 1, "password authentication failed"},
		{"a command that fails after it has printed something", "echo hidden; echo no such account >&2; exit 3", 1, "run --password-command: exit status 3: no such account"},
		{"a command that prints nothing", "true", 1, "run --password-command: it printed nothing"},
	} {
		var out, messages bytes.Buffer
		exit := run(t.Context(), []string{"load", "--target", target.String(), "--size", "1MB", "--drop", "--password-command", c.command}, &out, &messages)
		if exit != c.exit || !strings.Contains(messages.String(), c.says) || strings.Contains(messages.String(), "hidden") {
			t.Errorf("%s: exit %d, %s", c.why, exit, messages.String())
		}
	}
	if text, err := os.ReadFile(asked); err != nil || len(text) == 0 {
		t.Errorf("the command was not run: %v", err)
	}
}

// TestPasswordCommandOfSQLServer has a SQL Server see whose password it is; without a user it is a token, which is in
// no field of LOGIN7 for names: [MS-TDS] 2.2.6.4, FEDAUTH.
func TestPasswordCommandOfSQLServer(t *testing.T) {
	for _, c := range []struct{ why, user, want string }{
		{"a password", "ds2user", "ds2user"},
		{"a token", "", ""},
	} {
		logins := make(chan tdstest.Login, 100)
		server := tdstest.Start(t, tdstest.Options{Encryption: tdstest.EncryptNothing, Decide: func(l tdstest.Login) tdstest.Decision {
			logins <- l
			return tdstest.Decision{Close: true, Answer: tdstest.Answer(tdstest.Error(18456, 1, 14, "Login failed."), tdstest.Done(tdstest.DoneError))}
		}})
		target := server.URL("DS2")
		if target.User = nil; c.user != "" {
			target.User = url.UserPassword(c.user, "another")
		}
		var out, messages bytes.Buffer
		if exit := run(t.Context(), []string{"verify", "--target", target.String(), "--password-command", "echo secret"}, &out, &messages); exit != 1 {
			t.Errorf("%s: exit %d, %s", c.why, exit, messages.String())
		}
		l := <-logins
		if l.User != c.want || l.Token != (c.user == "") || c.user != "" && l.Password != "secret" {
			t.Errorf("%s: login %+v", c.why, l)
		}
	}
}
