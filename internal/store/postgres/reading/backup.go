package reading

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"ds2/internal/progress"
	"ds2/internal/store"
	"ds2/internal/store/postgres/target"
)

// BackupUnit is the cluster: store.BackupReader.
func (s Readers) BackupUnit(ctx context.Context) (string, error) {
	var unit string
	err := s.DB().QueryRowContext(ctx, "SELECT system_identifier::text FROM pg_control_system()").Scan(&unit)
	return "cluster " + unit, s.Wrap("ask which cluster "+s.Label()+" is of", err)
}

// blackholes is the first version that can discard a backup itself.
const blackholes = 15

// baseBackup has the server read all files of the cluster but its log. It takes no replication slot: there is no second
// connection that would stream the log.
func baseBackup(major int) string {
	if major >= blackholes {
		return "BASE_BACKUP (LABEL 'ds2', PROGRESS true, CHECKPOINT 'fast', WAL false, WAIT false, MANIFEST 'no', " +
			"TARGET 'blackhole')"
	}
	return "BASE_BACKUP LABEL 'ds2' PROGRESS FAST NOWAIT MANIFEST 'no'"
}

// ReadBackup takes a base backup to nowhere: store.BackupReader. It needs a role with REPLICATION. The server verifies
// the checksums of the pages, where they are on.
func (s Readers) ReadBackup(ctx context.Context, tell func(done, total int64)) (store.Backup, error) {
	op := "read a backup of " + s.Label()
	var b store.Backup
	var err error
	if b.Unit, err = s.BackupUnit(ctx); err != nil {
		return b, err
	}
	var version int
	const ask = `SELECT current_setting('server_version_num')::int / 10000,
		'PostgreSQL ' || current_setting('server_version'), current_setting('data_checksums') = 'on'`
	if err := s.DB().QueryRowContext(ctx, ask).Scan(&version, &b.Server, &b.Checksums); err != nil {
		return b, s.Wrap(op, err)
	}
	b.Method, b.Streamed = baseBackup(version), version < blackholes
	conn, err := s.replication(ctx)
	if err != nil {
		return b, target.Hint(s.Wrap(op, err), backupHints)
	}
	defer target.Disconnect(conn)
	meter := walSenderMeter(ctx, s.DB(), conn.PID())
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	r := &backupReading{
		conn: conn, tell: tell, meter: meter, device: meter.Bytes(),
		asked: time.Now(), began: make(chan time.Time, 1), checkpointed: stop,
	}
	go func() { r.began <- s.backupBegan(waiting, conn.PID()) }()
	if err := r.read(ctx, &b); err != nil {
		return b, target.Hint(s.Wrap(op, err), backupHints)
	}
	return b, nil
}

// replication opens a connection that takes the commands of replication.
func (s Readers) replication(ctx context.Context) (*pgconn.PgConn, error) {
	config, err := s.Config(ctx)
	if err != nil {
		return nil, err
	}
	config.RuntimeParams["replication"] = "true"
	config.BuildContextWatcherHandler = target.CancelStatement
	return pgconn.ConnectConfig(ctx, &config.Config)
}

// backupHints are what to do about a server that does not let a backup be taken.
var backupHints = map[string]string{
	target.InsufficientPrivilege: "give the user the attribute REPLICATION: ALTER ROLE name REPLICATION",
	// invalid_authorization_specification
	"28000": "let the user in for replication: a line 'host replication name address scram-sha-256' in pg_hba.conf, " +
		"and ALTER ROLE name REPLICATION",
	"53300": "raise max_wal_senders, which takes a restart of the server",    // too_many_connections
	"55000": "set wal_level to replica, which takes a restart of the server", // object_not_in_prerequisite_state
}

// backupReading is a base backup under way.
type backupReading struct {
	conn   *pgconn.PgConn
	tell   func(done, total int64)
	meter  *target.Meter
	device int64 // bytes that the server's process had read before; negative: unknown

	asked        time.Time
	began        chan time.Time // gets when the server began to read; zero: nobody saw it
	checkpointed func()         // ends the waiting for that

	done, total int64
}

// backupBegan waits until the process of a backup has its checkpoint and reads files, and gives the time. The process
// itself says so only with the first megabytes, or the first second.
func (s Readers) backupBegan(ctx context.Context, pid uint32) time.Time {
	const ask = `SELECT phase NOT IN ('initializing', 'waiting for checkpoint to finish', 'estimating backup size')
		FROM pg_stat_progress_basebackup WHERE pid = $1`
	for {
		var reading bool
		err := s.DB().QueryRowContext(ctx, ask, int(pid)).Scan(&reading)
		switch {
		case reading:
			return time.Now()
		case err != nil && !errors.Is(err, sql.ErrNoRows), !progress.Pause(ctx, 10*time.Millisecond):
			return time.Time{}
		}
	}
}

// read sends the command and takes its results: where the backup begins, the sizes of the tablespaces, and then the
// data, or word of how far it is.
func (r *backupReading) read(ctx context.Context, b *store.Backup) error {
	r.conn.Frontend().SendQuery(&pgproto3.Query{String: b.Method})
	if err := r.conn.Frontend().Flush(); err != nil {
		return err
	}
	var failed error
	results := 0
	for {
		message, err := r.conn.ReceiveMessage(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return errors.Join(failed, err)
		}
		switch m := message.(type) {
		case *pgproto3.RowDescription:
			results++
		case *pgproto3.DataRow:
			if results == 2 && len(m.Values) >= 3 {
				kilobytes, err := strconv.ParseInt(string(m.Values[2]), 10, 64)
				if err != nil && m.Values[2] != nil {
					return fmt.Errorf("read the size of a tablespace: %w", err)
				}
				r.total += kilobytes * 1024
			}
			if results == 3 { // the end of the backup: all is read, and the process is still there
				r.end(b)
			}
		case *pgproto3.CopyData:
			r.data(m.Data, !b.Streamed)
		case *pgproto3.ErrorResponse:
			failed = errors.Join(failed, pgconn.ErrorResponseToPgError(m))
		case *pgproto3.ReadyForQuery:
			if failed == nil && b.Seconds == 0 {
				failed = errors.New("the server ended the backup before its end")
			}
			return failed
		}
	}
}

// data takes a message of the data. From version 15 on it begins with its kind, of which p is word of how many bytes
// are done.
func (r *backupReading) data(message []byte, kinds bool) {
	switch {
	case !kinds:
		r.done += int64(len(message))
	case len(message) == 9 && message[0] == 'p':
		r.done = int64(binary.BigEndian.Uint64(message[1:]))
	default:
		return
	}
	r.tell(r.done, max(r.total, r.done))
}

// end takes the time and what came from the drives.
func (r *backupReading) end(b *store.Backup) {
	if b.Seconds > 0 {
		return
	}
	r.checkpointed()
	start := <-r.began
	if start.IsZero() { // it was over too soon
		start = r.asked
	}
	b.Bytes, b.Seconds = r.done, time.Since(start).Seconds()
	if after := r.meter.Bytes(); after >= 0 && r.device >= 0 {
		b.Device = new(after - r.device)
	}
}

// walSenderMeter measures what the process of a replication connection got from the drives; nil where that cannot be.
func walSenderMeter(ctx context.Context, db *sql.DB, pid uint32) *target.Meter {
	const ask = `SELECT coalesce(client_port, -1) FROM pg_stat_activity WHERE pid = $1 AND backend_type = 'walsender'`
	var port int
	if err := db.QueryRowContext(ctx, ask, int(pid)).Scan(&port); err != nil {
		return nil
	}
	return target.MeterOf(int(pid), port, "walsender ")
}
