//go:build !linux

package link

import (
	"io"
	"net"
)

// Direct gives what to read and write conn with: conn itself.
func Direct(conn net.Conn) io.ReadWriter { return conn }
