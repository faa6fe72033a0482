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

func newMeter(ctx context.Context, conn *sql.Conn) meter {
	const ask = `SELECT pid, extract(epoch FROM clock_timestamp() - backend_start)::float8,
			CASE WHEN client_port < 0 THEN '[local]' ELSE format('(%s)', client_port) END
		FROM pg_stat_activity WHERE pid = pg_backend_pid()`
	var inside int // the server's own container
	var age float64
	// as the process's title has it: a server elsewhere may have one of the same number and age
	var client string
	if err := conn.QueryRowContext(ctx, ask).Scan(&inside, &age, &client); err != nil {
		return 0
	}
	pid, _, err := process.Find(
		process.Dir,
		inside,
		"postgres",
		time.Duration(age*float64(time.Second)),
	)
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
