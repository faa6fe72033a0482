package main

import (
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"ds2/internal/texttest"
)

// The certificates that SQL Server makes for itself need a setting of the whole program's.
func TestNegativeSerialNumbersAreTaken(t *testing.T) {
	info, ok := debug.ReadBuildInfo()
	assert.True(t, ok && slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool {
		return s.Key == "DefaultGODEBUG" && strings.Contains(s.Value, "x509negativeserial=1")
	}), "the program is built with %v", info.Settings)
}

func TestAsSQLCmd(t *testing.T) {
	t.Setenv("SQLCMDUSER", "sa")
	t.Setenv("SQLCMDPASSWORD", "p@ss/w;ord")
	for _, c := range []struct{ why, target, user, password string }{
		{"no user", "sqlserver://localhost?database=DS2", "sa", "p@ss/w;ord"},
		{"a separate user", "sqlserver://u:p@localhost?database=DS2", "u", "p"},
		{"a user without a password", "sqlserver://u@localhost?database=DS2", "u", ""},
	} {
		u := mustParse(t, c.target)
		got := asSQLCmd(u)
		password, _ := got.User.Password()
		assert.Equal(t, c.user, got.User.Username(), c.why)
		assert.Equal(t, c.password, password, c.why)
		assert.True(
			t,
			u.String() == c.target,
			"%s: the caller's URL became %s",
			c.why,
			u.Redacted(),
		)
	}
	t.Setenv("SQLCMDUSER", "")
	assert.Nil(
		t,
		asSQLCmd(&url.URL{Scheme: "sqlserver", Host: "localhost"}).User,
		"without SQLCMDUSER",
	)
}

// TestExperimental: help, preflight and record say what is yet to be proven of SQL Server.
func TestExperimental(t *testing.T) {
	const proof = "experimental: not yet run on Microsoft's server"
	assert.True(t, proofs["sqlserver"] == proof && proofs["postgres"] == "", "proofs %v", proofs)
	for _, command := range []string{"drive", "preflight", "load"} {
		assert.Contains(t, texttest.Flat(must(t, command, "--help")), proof)
	}
}
