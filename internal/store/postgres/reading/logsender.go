package reading

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"ds2/internal/store"
	"ds2/internal/store/postgres/target"
)

// logReader takes the log by physical streaming replication, as a standby does, and tells the server that it is safe.
// Its slot is temporary: the server drops it when the connection ends, however it ends.
type logReader struct {
	target.Target
	conn     *pgconn.PgConn
	reached  uint64    // in the log
	reported time.Time // when the server was told last

	device    *target.Meter // of the server's process that sends the log
	was, from int64         // bytes that it got from drives: when it was last asked for, and since the last piece
}

// statusInterval is how often the server is told how far the log has been read, so that it can remove what stands
// before.
const statusInterval = time.Second

// OpenLog connects a reader of the log: store.Capabilities.
func (s Readers) OpenLog(ctx context.Context) (_ store.Reader, err error) {
	op := "read the log of " + s.Label()
	if err := s.sendsLog(ctx, op); err != nil {
		return nil, err
	}
	config, err := s.Config(ctx)
	if err != nil {
		return nil, err
	}
	// Such a connection takes the log of the whole cluster, answers queries, and is let in where those of users are.
	config.RuntimeParams["replication"] = "database"
	config.RuntimeParams["application_name"] = "ds2 copy"
	conn, err := pgconn.ConnectConfig(ctx, &config.Config)
	if err != nil {
		return nil, s.Wrap(op, err)
	}
	r := &logReader{Target: s.Target, conn: conn}
	defer func() {
		if err != nil {
			r.Close()
		}
	}()
	if err := r.start(ctx); err != nil {
		return nil, s.Wrap(op, err)
	}
	return r, nil
}

// sendsLog is an error of class Config where the server cannot send its log, or not to this user.
func (s Readers) sendsLog(ctx context.Context, op string) error {
	var level string
	var senders, sending, slots, slotsInUse int
	var allowed, everybody bool
	const ask = `
		SELECT current_setting('wal_level'), current_setting('synchronous_standby_names') LIKE '%*%',
			current_setting('max_wal_senders')::int, (SELECT count(*) FROM pg_stat_replication),
			current_setting('max_replication_slots')::int, (SELECT count(*) FROM pg_replication_slots),
			rolsuper OR rolreplication
		FROM pg_roles WHERE rolname = current_user`
	err := s.DB().QueryRowContext(ctx, ask).
		Scan(&level, &everybody, &senders, &sending, &slots, &slotsInUse, &allowed)
	if err != nil {
		return s.Wrap(op, err)
	}
	refused := func(do, why string, args ...any) error {
		return store.Refuse(op, do+", or leave out --copies", why, args...)
	}
	switch {
	case level == "minimal":
		return refused("set wal_level to replica and restart the server",
			"wal_level is minimal, with which a server has no copies")
	case senders <= sending:
		return refused("raise max_wal_senders and restart the server",
			"max_wal_senders is %d, and %d are in use", senders, sending)
	case slots <= slotsInUse:
		return refused("raise max_replication_slots and restart the server",
			"max_replication_slots is %d, and %d are in use", slots, slotsInUse)
	case everybody: // a reader that throws the log away is no second place for it
		return refused("name the standbys there in place of *", "synchronous_standby_names takes every reader "+
			"of the log for a standby, and commits would wait for this one")
	case !allowed:
		return refused(fmt.Sprintf("ALTER ROLE %q REPLICATION", s.User()), "the user has no right to replicate")
	}
	return nil
}

