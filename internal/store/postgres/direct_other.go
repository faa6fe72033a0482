//go:build !linux

package postgres

import (
	"io"
	"net"
)

func newDirect(conn net.Conn) io.ReadWriter { return conn }
