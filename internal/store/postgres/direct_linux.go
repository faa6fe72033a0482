package postgres

import (
	"io"
	"net"
	"os"
	"syscall"
	"unsafe"
)

// directSocket reads and writes a socket with as few system calls as pgbench. net.Conn's Read tries
// to read before it waits, which fails whenever the answer is still on its way, and each of its
// calls tells the scheduler that the thread may block, which wakes the runtime's monitor; here a
// call's write, wait and read are one, and the calls, which a non-blocking socket answers at once,
// are made without telling. Per order that is a third of the client's CPU time.
type directSocket struct {
	conn net.Conn
	raw  syscall.RawConn
	talk func(fd uintptr) bool // a method value, made once

	out   []byte // to be written by the next Read
	in    []byte // of the Read under way
	n     int    // read
	errno syscall.Errno
}

// directConn gives what to read and write conn with: conn itself where it is no plain socket, such
// as under TLS. What is written is sent by the next read, until which it must stay as it is; so
// each write is followed by a read.
func directConn(conn net.Conn) io.ReadWriter {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return conn
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return conn
	}
	d := &directSocket{conn: conn, raw: raw}
	d.talk = d.writeThenRead
	return d
}

// Write keeps p for the next Read, until which it must stay as it is.
func (d *directSocket) Write(p []byte) (int, error) {
	d.out = p
	return len(p), nil
}

// Read writes what Write was given, waits for an answer and reads it.
func (d *directSocket) Read(p []byte) (int, error) {
	d.in = p
	d.n = 0
	d.errno = 0
	if err := d.raw.Read(d.talk); err != nil {
		return 0, err
	}
	switch {
	case d.errno != 0:
		return 0, os.NewSyscallError("read or write", d.errno)
	case d.n == 0:
		return 0, io.EOF
	}
	return d.n, nil
}

// writeThenRead is called by RawConn.Read, and again each time that there is something to read,
// until it is true. The write stands in here so that the readiness that RawConn waits for is that
// of the answer to it.
func (d *directSocket) writeThenRead(fd uintptr) bool {
	if out := d.out; out != nil {
		d.out = nil
		n, errno := rawCall(syscall.SYS_WRITE, fd, out)
		if errno == syscall.EAGAIN || errno == 0 && n < len(out) {
			// The socket's buffer is full.
			if _, err := d.conn.Write(out[n:]); err != nil {
				d.errno = syscall.EPIPE
			}
		} else {
			d.errno = errno
		}
		return d.errno != 0
	}
	d.n, d.errno = rawCall(syscall.SYS_READ, fd, d.in)
	if d.errno == syscall.EAGAIN {
		d.errno = 0
		return false
	}
	return true
}

// rawCall reads or writes; p is not empty.
func rawCall(call, fd uintptr, p []byte) (int, syscall.Errno) {
	for {
		n, _, errno := syscall.RawSyscall(call, fd, uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
		switch errno {
		case 0:
			return int(n), 0
		case syscall.EINTR:
		default:
			return 0, errno
		}
	}
}
