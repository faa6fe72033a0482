package sqlserver

import (
	"io"
	"os"
)

// recordFile is the variable that names a file, which must not exist, for the messages of one user's connection.
// Nothing of the login is among them. It is for a first run on a server that nobody could test on: its answers become
// tests.
const recordFile = "DS2_WIRE_FILE"

// maxRecorded is how many bytes are kept, of some hundred orders.
const maxRecorded = 1 << 20

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
	to := &recording{file, maxRecorded}
	return struct {
		io.Reader
		io.Writer
	}{io.TeeReader(conn, to), io.MultiWriter(to, conn)}
}

// recording keeps in a file what is written to it.
type recording struct {
	file *os.File
	left int
}

func (r *recording) Write(b []byte) (int, error) {
	if r.left -= len(b); r.left >= 0 {
		_, _ = r.file.Write(b) // a record that ends early keeps nobody from a run
	}
	return len(b), nil
}
