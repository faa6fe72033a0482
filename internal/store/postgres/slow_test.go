package postgres

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
)

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
	s := openStore(t, pgtest.Database(t))
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
