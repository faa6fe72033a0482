//go:build !linux

package postgres

import (
	"io"
	"net"
)

// direct gives what to read and write conn with: conn itself.
func direct(conn net.Conn) io.ReadWriter { return conn }
