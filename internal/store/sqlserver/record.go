package sqlserver

import (
	"io"
	"os"
)

// recordFile is the variable that names a file, which must not exist, for the messages of one user's connection. Nothing of the login is
// among them. It is for a first run on a server that nobody could test on: its answers become tests.
const recordFile = "DS2_WIRE_FILE"

// maxRecorded is how many bytes are kept, of some hundred orders.
const maxRecorded = 1 << 20

// recording copies to a file what goes through it.
type recording struct {
	io.ReadWriter
	file *os.File
	left int
}

// recorded records what a connection sends and gets, if that is asked for and no other one's is.
func recorded(conn io.ReadWriter) io.ReadWriter {
	path := os.Getenv(recordFile)
	if path == "" {
		return conn
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return conn
	}
	return &recording{conn, file, maxRecorded}
}

func (r *recording) keep(b []byte) {
	if r.left -= len(b); r.left >= 0 {
		_, _ = r.file.Write(b) // a record that ends early keeps nobody from a run
	}
}

func (r *recording) Write(b []byte) (int, error) {
	r.keep(b)
	return r.ReadWriter.Write(b)
}

func (r *recording) Read(b []byte) (int, error) {
	n, err := r.ReadWriter.Read(b)
	r.keep(b[:n])
	return n, err
}
