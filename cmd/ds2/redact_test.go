package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNoPasswordInErrors gives a password in every place where it may not be: the error names the flag, and never the
// password.
func TestNoPasswordInErrors(t *testing.T) {
	file := func(line string) string {
		path := filepath.Join(t.TempDir(), "driver.conf")
		require.NoError(t, os.WriteFile(path, []byte("n_threads=1\n"+line+"\n"), 0o600))
		return path
	}
	const url = "postgres://ann:s3cr3t@127.0.0.1:1/ds2"
	for why, c := range map[string]struct {
		args []string
		want string
	}{
		"a config-file line without =":        {[]string{"drive", "--config-file", file("target " + url)}, "line 2: it is not parameter=value"},
		"one with = in the URL only":          {[]string{"drive", "--config-file", file("target: " + url + "?sslmode=disable")}, "line 2: it is not parameter=value"},
		"one that gives a wrong flag the URL": {[]string{"drive", "--config-file", file("n_threads=" + url)}, "--threads"},
		"; in a password":                     {[]string{"drive", "--target", "postgres://ann:x;s3cr3t@127.0.0.1:1/ds2"}, "%3B"},
		"digits and / in a password":          {[]string{"drive", "--target", "postgres://ann:12/s3cr3t@127.0.0.1:1/ds2"}, "%2F"},
		"digits and ? in a password":          {[]string{"drive", "--target", "postgres://ann:12?s3cr3t@127.0.0.1:1/ds2"}, "%3F"},
		"# in a password":                     {[]string{"drive", "--target", "postgres://ann:12#s3cr3t@127.0.0.1:1/ds2"}, "%23"},
		"libpq's form":                        {[]string{"drive", "--target", "host=127.0.0.1 user=ann password=s3cr3t"}, "--target: user and password are given in a URL"},
		"libpq's form with --engine":          {[]string{"drive", "--engine", "postgres", "--target", "host=127.0.0.1 password='a s3cr3t'"}, "--target: "},
		"user:password@host with --engine":    {[]string{"drive", "--engine", "postgres", "--target", "ann:s3cr3t@127.0.0.1"}, "--target: "},
		"user:password@host without":          {[]string{"drive", "--target", "ann:s3cr3t@127.0.0.1"}, "--target: "},
		"a URL as positional argument":        {[]string{"drive", url}, "postgres://ann:***@127.0.0.1:1/ds2"},
		"a URL as command":                    {[]string{url}, "postgres://ann:***@"},
		"a URL as flag":                       {[]string{"drive", "--" + url}, "***"},
		"libpq's form as positional argument": {[]string{"drive", "host=h password=s3cr3t"}, "***"},
		"a URL as the value of another flag":  {[]string{"drive", "--threads", url}, "--threads"},
		"as a size":                           {[]string{"load", "--size", url}, "--size"},
		"as a run id":                         {[]string{"drive", "--target", url, "--run-id", url}, "--run-id"},
		"as a window":                         {[]string{"drive", "--target", url, "--window", url}, "--window"},
		"as a directory":                      {[]string{"report", url}, "***"},
		"in the URL of a Pushgateway":         {[]string{"drive", "--target", url, "--pushgateway", "http://ann:s3cr3t@127.0.0.1:x"}, ""},
		"a server that is not there":          {[]string{"drive", "--target", url}, "127.0.0.1:1/ds2"},
	} {
		code, stdout, stderr := execute(t, c.args...)
		assert.True(t, (code == exitUsage || code == exitFailed) && strings.Contains(stderr, c.want) && !strings.Contains(stdout+stderr, "s3cr3t"), "%s: exit %d, %q, want %q and no password", why, code, stdout+stderr, c.want)
	}
	t.Setenv("DS2_THREADS", url)
	if _, _, stderr := execute(t, "drive", "--target", url); strings.Contains(stderr, "s3cr3t") || !strings.Contains(stderr, "DS2_THREADS") {
		t.Errorf("in a variable: %s", stderr)
	}
}

func TestRedact(t *testing.T) {
	for text, want := range map[string]string{
		`parse "http://ann:a@b@host:x/": invalid port`: `parse "http://ann:***@host:x/": invalid port`,
		`invalid host name "ann:pw@host"`:              `invalid host name "ann:***@host"`,
		`Password = 'a b' user=x`:                      `Password = *** user=x`,
		`--window: 1000s-1200s is outside of the run`:  `--window: 1000s-1200s is outside of the run`,
		`dial tcp 10.0.0.1:5432: connection refused`:   `dial tcp 10.0.0.1:5432: connection refused`,
	} {
		assert.Equal(t, want, redact(text), "redact(%s)", text)
	}
}

// TestHostileRunID: what a terminal obeys is not told back to it.
func TestHostileRunID(t *testing.T) {
	for _, id := range []string{"a\x1b[2J", "\u202eabc"} {
		_, _, stderr := execute(t, "drive", "--target", "postgres://127.0.0.1:1/ds2", "--run-id", id)
		assert.Contains(t, stderr, "--run-id: ")
		assert.False(t, strings.ContainsAny(stderr, "\x1b\u202e"), "%q", stderr)
	}
	fails(t, exitUsage, "--window: 101 windows are too many",
		append(strings.Fields("drive --target postgres://127.0.0.1:1/ds2"), slices.Repeat([]string{"--window", "1s-2s"}, 101)...)...)
}
