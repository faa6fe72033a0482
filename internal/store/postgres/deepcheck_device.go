package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"

	"github.com/prometheus/procfs"
)

// deviceMeter measures what the server's processes that read for a connection got from the drives, and not from the
// kernel's page cache: where they run on this machine and ds2 may look at them.
type deviceMeter struct{ pids []int }

// newDeviceMeter finds the processes: the connection's own and, from version 18, those that read for all. It knows its
// own by the client's port in the title: process numbers of another machine or container mean nothing here.
func newDeviceMeter(ctx context.Context, conn *sql.Conn) *deviceMeter {
	var own, port int
	var database string
	err := conn.QueryRowContext(ctx, `SELECT pid, coalesce(client_port, -1), datname FROM pg_stat_activity WHERE pid = pg_backend_pid()`).Scan(&own, &port, &database)
	if err != nil {
		return nil
	}
	m := meterOf(own, port, database+" ")
	if m == nil {
		return nil
	}
	rows, err := conn.QueryContext(ctx, `SELECT pid FROM pg_stat_activity WHERE backend_type = 'io worker'`)
	if err != nil {
		return nil
	}
	defer rows.Close()
	for rows.Next() {
		var pid int
		if rows.Scan(&pid) != nil {
			return nil
		}
		m.pids = append(m.pids, pid)
	}
	if rows.Err() != nil || m.bytes() < 0 {
		return nil
	}
	return m
}

// meterOf measures one process of the server, whose title holds a word; nil where that is not what runs here under its number, or nobody may look.
func meterOf(pid, port int, word string) *deviceMeter {
	title, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	from := fmt.Sprintf("(%d)", port)
	if port < 0 {
		from = "[local]"
	}
	m := &deviceMeter{pids: []int{pid}}
	if err != nil || !strings.HasPrefix(string(title), "postgres:") || !strings.Contains(string(title), word) || !strings.Contains(string(title), from) || m.bytes() < 0 {
		return nil
	}
	return m
}

// bytes is what the processes have read from drives since they began; -1: nobody knows.
func (m *deviceMeter) bytes() (sum int64) {
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
