package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNoPasswordInErrors gives a password in every place where it may not be: the error names the flag, and never the password.
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
		if code != exitUsage && code != exitFailed || !strings.Contains(stderr, c.want) || strings.Contains(stdout+stderr, "s3cr3t") {
			t.Errorf("%s: exit %d, %q, want %q and no password", why, code, stdout+stderr, c.want)
		}
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

// TestBounds has numbers that mean nothing.
func TestBounds(t *testing.T) {
	for args, want := range map[string]string{
		"drive --think-time 5e9":                         "--think-time: invalid duration",
		"drive --run-time 1e300":                         "--run-time: invalid duration",
		"drive --warmup-time 2000000h":                   "--warmup-time: invalid duration",
		"drive --ramp-rate 1e-300":                       "--ramp-rate is 1e-300",
		"drive --rate 1e-300":                            "--rate",
		"drive --user-offset 9223372036854775807":        "--user-offset is 9223372036854775807: it must be 0 to 1000000000",
		"drive --run-id =cmd()":                          "--run-id: ",
		"drive --run-id a\x1b[2J":                        "--run-id: ",
		"drive --run-id \u202eabc":                       "--run-id: ",
		"drive" + strings.Repeat(" --window 1s-2s", 101): "--window: 101 windows are too many",
		"bench --runs 1000000":                           "--runs is 1000000",
		"tune --max-threads 100000000":                   "--max-threads is 100000000",
	} {
		args := append(strings.Fields(args), "--target", "postgres://127.0.0.1:1/ds2")
		code, _, stderr := execute(t, args...)
		if code != exitUsage || !strings.Contains(stderr, want) || strings.ContainsAny(stderr, "\x1b\u202e") {
			t.Errorf("ds2 %.60s: exit %d, %q, want %q", strings.Join(args, " "), code, stderr, want)
		}
	}
}
