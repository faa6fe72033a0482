package sqlserver

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
	"ds2/internal/tdstest"
)

func TestWrap(t *testing.T) {
	s := open(t, "sqlserver://user:secret@localhost?database=DS2")
	for _, c := range []struct {
		why   string
		err   error
		class store.Class
		code  string
	}{
		{"deadlock", mssql.Error{Number: 1205}, store.Deadlock, "1205"},
		{
			"duplicate key, which NEW_CUSTOMER takes care of",
			mssql.Error{Number: 2627},
			store.Bug,
			"2627",
		},
		{
			"the first message says why, the last only that it failed",
			mssql.Error{Number: 1750, All: []mssql.Error{{Number: 1205}, {Number: 1750}}},
			store.Deadlock, "1205",
		},
		{
			"a load into a database of an availability group",
			mssql.Error{Number: 5069, All: []mssql.Error{{Number: 1468}, {Number: 5069}}},
			store.Config, "1468",
		},
		{"fatal, whatever it is", mssql.Error{Number: 99, Class: 20}, store.Resource, "99"},
		{"the network's", mssql.Error{Number: 4014, Class: 20}, store.Connection, "4014"},
		{
			"a log whose drive failed", mssql.Error{Number: 9001, Class: 21}, store.Resource, "9001",
		},
		{"torn answer", mssql.StreamError{InnerError: io.ErrUnexpectedEOF}, store.Connection, ""},
		{
			"refused connection", fmt.Errorf("open: %w", &net.OpError{Op: "dial", Err: io.EOF}),
			store.Connection, "",
		},
		{"interrupted", context.Canceled, store.Connection, ""},
		{"anything else", io.ErrShortWrite, store.Bug, ""},
	} {
		e, ok := s.Wrap("purchase", c.err).(*store.Error)
		require.True(t, ok, c.why)
		require.Equal(t, []any{c.class, c.code}, []any{e.Class, e.Code}, c.why)
	}
	require.NoError(t, s.Wrap("purchase", nil))
}

func TestOpen(t *testing.T) {
	for _, c := range []struct{ target, label, user string }{
		{"sqlserver://u:p@h:1444?database=DS2_1", "h:1444/DS2_1", "u"},
		{"sqlserver://u:p@h", "h:1433/DS2", "u"},
		{"sqlserver://u:p@h/INST?database=DS2", `h\INST/DS2`, "u"},
		{"sqlserver://localhost?database=DS2", "localhost:1433/DS2", ""},
	} {
		s := open(t, c.target)
		require.Equal(t, []string{c.label, c.user}, []string{s.Label(), s.config.User}, c.target)
	}
	u, _ := url.Parse("sqlserver://u:secret@h?encrypt=perhaps")
	_, err := Open(u)
	require.Error(t, err, "a wrong option")
	require.NotContains(t, err.Error(), "secret")
}

func open(t testing.TB, target string) *Store {
	t.Helper()
	return pgtest.Open(t, Open, target).(*Store)
}

// TestKeepsNoLog: to discard a log that the server does not keep is no fault.
func TestKeepsNoLog(t *testing.T) {
	for number, keeps := range map[int32]bool{4208: false, 4214: false, 3201: true} {
		failed := tdstest.Failed(
			tdstest.Error(number, 1, 16, "why"),
			tdstest.Error(3013, 1, 16, "BACKUP LOG failed"),
		)
		err := answering(
			t,
			map[string][]byte{askWhat: sqlServer2022, "BACKUP LOG": failed},
		).DiscardLog(t.Context())
		require.Equal(t, keeps, err != nil, "%d: %v", number, err)
	}
}

// TestNumbers names the class of each of Microsoft's numbers that a run or a load may meet, and
// wants a hint where the user can act.
func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		why     string
		class   store.Class
		hint    bool
		numbers []int32
	}{
		{"deadlock", store.Deadlock, false, []int32{1205}},
		{"update conflict of snapshot isolation", store.Serialization, false, []int32{3960}},
		{"lock time-out", store.Timeout, false, []int32{1222}},
		{"Babelfish's number for many errors", store.Bug, true, []int32{babelfishUnmapped}},
		{"no such procedure, a secondary replica, no right to DBCC CHECKDB, a file that the server does not see, a " +
			"wrong password", store.Config, true, []int32{2812, 976, 7983, 4860, 18456}},
		{
			"stopping, starting, recovering, moved, paused", store.Connection, false,
			[]int32{
				596, 615, 921, 922, 952, 983, 4221, 6005, 17148, 17187, 17188, 17189, 40143, 40197, 40540, 40613,
				42108, 42109,
			},
		},
		{
			"no memory, no locks, a limit of Azure's", store.Resource, false,
			[]int32{701, 1204, 10928, 10929, 10936, 40501, 49918, 49919, 49920},
		},
		{"full", store.Resource, true, []int32{1101, 1105, 9002}},
		{"files that cannot be made", store.Config, true, []int32{1802, 1803, 5123, 5133}},
		{"backups that cannot be made or read", store.Config, true, []int32{3110, 3201, 3202}},
		{"a password against the policy", store.Config, true, []int32{15118}},
		{"no resources for full-text search", store.Resource, true, []int32{30046, 30053}},
		{
			"a database that cannot be opened, or written to", store.Config, true,
			[]int32{926, 945, 3906},
		},
		{"the database of the login", store.Config, true, []int32{911, 4060, 4061, 4063}},
	} {
		for _, number := range c.numbers {
			cause := causes.Find(fmt.Sprint(number))
			require.Equal(t, c.class, cause.Class, "%s: %d", c.why, number)
			require.Equal(t, c.hint, cause.Hint != "", "%s: %d: %q", c.why, number, cause.Hint)
		}
	}
}

// TestTableOfNumbers: each line has a class that there is, and each number stands once.
func TestTableOfNumbers(t *testing.T) {
	for number, c := range causes {
		require.Contains(t, store.Classes, c.Class, number)
	}
	require.Panics(t, func() { store.ReadCauses("bug\t1 2\nconfig\t2\n") })
}

// TestSizesOnBabelfish: what tables take is asked for by PostgreSQL's function there, since
// Babelfish has no views that say so; an answer of zero bytes would be taken for a size.
func TestSizesOnBabelfish(t *testing.T) {
	s := answering(
		t,
		map[string][]byte{
			"pg_total_relation_size": cells("orders", "table", "with its indexes", "4096"),
		},
	)
	s.server = &server{babelfish: true}
	placed, err := s.Placement(t.Context())
	require.NoError(t, err)
	require.Equal(
		t,
		[]store.Placed{{Name: "orders", Kind: "table", Place: "with its indexes", Bytes: 4096}},
		placed,
	)
}

// TestHintOfBabelfish: the number that stands for many errors says nothing of what to do about one
// of them.
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
