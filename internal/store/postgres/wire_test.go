package postgres

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/fuzztest"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
	"ds2/schema"
)

func TestPlanOnce(t *testing.T) {
	show := schema.Statement{Name: "show", SQL: "SELECT current_setting('plan_cache_mode')"}
	for set, want := range map[string]string{
		"": "force_generic_plan", "?plan_cache_mode=force_custom_plan": "force_custom_plan",
	} {
		c, err := pgtest.Open(t, Open, pgtest.Database(t)+set).(*Store).ConnectUser(
			t.Context(),
			show,
		)
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
		got := causes.Find(code).Class
		assert.Equal(t, want, got, code)
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
		assert.Equal(t, want, lostConnection(&pgconn.PgError{Code: code}), code)
	}
}

// slowConn is a connection on a busy machine: a write returns long after the server has answered
// it.
type slowConn struct{ *net.TCPConn }

func (c slowConn) Write(p []byte) (int, error) {
	n, err := c.TCPConn.Write(p)
	time.Sleep(50 * time.Millisecond)
	return n, err
}

// TestConnectOnABusyMachine connects where pgconn's reader in the background is at work when the
// connection is taken over, and must not lose the server's answers to it.
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
	// The database has no tables, so the statement cannot be prepared: the server's answer that
	// says so is wanted.
	session, err := s.ConnectUser(ctx, schema.Statement{Name: "missing", SQL: "SELECT * FROM missing"})
	if err == nil {
		session.Close(ctx)
		t.Fatal("a statement on a table that does not exist was prepared")
	}
	require.NoError(t, ctx.Err(), "the server's answer was lost: %v", err)

	one := schema.Statement{Name: "one", SQL: "SELECT 1"}
	session, err = s.ConnectUser(ctx, one)
	require.NoError(t, err)
	defer session.Close(ctx)
	session.Call(&one)
	rows := 0
	require.NoError(t, session.Each(ctx, false, func([][]byte) bool {
		rows++
		return true
	}), "the first call")
	require.Equal(t, 1, rows)
}

// echo is a connection whose other end sends back what comes.
func echo(t *testing.T) net.Conn {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() })
	go func() {
		if conn, err := listener.Accept(); err == nil {
			io.Copy(conn, conn)
			conn.Close()
		}
	}()
	conn, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn
}

// TestDirect sends messages that fit into the socket's buffer and one that does not, and reads the
// answers.
func TestDirect(t *testing.T) {
	socket := directConn(echo(t))
	for _, size := range []int{1, 4096, 1 << 20} {
		sent := bytes.Repeat([]byte{byte(size)}, size)
		_, err := socket.Write(sent)
		require.NoError(t, err)
		got := make([]byte, size)
		_, err = io.ReadFull(socket, got)
		assert.True(t, err == nil && bytes.Equal(got, sent), "%d bytes: %v", size, err)
	}
	local, other := net.Pipe() // no socket
	defer other.Close()
	assert.Same(t, local, directConn(local), "a connection without a socket is used itself")
}

// TestWatch ends a read with its context, and reads on with the next.
func TestWatch(t *testing.T) {
	conn := echo(t)
	w := watch{conn: conn}
	socket := directConn(conn)
	ctx, cancel := context.WithCancel(t.Context())
	w.watchContext(ctx)
	time.AfterFunc(10*time.Millisecond, cancel)
	answer := make([]byte, 8)
	_, err := socket.Read(answer)
	require.True(
		t,
		err != nil && errors.Is(w.findCause(err), context.Canceled),
		"a read whose context ended: %v",
		err,
	)
	w.watchContext(t.Context())
	socket.Write([]byte("next"))
	n, err := socket.Read(answer)
	require.NoError(t, err)
	require.Equal(t, "next", string(answer[:n]), "what the next call read")
	op, ok := errors.AsType[*net.OpError](w.findCause(io.EOF))
	assert.True(
		t,
		ok && op.Err == io.EOF,
		"a connection that broke by itself is not reported as such",
	)
	w.stopWatch()
	w.stopWatch()
}

// encode is an answer of messages.
func encode(messages ...pgproto3.BackendMessage) (b []byte) {
	for _, m := range messages {
		b, _ = m.Encode(b)
	}
	return b
}

// FuzzAnswer has a server answer three calls with anything: no row is one of a fourth.
func FuzzAnswer(f *testing.F) {
	row := &pgproto3.DataRow{Values: [][]byte{{0, 0, 0, 7}, appendNumeric(nil, 1299), nil}}
	bound := &pgproto3.BindComplete{}
	complete := &pgproto3.CommandComplete{CommandTag: []byte("SELECT 1")}
	ready := &pgproto3.ReadyForQuery{TxStatus: 'I'}
	refused := &pgproto3.ErrorResponse{Severity: "ERROR", Code: "40001", Message: "no"}
	conn, _ := net.Pipe() // for its address, in errors
	fuzztest.Run(f, func(t testing.TB, answer []byte) {
		w := Conn{
			watch: watch{conn: conn, watched: context.Background()},
			front: newFrontend(bytes.NewReader(answer), io.Discard),
			sent:  3,
		}
		w.front.SetMaxBodyLen(
			4 << 10,
		) // memory for what is announced and never comes would take most of the time
		for {
			row, err := w.nextRow()
			if err != nil || row == nil {
				return
			}
			if !assert.Less(t, w.completed, w.sent, "a row of a call that was not made") {
				return
			}
			for _, value := range row {
				ParseNumeric(value)
			}
		}
	}, encode(bound, row, row, complete, bound, complete, bound, row, complete, ready),
		encode(bound, complete, complete, complete, row, ready),
		encode(&pgproto3.NoticeResponse{Message: "on"}, refused, ready))
}

// TestRowOfNoCall has a server send a row after the last call's end.
func TestRowOfNoCall(t *testing.T) {
	answer := encode(&pgproto3.CommandComplete{CommandTag: []byte("SELECT 0")}, &pgproto3.DataRow{})
	w := Conn{front: newFrontend(bytes.NewReader(answer), io.Discard), sent: 1}
	_, err := w.nextRow()
	assert.ErrorIs(t, err, errShape)
	assert.True(t, w.broken)
}
