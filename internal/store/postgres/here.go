package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"ds2/internal/process"
	"ds2/internal/store/postgres/target"
)

// askIdentity gives by what the process of the session and the files of its server are known. Who may not read all
// settings is not told the directory of the data.
const askIdentity = `SELECT pid, extract(epoch FROM clock_timestamp() - backend_start)::float8,
		coalesce((SELECT setting FROM pg_settings WHERE name = 'data_directory'), ''),
		(SELECT system_identifier::text FROM pg_control_system()), pg_is_in_recovery()
	FROM pg_stat_activity WHERE pid = pg_backend_pid()`

// Here says whether the server runs on this machine: store.Database.
func (s *Store) Here(ctx context.Context) (here bool) {
	err := s.onConn(ctx, func(conn *pgx.Conn) error {
		here, _ = isHere(ctx, conn)
		return nil
	})
	return err == nil && here
}

// isHere looks for the session's process among those of this machine, and for the cluster's files, which are in data;
// where the server does not tell that, it is empty.
func isHere(ctx context.Context, conn *pgx.Conn) (here bool, data string) {
	var pid int // in the server's own container
	var age float64
	var system string
	var standby bool
	if err := conn.QueryRow(ctx, askIdentity).Scan(&pid, &age, &data, &system, &standby); err != nil {
		return false, ""
	}
	_, err := process.Find(process.Dir, pid, "postgres", time.Duration(age*float64(time.Second)))
	return err == nil || data != "" && target.Holds(data, system, standby), data
}
