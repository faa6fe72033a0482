package result

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLogIsTurnedOver writes ten times as much as a log holds, from many goroutines.
func TestLogIsTurnedOver(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, LogFile)
	older := filepath.Join(dir, OlderLogFile)
	l, err := createLog(path)
	require.NoError(t, err)
	line := strings.Repeat("x", 99) + "\n"
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 * maxLog / len(line) / 8 {
				_, err := l.Write([]byte(line))
				assert.NoError(t, err)
			}
		})
	}
	wg.Wait()
	require.NoError(t, l.turnOver())
	_, err = fmt.Fprint(l, "the last")
	require.NoError(t, err)
	require.NoError(t, l.close())
	last := ReadLog(dir)
	require.Greater(t, len(last), 1, "of both files")
	assert.Equal(t, []string{line[:99], "the last"}, last[len(last)-2:])
	for _, name := range []string{path, older} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.LessOrEqual(t, len(text), maxLog, name)
		assert.Empty(
			t,
			strings.TrimSuffix(strings.ReplaceAll(string(text), line, ""), "the last"),
			"cut lines",
		)
		assert.Equal(
			t,
			name == path,
			strings.HasSuffix(string(text), "the last"),
			"the last message in %s",
			name,
		)
	}
}
