package sqlserver

import (
	"strings"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/stretchr/testify/require"

	"ds2/internal/store"
)

// TestSizesOnBabelfish: what tables take is asked for by PostgreSQL's function there, since Babelfish has no views that
// say so; an answer of zero bytes would be taken for a size.
func TestSizesOnBabelfish(t *testing.T) {
	s := answering(t, map[string][]byte{"pg_total_relation_size": cells("orders", "table", "with its indexes", "4096")})
	s.server = &server{babelfish: true}
	placed, err := s.Placement(t.Context())
	require.NoError(t, err)
	require.Equal(t, []store.Placed{{Name: "orders", Kind: "table", Place: "with its indexes", Bytes: 4096}}, placed)
}

// TestHintOfBabelfish: the number that stands for many errors says nothing of what to do about one of them.
func TestHintOfBabelfish(t *testing.T) {
	s := open(t, "sqlserver://user:secret@localhost?database=DS2")
	for _, said := range []string{
		`Cannot open database "ds2" requested by the login. The login failed`, "permission denied for schema ds2_dbo",
		"function sys.dm_io_virtual_file_stats(smallint, unknown) does not exist", `relation "ds2_info" does not exist`,
	} {
		text := s.Wrap("look", mssql.Error{Number: babelfishUnmapped, Message: said}).Error()
		require.Equal(t, 1, strings.Count(text, said), text)
		require.NotContains(t, text, "ds2 load", text)
		require.Contains(t, text, "to every error that SQL Server has none for", text)
	}
}
