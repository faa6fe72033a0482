package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestNoPasswordInErrors gives a password in every place where it may not be: the error names the flag, and never the
// password.
func TestNoPasswordInErrors(t *testing.T) {
	file := func(line string) string {
		return "--config-file " + textFile(t, "driver.conf", "n_threads=1\n"+line+"\n")
	}
	const url = "postgres://ann:s3cr3t@127.0.0.1:1/ds2"
	const local = "@127.0.0.1:1/ds2"
	for why, c := range map[string]struct{ args, want string }{
		"a config-file line without =": {"drive " + file("target "+url), "line 2: it is not parameter=value"},
		"one with = in the URL only": {"drive " + file("target: "+url+"?sslmode=disable"),
			"line 2: it is not parameter=value"},
		"one that gives a wrong flag the URL": {"drive " + file("n_threads="+url), "--threads"},
		"; in a password":                     {"drive --target postgres://ann:x;s3cr3t" + local, "%3B"},
		"digits and / in a password":          {"drive --target postgres://ann:12/s3cr3t" + local, "%2F"},
		"digits and ? in a password":          {"drive --target postgres://ann:12?s3cr3t" + local, "%3F"},
		"# in a password":                     {"drive --target postgres://ann:12#s3cr3t" + local, "%23"},
		"libpq's form": {"drive --target 'host=127.0.0.1 user=ann password=s3cr3t'",
			"--target: user and password are given in a URL"},
		"libpq's form with --engine": {`drive --engine postgres --target "host=127.0.0.1 password='a s3cr3t'"`,
			"--target: "},
		"user:password@host with --engine":    {"drive --engine postgres --target ann:s3cr3t@127.0.0.1", "--target: "},
		"user:password@host without":          {"drive --target ann:s3cr3t@127.0.0.1", "--target: "},
		"a URL as positional argument":        {"drive " + url, "postgres://ann:***@127.0.0.1:1/ds2"},
		"a URL as command":                    {url, "postgres://ann:***@"},
		"a URL as flag":                       {"drive --" + url, "***"},
		"libpq's form as positional argument": {"drive 'host=h password=s3cr3t'", "***"},
		"a URL as the value of another flag":  {"drive --threads " + url, "--threads"},
		"as a size":                           {"load --size " + url, "--size"},
		"as a run id":                         {"drive --target " + url + " --run-id " + url, "--run-id"},
		"as a window":                         {"drive --target " + url + " --window " + url, "--window"},
		"as a directory":                      {"report " + url, "***"},
		"in the URL of a Pushgateway": {"drive --target " + url +
			" --pushgateway http://ann:s3cr3t@127.0.0.1:x", ""},
		"a server that is not there": {"drive --target " + url, "127.0.0.1:1/ds2"},
	} {
		code, stdout, stderr := execute(t, words("%s", c.args)...)
		assert.True(t, code == exitUsage || code == exitFailed, "%s: exit %d", why, code)
		assert.Contains(t, stderr, c.want, why)
		assert.NotContains(t, stdout+stderr, "s3cr3t", why)
	}
	t.Setenv("DS2_THREADS", url)
	_, _, stderr := execute(t, "drive", "--target", url)
	assert.Contains(t, stderr, "DS2_THREADS")
	assert.NotContains(t, stderr, "s3cr3t", "in a variable")
}

func TestRedact(t *testing.T) {
	for text, want := range map[string]string{
		`parse "http://ann:a@b@host:x/": invalid port`: `parse "http://ann:***@host:x/": invalid port`,
		`invalid host name "ann:pw@host"`:              `invalid host name "ann:***@host"`,
		`Password = 'a b' user=x`:                      `Password = *** user=x`,
		`Get "http://h:1/m?token=s3cr3t&x=y": refused`: `Get "http://h:1/m?***": refused`,
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
		words("drive --target postgres://127.0.0.1:1/ds2%s", strings.Repeat(" --window 1s-2s", 101))...)
}
