package main

import (
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTerminal shows results in a terminal: as wide as it is, and no word is broken.
func TestTerminal(t *testing.T) {
	words := must(t, "report", "--output", "text", "../../docs/examples/demo")
	for _, columns := range []uint16{80, 100, 132} {
		control, terminal, err := pty.Open()
		require.NoError(t, err)
		require.NoError(t, pty.Setsize(terminal, &pty.Winsize{Rows: 40, Cols: columns}))
		shown := make(chan string)
		go func() {
			text, _ := io.ReadAll(control) // ends in an error when the terminal is closed
			shown <- string(text)
		}()
		assert.Equal(t, exitDone, run(t.Context(), []string{"report", "--output", "text", "../../docs/examples/demo"},
			terminal, io.Discard))
		require.NoError(t, terminal.Close())
		text := <-shown
		require.NoError(t, control.Close())
		for line := range strings.Lines(text) {
			width := utf8.RuneCountInString(strings.TrimRight(line, "\r\n"))
			assert.LessOrEqual(t, width, int(columns), "columns of %q", line)
		}
		for _, word := range strings.Fields(text) {
			assert.True(t, strings.Contains(word, "…") || strings.Contains(words, word), "%d columns: %q", columns,
				word)
		}
	}
}
