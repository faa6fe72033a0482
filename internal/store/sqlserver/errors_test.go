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
	if s.Wrap("purchase", nil) != nil {
		t.Error("no error is wrapped into one")
	}
}

func TestOpen(t *testing.T) {
	for _, c := range []struct{ target, label, user string }{
		{"sqlserver://u:p@h:1444?database=DS2_1", "h:1444/DS2_1", "u"},
		{"sqlserver://u:p@h", "h:1433/DS2", "u"},
		{"sqlserver://u:p@h/INST?database=DS2", `h\INST/DS2`, "u"},
		{"sqlserver://localhost?database=DS2", "localhost:1433/DS2", ""},
	} {
		s := open(t, c.target)
		if s.Label() != c.label || s.config.User != c.user {
			t.Errorf("%s: label %s, user %s; want %s, %s", c.target, s.Label(), s.config.User, c.label, c.user)
		}
	}
	u, _ := url.Parse("sqlserver://u:secret@h?encrypt=perhaps")
	if _, err := Open(u); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("a wrong option: got error %v, want one without the password", err)
	}
}

func open(t testing.TB, target string) *Store {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(u)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s.(*Store)
}
