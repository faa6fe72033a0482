package postgres_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/localpg/pgtest"
)

// TestRowHash hashes rows with texts of all lengths up to some words here and on the server.
func TestRowHash(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Database(t))
	columns := []string{"n", "a", "b"}
	sql, hash, err := s.RowHash(t.Context(), columns, func(c string) bool { return c != "n" })
	require.NoError(t, err)
	if hash == nil {
		t.Skip("versions before 14 do not hash rows")
	}
	ask := "SELECT " + sql + " FROM (SELECT $1::int AS n, $2::text AS a, $3::varchar AS b) t"
	for length := range 40 {
		text := strings.Repeat("abc-Z9", 7)[:length]
		row := []datagen.Value{{Int: int64(length - 20)}, {Text: []byte(text)}, {}}
		var found int64
		require.NoError(
			t,
			s.DB().QueryRowContext(t.Context(), ask, length-20, text, nil).Scan(&found),
		)
		assert.Equal(t, found, hash(row), "%d bytes", len(text))
	}
}
