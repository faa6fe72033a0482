package postgres

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

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

// TestDirect sends messages that fit into the socket's buffer and one that does not, and reads the answers.
func TestDirect(t *testing.T) {
	socket := direct(echo(t))
	for _, size := range []int{1, 4096, 1 << 20} {
		sent := bytes.Repeat([]byte{byte(size)}, size)
		_, err := socket.Write(sent)
		require.NoError(t, err)
		got := make([]byte, size)
		if _, err := io.ReadFull(socket, got); err != nil || !bytes.Equal(got, sent) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	local, other := net.Pipe() // no socket
	defer other.Close()
	if direct(local) != io.ReadWriter(local) {
		t.Error("a connection without a socket is not used itself")
	}
}

// TestWatch ends a read with its context, and reads on with the next.
func TestWatch(t *testing.T) {
	conn := echo(t)
	w, socket := newWatch(conn), direct(conn)
	ctx, cancel := context.WithCancel(t.Context())
	w.over(ctx)
	time.AfterFunc(10*time.Millisecond, cancel)
	answer := make([]byte, 8)
	_, err := socket.Read(answer)
	require.True(t, err != nil && errors.Is(w.cause(err), context.Canceled), "a read whose context ended: %v", err)
	w.over(t.Context())
	socket.Write([]byte("next"))
	if n, err := socket.Read(answer); err != nil || string(answer[:n]) != "next" {
		t.Fatalf("the next call read %q, %v", answer[:n], err)
	}
	if op, ok := errors.AsType[*net.OpError](w.cause(io.EOF)); !ok || op.Err != io.EOF {
		t.Error("a connection that broke by itself is not reported as such")
	}
	w.stop()
	w.stop()
}
