package main

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestInvocation: the record has the command as it was typed and every flag, without the passwords.
func TestInvocation(t *testing.T) {
	args := words(
		"drive --target postgres://ann:s3cr3t@a/ds2;postgres://ben:s3cr3t@b/ds2?sslmode=disable " +
			"--limit 'order p95 < 200ms' --n_threads=8 --power 'ipmitool -H bmc -U admin -P s3cr3t dcmi power reading' " +
			"--password_Command 'echo s3cr3t'",
	)
	root := newRoot()
	root.SetArgs(args)
	drive, _, err := root.Find(args)
	require.NoError(t, err)
	var line, threads, ramp string
	drive.RunE = func(cmd *cobra.Command, _ []string) error {
		c := invocation(cmd, cmd.Flags(), nil)
		line = c.Line
		threads = c.Flags["threads"]
		ramp = c.Flags["ramp-rate"]
		for name, value := range c.Flags {
			assert.NotContains(t, value, "s3cr3t", "--%s is recorded", name)
		}
		return nil
	}
	root.Annotations = map[string]string{typed: commandLine(args)}
	require.NoError(t, root.ExecuteContext(t.Context()))
	want := "ds2 drive --target 'postgres://ann:***@a/ds2;postgres://ben:***@b/ds2?sslmode=disable' " +
		"--limit 'order p95 < 200ms' --n_threads=8 --power 'ipmitool -H bmc -U admin -P *** dcmi power reading' " +
		"--password_Command ***"
	assert.True(t, line == want && threads == "8" && ramp == "10",
		"recorded as\n%s\nwant\n%s\n--threads %s, --ramp-rate %s", line, want, threads, ramp)
}

func TestPasswordsAreTakenOutOfArguments(t *testing.T) {
	for _, c := range []struct{ given, left string }{
		{"postgres://u:se:cr@et@h/db", "postgres://u:********@h/db"},
		{"--target=sqlserver://sa:pw@h?database=DS2", "--target=sqlserver://sa:**@h?database=DS2"},
		{
			"postgres://h/db?user=u&password=pw&sslmode=disable",
			"postgres://h/db?user=u&password=**&sslmode=disable",
		},
		{"postgres://u@h/db", "postgres://u@h/db"},                 // no password
		{"--driver-password-file", "--driver-password-file"},       // a flag, not a password
		{"http://127.0.0.1:9090/a@b", "http://127.0.0.1:9090/a@b"}, // a port, not a password
	} {
		original := string([]byte(c.given)) // not a constant, whose memory cannot be written
		own := takeArgs([]string{original})
		assert.Equal(t, c.given, own[0])
		assert.Equal(t, c.left, original)
	}
}

// The system's own view of a running ds2, which here waits for the answer of a server that gives
// none.
func TestPasswordIsNotInTheProcessTitle(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	p := begin(t, words("verify --target postgres://u:geheim@%s/db", silent.Addr())...)
	connection, err := silent.Accept() // by now the arguments have been read
	require.NoError(t, err)
	defer connection.Close()
	assert.Contains(
		t,
		read(t, fmt.Sprintf("/proc/%d/cmdline", p.Process.Pid)),
		"postgres://u:******@",
	)
}

// TestNoPasswordInErrors gives a password in every place where it may not be: the error names the
// flag, and never the password.
func TestNoPasswordInErrors(t *testing.T) {
	file := func(line string) string {
		return "--config-file " + textFile(t, "driver.conf", "n_threads=1\n"+line+"\n")
	}
	const url = "postgres://ann:s3cr3t@127.0.0.1:1/ds2"
	const local = "@127.0.0.1:1/ds2"
	for why, c := range map[string]struct{ args, want string }{
		"a config-file line without =": {
			"drive " + file("target "+url), "line 2: it is not parameter=value",
		},
		"one with = in the URL only": {
			"drive " + file("target: "+url+"?sslmode=disable"),
			"line 2: it is not parameter=value",
		},
		"one that gives a wrong flag the URL": {"drive " + file("n_threads="+url), "--threads"},
		"; in a password":                     {"drive --target postgres://ann:x;s3cr3t" + local, "%3B"},
		"digits and / in a password":          {"drive --target postgres://ann:12/s3cr3t" + local, "%2F"},
		"digits and ? in a password":          {"drive --target postgres://ann:12?s3cr3t" + local, "%3F"},
		"# in a password":                     {"drive --target postgres://ann:12#s3cr3t" + local, "%23"},
		"libpq's form": {
			"drive --target 'host=127.0.0.1 user=ann password=s3cr3t'",
			"--target: user and password are given in a URL",
		},
		"libpq's form with --engine": {
			`drive --engine postgres --target "host=127.0.0.1 password='a s3cr3t'"`,
			"--target: ",
		},
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
		_, _, stderr := execute(
			t,
			"drive",
			"--target",
			"postgres://127.0.0.1:1/ds2",
			"--run-id",
			id,
		)
		assert.Contains(t, stderr, "--run-id: ")
		assert.False(t, strings.ContainsAny(stderr, "\x1b\u202e"), "%q", stderr)
	}
	fails(
		t,
		exitUsage,
		"--window: 101 windows are too many",
		words(
			"drive --target postgres://127.0.0.1:1/ds2%s",
			strings.Repeat(" --window 1s-2s", 101),
		)...)
}
