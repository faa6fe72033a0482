package postgres

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
)

func TestPlanOnce(t *testing.T) {
	show := Statement{"show", "SELECT current_setting('plan_cache_mode')"}
	for set, want := range map[string]string{
		"": "force_generic_plan", "?plan_cache_mode=force_custom_plan": "force_custom_plan",
	} {
		c, err := pgtest.Open(t, Open, pgtest.Database(t)+set).(*Store).ConnectUser(t.Context(), show)
		require.NoError(t, err)
		defer c.Close(t.Context())
		c.Call(&show)
		require.NoError(t, c.Each(t.Context(), false, func(row [][]byte) bool {
			require.Equal(t, want, string(row[0]), set)
			return true
		}))
	}
}

func TestClassify(t *testing.T) {
	for code, want := range map[string]store.Class{
		"40P01": store.Deadlock,
		"40001": store.Serialization,
		"55P03": store.Timeout,
		"57014": store.Timeout,
		"25006": store.Connection, // the server became a standby: another may be the primary by now
		"40003": store.Connection, // unknown whether it was committed
		"57P01": store.Connection, // pg_terminate_backend, shutdown
		"57P03": store.Connection, // starting up
		"08006": store.Connection,
		"53100": store.Resource, // disk full
		"53300": store.Resource, // too many connections
		"53400": store.Resource, // of the class, not named
		"28P01": store.Config,   // wrong password
		"3D000": store.Config,   // no database
		"42P01": store.Config,   // no table
		"42883": store.Config,   // no function
		"23505": store.Bug,      // unique violation
		"XX000": store.Bug,
		"":      store.Bug,
	} {
		if got, _ := classify(code); got != want {
			t.Errorf("%s: class %s, want %s", code, got, want)
		}
	}
}

// TestLost: what ends a connection may be damage, what only ends a statement is not.
func TestLost(t *testing.T) {
	for code, want := range map[string]bool{
		"57P02": true, // another process broke down
		"08006": true,
		"57014": false, // the statement was cancelled
		"XX001": false, // damage, as the server says it
	} {
		if got := lostConnection(&pgconn.PgError{Code: code}); got != want {
			t.Errorf("%s: %v, want %v", code, got, want)
		}
	}
}

// slowConn is a connection on a busy machine: a write returns long after the server has answered it.
type slowConn struct{ *net.TCPConn }

func (c slowConn) Write(p []byte) (int, error) {
	n, err := c.TCPConn.Write(p)
	time.Sleep(50 * time.Millisecond)
	return n, err
}

// TestConnectOnABusyMachine connects where pgconn's reader in the background is at work when the connection is taken
// over, and must not lose the server's answers to it.
func TestConnectOnABusyMachine(t *testing.T) {
	s := pgtest.Open(t, Open, pgtest.Database(t)).(*Store)
	s.config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return slowConn{conn.(*net.TCPConn)}, nil
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	// The database has no tables, so the statement cannot be prepared: the server's answer that says so is wanted.
	session, err := s.ConnectUser(ctx, Statement{"missing", "SELECT * FROM missing"})
	if err == nil {
		session.Close(ctx)
		t.Fatal("a statement on a table that does not exist was prepared")
	}
	require.NoError(t, ctx.Err(), "the server's answer was lost: %v", err)

	one := Statement{"one", "SELECT 1"}
	session, err = s.ConnectUser(ctx, one)
	require.NoError(t, err)
	defer session.Close(ctx)
	session.Call(&one)
	rows := 0
	require.NoError(t, session.Each(ctx, false, func([][]byte) bool { rows++; return true }), "the first call")
	require.Equal(t, 1, rows)
}
