package sqlserver

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/stretchr/testify/require"

	"ds2/internal/store"
)

func TestWrap(t *testing.T) {
	s := open(t, "sqlserver://user:secret@localhost?database=DS2")
	number := func(n int32) error { return mssql.Error{Number: n, Message: "message"} }
	for _, c := range []struct {
		why   string
		err   error
		class store.Class
		code  string
	}{
		{"deadlock", number(1205), store.Deadlock, "1205"},
		{"update conflict of snapshot isolation", number(3960), store.Serialization, "3960"},
		{"lock time-out", number(1222), store.Timeout, "1222"},
		{"wrong password", number(18456), store.Config, "18456"},
		{"no such database", number(4060), store.Config, "4060"},
		{"no such procedure", number(2812), store.Config, "2812"},
		{"log full", number(9002), store.Resource, "9002"},
		{"server shutting down", number(6005), store.Connection, "6005"},
		{"duplicate key, which NEW_CUSTOMER takes care of", number(2627), store.Bug, "2627"},
		{"the first message says why, the last only that it failed",
			mssql.Error{Number: 1750, All: []mssql.Error{{Number: 1205}, {Number: 1750}}}, store.Deadlock, "1205"},
		{"a load into a database of an availability group",
			mssql.Error{Number: 5069, All: []mssql.Error{{Number: 1468}, {Number: 5069}}}, store.Config, "1468"},
		{"a secondary replica", number(976), store.Config, "976"},
		{"no right to DBCC CHECKDB", number(7983), store.Config, "7983"},
		{"a file that the server does not see", number(4860), store.Config, "4860"},
		{"Babelfish's number for many errors", number(33557097), store.Bug, "33557097"},
		{"severity 20 and more closes the connection", mssql.Error{Number: 99, Class: 20}, store.Connection, "99"},
		{"torn answer", mssql.StreamError{InnerError: io.ErrUnexpectedEOF}, store.Connection, ""},
		{"refused connection", fmt.Errorf("open: %w", &net.OpError{Op: "dial", Err: io.EOF}), store.Connection, ""},
		{"interrupted", context.Canceled, store.Connection, ""},
		{"anything else", io.ErrShortWrite, store.Bug, ""},
	} {
		e, ok := s.Wrap("purchase", c.err).(*store.Error)
		if !ok || e.Class != c.class || e.Code != c.code {
			t.Errorf("%s: got %#v, want class %s and code %q", c.why, e, c.class, c.code)
		}
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
	u, err := url.Parse(target)
	require.NoError(t, err)
	s, err := Open(u)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s.(*Store)
}

// TestKeepsNoLog: to discard a log that the server does not keep is no fault.
func TestKeepsNoLog(t *testing.T) {
	backupFailed := mssql.Error{Number: 3013, Message: "BACKUP LOG is terminating abnormally."}
	for number, want := range map[int32]bool{4208: true, 4214: true, 3201: false} {
		e := backupFailed
		e.All = []mssql.Error{{Number: number}, backupFailed}
		require.Equal(t, want, keepsNoLog(e), number)
	}
	require.False(t, keepsNoLog(nil))
}

// TestNumbers names the class of each of Microsoft's numbers that a run or a load may meet, and wants a hint where the
// user can act.
func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		why     string
		class   store.Class
		hint    bool
		numbers []int32
	}{
		{"stopping, starting, recovering, moved, paused", store.Connection, false,
			[]int32{596, 615, 921, 922, 952, 983, 4221, 6005, 17148, 17187, 17188, 17189, 40143, 40197, 40540, 40613,
				42108, 42109}},
		{"no memory, no locks, a limit of Azure's", store.Resource, false,
			[]int32{701, 1204, 10928, 10929, 10936, 40501, 49918, 49919, 49920}},
		{"full", store.Resource, true, []int32{1101, 1105, 9002}},
		{"files that cannot be made", store.Config, true, []int32{1802, 1803, 5123, 5133}},
		{"backups that cannot be made or read", store.Config, true, []int32{3110, 3201, 3202}},
		{"a password against the policy", store.Config, true, []int32{15118}},
		{"no resources for full-text search", store.Resource, true, []int32{30046, 30053}},
		{"a database that cannot be opened, or written to", store.Config, true, []int32{926, 945, 3906}},
		{"the database of the login", store.Config, true, []int32{911, 4060, 4061, 4063}},
	} {
		for _, number := range c.numbers {
			if class, hint := classOf(number); class != c.class || (hint != "") != c.hint {
				t.Errorf("%s: %d is of class %s with the hint %q", c.why, number, class, hint)
			}
		}
	}
}
