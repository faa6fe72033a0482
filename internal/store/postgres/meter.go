package postgres

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"

	"ds2/internal/process"
)

// meter is the server's process of a connection, which reads a file itself in all versions: it
// measures what that got from the drives, and not from the kernel's page cache. 0 where it does not
// run on this machine, or ds2 may not look.
type meter int

// newMeter finds the process of a connection on this machine. A process of the same number may be
// of another container: what it calls itself must name this client, as the title of a session of
// PostgreSQL does.
func newMeter(ctx context.Context, conn *sql.Conn) meter {
	var inside int // the server's own container
	var age float64
	var client string
	if err := conn.QueryRowContext(ctx, query("server/own-process")).
		Scan(&inside, &age, &client); err != nil {
		return 0
	}
	began := time.Duration(age * float64(time.Second)) // so long ago
	pid, _, err := process.Find(process.Dir, inside, "postgres", began)
	if err != nil {
		return 0
	}
	title, _ := os.ReadFile(filepath.Join(process.Dir, strconv.Itoa(pid), "cmdline"))
	if !strings.Contains(string(title), client) {
		return 0
	}
	return meter(pid)
}

// bytesRead is what the process has read from drives since it began; -1: unknown.
func (m meter) bytesRead() int64 {
	p, err := procfs.NewProc(int(m))
	if m == 0 || err != nil {
		return -1
	}
	io, err := p.IO()
	if err != nil {
		return -1
	}
	return int64(io.ReadBytes)
}