// start makes the slot and has the server send.
func (r *logReader) start(ctx context.Context) error {
	system, err := r.row(ctx, "IDENTIFY_SYSTEM") // system, timeline, end of the log, database
	if err != nil {
		return err
	}
	slot := "ds2_" + strings.ToLower(rand.Text()[:12])
	if _, err := r.row(ctx, "CREATE_REPLICATION_SLOT "+slot+" TEMPORARY PHYSICAL RESERVE_WAL"); err != nil {
		return err
	}
	start := fmt.Sprintf("START_REPLICATION SLOT %s PHYSICAL %s TIMELINE %s", slot, system[2], system[1])
	r.conn.Frontend().SendQuery(&pgproto3.Query{String: start})
	if err := r.conn.Frontend().Flush(); err != nil {
		return err
	}
	for {
		message, err := r.conn.ReceiveMessage(ctx)
		if err != nil {
			return err
		}
		switch m := message.(type) {
		case *pgproto3.ErrorResponse:
			return pgconn.ErrorResponseToPgError(m)
		case *pgproto3.CopyBothResponse:
			r.device = walSenderMeter(ctx, r.DB(), r.conn.PID())
			r.was = r.device.Bytes()
			return nil
		}
	}
}

// row is the first row of what a statement gives.
func (r *logReader) row(ctx context.Context, statement string) ([][]byte, error) {
	results, err := r.conn.Exec(ctx, statement).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(results) != 1 || len(results[0].Rows) != 1 {
		return nil, fmt.Errorf("%s gave no row", statement)
	}
	return results[0].Rows[0], nil
}

// Read waits for the next piece of the log.
func (r *logReader) Read(ctx context.Context) (store.Read, error) {
	read := store.Read{Device: -1}
	for {
		message, err := r.receive(ctx)
		if err != nil {
			return read, r.Wrap("read the log of "+r.Label(), err)
		}
		if message == nil {
			continue
		}
		// 'w': start and end of the log and the time, 8 bytes each, then the log itself; 'k': the log's end and the
		// time, then whether an answer is wanted.
		switch data := message.Data; {
		case len(data) > 25 && data[0] == 'w':
			read.Bytes = int64(len(data) - 25)
			r.reached = binary.BigEndian.Uint64(data[1:]) + uint64(read.Bytes)
			if r.device != nil {
				read.Device, r.from = r.from, 0
			}
			return read, nil
		case len(data) >= 18 && data[0] == 'k':
			r.reached = max(r.reached, binary.BigEndian.Uint64(data[1:]))
			if data[17] == 1 {
				r.reported = time.Time{}
			}
		}
	}
}

// receive takes a message of the copy; none where none came in time. It tells the server how far the log was read.
func (r *logReader) receive(ctx context.Context) (*pgproto3.CopyData, error) {
	if time.Since(r.reported) >= statusInterval {
		if err := r.report(); err != nil {
			return nil, err
		}
	}
	wait, cancel := context.WithDeadline(ctx, r.reported.Add(statusInterval))
	defer cancel()
	message, err := r.conn.ReceiveMessage(wait)
	if err != nil {
		if ctx.Err() == nil && pgconn.Timeout(err) {
			return nil, nil
		}
		return nil, err
	}
	switch m := message.(type) {
	case *pgproto3.CopyData:
		return m, nil
	case *pgproto3.ErrorResponse:
		return nil, pgconn.ErrorResponseToPgError(m)
	case *pgproto3.CopyDone, *pgproto3.CommandComplete, *pgproto3.ReadyForQuery: // the server shuts down
		return nil, &pgconn.PgError{Severity: "FATAL", Code: "57P01", Message: "the server has ended its log"}
	}
	return nil, nil
}

// report says that the log was written, flushed and applied as far as it was read.
func (r *logReader) report() error {
	if now := r.device.Bytes(); now > r.was {
		r.from, r.was = r.from+now-r.was, now
	}
	data := []byte{'r'}
	for range 3 {
		data = binary.BigEndian.AppendUint64(data, r.reached)
	}
	sinceY2K := time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).Microseconds()
	data = append(binary.BigEndian.AppendUint64(data, uint64(sinceY2K)), 0) // no answer is wanted
	r.reported = time.Now()
	r.conn.Frontend().Send(&pgproto3.CopyData{Data: data})
	return r.conn.Frontend().Flush()
}

// Close disconnects, which drops the slot.
func (r *logReader) Close() { target.Disconnect(r.conn) }
