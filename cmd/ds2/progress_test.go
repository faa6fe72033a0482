package main

import (
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/progress"
)

func TestBytesText(t *testing.T) {
	for n, want := range map[int64]string{
		// not 1000.0 kB
		0: "0 bytes", 999: "999 bytes", 1000: "1.0 kB", 999_949: "999.9 kB", 999_950: "1.0 MB",
		// no unit beyond
		13_421_772_800: "13.4 GB", 2_000_000_000_000: "2.0 TB", 9e18: "9000000.0 TB",
	} {
		assert.Equal(t, want, bytesText(n), "bytesText(%d)", n)
	}
}

func TestJobLine(t *testing.T) {
	assert.Equal(t, "verify", jobLine("verify", progress.State{Left: -1}, nil))
	deleting := progress.State{Doing: "delete orders", Done: 1, Total: 2, Left: -1}
	assert.Equal(t, "reset: 50 %: delete orders", jobLine("reset", deleting, nil))
}

// TestTerminal shows results in a terminal: as wide as it is, and no word is broken.
func TestTerminal(t *testing.T) {
	words := strings.Fields(must(t, "report", "--output", "text", "../../docs/examples/demo"))
	for _, columns := range []uint16{80, 100, 132} {
		control, terminal, err := pty.Open()
		require.NoError(t, err)
		require.NoError(t, pty.Setsize(terminal, &pty.Winsize{Rows: 40, Cols: columns}))
		shown := make(chan string)
		go func() {
			text, _ := io.ReadAll(control) // ends in an error when the terminal is closed
			shown <- string(text)
		}()
		assert.Equal(
			t,
			exitDone,
			run(t.Context(), []string{"report", "--output", "text", "../../docs/examples/demo"},
				terminal, io.Discard),
		)
		require.NoError(t, terminal.Close())
		text := <-shown
		require.NoError(t, control.Close())
		for line := range strings.Lines(text) {
			width := utf8.RuneCountInString(strings.TrimRight(line, "\r\n"))
			assert.LessOrEqual(t, width, int(columns), "columns of %q", line)
		}
		for _, word := range strings.Fields(text) {
			assert.True(
				t,
				strings.Contains(word, "…") || slices.Contains(words, word),
				"%d columns: %q",
				columns,
				word,
			)
		}
	}
}
