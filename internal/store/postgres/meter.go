package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"

	"ds2/internal/store"

	"github.com/prometheus/procfs"
)

// meter measures what the server's processes that read for a connection got from the drives, and not from the
// kernel's page cache: where they run on this machine and ds2 may look at them.
type meter struct{ pids []int }

// newMeter finds the processes: the connection's own and, from version 18, those that read for all. It knows its
// own by the client's port in the title: process numbers of another machine or container mean nothing here.
func newMeter(ctx context.Context, conn *sql.Conn) *meter {
	var own, port int
	var database string
	const self = `SELECT pid, coalesce(client_port, -1), datname FROM pg_stat_activity WHERE pid = pg_backend_pid()`
	if err := conn.QueryRowContext(ctx, self).Scan(&own, &port, &database); err != nil {
		return nil
	}
	from := fmt.Sprintf("(%d)", port)
	if port < 0 {
		from = "[local]"
	}
	title, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", own))
	said := string(title)
	if !strings.HasPrefix(said, "postgres:") || !strings.Contains(said, database+" ") || !strings.Contains(said, from) {
		return nil
	}
	const others = `SELECT pid FROM pg_stat_activity WHERE backend_type = 'io worker'`
	workers, err := store.Collect(ctx, conn, others, store.Itself[int])
	m := &meter{append(workers, own)}
	if err != nil || m.bytes() < 0 {
		return nil
	}
	return m
}

// bytes is what the processes have read from drives since they began; -1: unknown.
func (m *meter) bytes() (sum int64) {
	if m == nil {
		return -1
	}
	for _, pid := range m.pids {
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
	return sum
}
