package postgres

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
)

// TestBackslashes copies texts with backslashes, which come in pieces of every size, and reads them back.
func TestBackslashes(t *testing.T) {
	conn := connection(t, pgtest.Database(t), "CREATE TABLE words (id integer, word text)")
	const word = `\a\\b\n\`
	csv := "1," + word + "\n2,\n3,plain\n"
	for how, rows := range map[string]io.Reader{
		"at once":      strings.NewReader(csv),
		"byte by byte": iotest.OneByteReader(strings.NewReader(csv)),
		"with the end": iotest.DataErrReader(strings.NewReader(csv)),
	} {
		n, err := copyFrom(t.Context(), conn, "words", rows)
		require.True(t, err == nil && n == 3, "%s: %d rows, %v", how, n, err)
		const same = `SELECT count(*) FROM words
			WHERE id = 1 AND word = $1 OR id = 2 AND word IS NULL OR id = 3 AND word = 'plain'`
		var good int
		err = conn.QueryRow(t.Context(), same, word).Scan(&good)
		assert.True(t, err == nil && good == 3, "%s: %d of 3 rows are as they were, %v", how, good, err)
		_, err = conn.Exec(t.Context(), "TRUNCATE words")
		require.NoError(t, err)
	}
}
