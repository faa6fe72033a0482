package main

import (
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
		{"a user of its own", "sqlserver://u:p@localhost?database=DS2", "u", "p"},
		{"a user without a password", "sqlserver://u@localhost?database=DS2", "u", ""},
	} {
		u, err := url.Parse(c.target)
		require.NoError(t, err)
		got := asSQLCmd(u)
		if password, _ := got.User.Password(); got.User.Username() != c.user || password != c.password {
			t.Errorf("%s: user %q with password %q, want %q with %q", c.why, got.User.Username(), password, c.user,
				c.password)
		}
		assert.True(t, u.String() == c.target, "%s: the caller's URL became %s", c.why, u.Redacted())
	}
	t.Setenv("SQLCMDUSER", "")
	if u := asSQLCmd(&url.URL{Scheme: "sqlserver", Host: "localhost"}); u.User != nil {
		t.Errorf("without SQLCMDUSER: %s", u.Redacted())
	}
}
