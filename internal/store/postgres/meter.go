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
	"ds2/internal/store"
)

// meter are the server's processes that read for a connection: it measures what they got from the drives, and not from
// the kernel's page cache, where they run on this machine and ds2 may look at them.
type meter []int

// newMeter finds the connection's own process and, from version 18 on, those that read for all.
func newMeter(ctx context.Context, conn *sql.Conn) (m meter) {
	const ask = `SELECT pid, extract(epoch FROM clock_timestamp() - backend_start)::float8,
			CASE WHEN backend_type = 'io worker' THEN ''
				WHEN client_port < 0 THEN '[local]' ELSE format('(%s)', client_port) END
		FROM pg_stat_activity WHERE pid = pg_backend_pid() OR backend_type = 'io worker'`
	err := store.List(ctx, conn, ask, func(rows *sql.Rows) error {
		var inside int // the server's own container
		var age float64
		var client string // as the process's title has it: a server elsewhere may have one of the same number and age
		if err := rows.Scan(&inside, &age, &client); err != nil {
			return err
		}
		pid, err := process.Find(process.Dir, inside, "postgres", time.Duration(age*float64(time.Second)))
		if err != nil {
			return err
		}
		title, err := os.ReadFile(filepath.Join(process.Dir, strconv.Itoa(pid), "cmdline"))
		if err == nil && !strings.Contains(string(title), client) {
			err = process.ErrNone
		}
		m = append(m, pid)
		return err
	})
	if err != nil || m.bytes() < 0 {
		return nil
	}
	return m
}

// bytes is what the processes have read from drives since they began; -1: unknown.
func (m meter) bytes() (sum int64) {
	for _, pid := range m {
		p, err := procfs.NewProc(pid)
		if err != nil {
			return -1
		}
		io, err := p.IO()
		if err != nil {
			return -1
		}
		sum += int64(io.ReadBytes)
	}
	if len(m) == 0 {
		return -1
	}
	return sum
}
