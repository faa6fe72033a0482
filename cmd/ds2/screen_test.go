package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// onTerminal runs a command line in a terminal of 80 columns, and gives its exit code and all that
// it showed.
func onTerminal(t *testing.T, args ...string) (code int, shown string) {
	t.Helper()
	control, terminal, err := pty.Open()
	require.NoError(t, err)
	require.NoError(t, pty.Setsize(terminal, &pty.Winsize{Rows: 40, Cols: 80}))
	all := make(chan string)
	go func() {
		text, _ := io.ReadAll(control) // ends in an error when the terminal is closed
		all <- string(text)
	}()
	code = run(t.Context(), args, terminal, terminal)
	require.NoError(t, terminal.Close())
	shown = <-all
	require.NoError(t, control.Close())
	return code, strings.ReplaceAll(shown, "\r\n", "\n")
}

// TestEightyColumns shows texts of all kinds on a terminal: no line is wider, no name is obeyed,
// and colours are left out where they are not wanted.
func TestEightyColumns(t *testing.T) {
	hostile := textFile(t, "x.yaml", "runs: 5\nconfigurations:\n"+
		"  \"a\\e[2J\\u202Ecod with a long name\": {target: 'postgres://db1/ds2'}\n"+
		"  \"b with a name that is not short either\": {target: 'postgres://db2/ds2'}\n")
	for _, c := range []struct {
		args   string
		code   int
		colour bool
	}{
		{"sizes", exitDone, false},
		{"sizes --workload mailbox --capacity 2TB", exitDone, false},
		{"experiment --plan --out none " + hostile, exitDone, false},
		{"config drive --target postgres://u:p@h/d", exitDone, false},
		{
			"drive --target postgres://h/d --power log:nowhere --limit 'order p95 > 500 ms'",
			exitUsage, true,
		},
		{"compare --fail-if 'tps < 5 %' a b", exitUsage, true},
		{
			"preflight --target postgres://127.0.0.1:1/ds2 --metrics-addr '' --out none",
			exitVerdict, true,
		},
		{"drive --help=all", exitDone, false},
	} {
		for _, without := range []string{"", "1"} {
			t.Setenv("NO_COLOR", without)
			t.Setenv("TERM", "xterm")
			code, shown := onTerminal(t, words("%s", c.args)...)
			require.Equal(t, c.code, code, "%s: %s", c.args, shown)
			plain := strings.NewReplacer(failed.colour, "", warning.colour, "", uncoloured, "").
				Replace(shown)
			assert.Equal(
				t,
				c.colour && without == "",
				plain != shown,
				"%s: colours: %q",
				c.args,
				shown,
			)
			for line := range strings.Lines(plain) {
				line = strings.TrimSuffix(line, "\n")
				assert.LessOrEqual(t, utf8.RuneCountInString(line), 80, "%s: %q", c.args, line)
				obeyed := func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf) }
				assert.False(t, strings.ContainsFunc(line, obeyed), "%s: %q", c.args, line)
			}
		}
	}
}

func TestBrokenLine(t *testing.T) {
	for line, want := range map[string][]string{
		"":                        {""},
		"short":                   {"short"},
		"0123456789":              {"0123456789"},
		"012345678 0":             {"012345678", "  0"},
		"  12345 78 01 3":         {"  12345 78", "    01 3"},
		"0123456789012 x":         {"0123456789012", "  x"},
		"x 0123456789012":         {"x", "  0123456789012"},
		"ä ö ü ä ö ü":             {"ä ö ü ä ö", "  ü"},
		"            of a column": {"            of a column"},
	} {
		assert.Equal(t, want, brokenLine(line, 10), "%q", line)
	}
}

// TestScreen writes pieces of lines as one, and takes a drawn line away before another.
func TestScreen(t *testing.T) {
	var shown bytes.Buffer
	s := screenOn(&shown)
	io.WriteString(s, "one\x1b")
	assert.Empty(t, shown.String())
	io.WriteString(s, " line\nand ")
	s.draw("5 %")
	say(s, note, ": told")
	s.flush()
	assert.Equal(t, "one\\x1b line\n"+redraw+"5 %"+redraw+"note: told\nand \n", shown.String())
}
