//go:build !linux

package postgres

import (
	"io"
	"net"
)

// directConn gives what to read and write conn with: conn itself.
func directConn(conn net.Conn) io.ReadWriter { return conn }
