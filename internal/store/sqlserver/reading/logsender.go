package reading

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"golang.org/x/sync/semaphore"

	"ds2/internal/store"
	"ds2/internal/store/sqlserver/target"
)

// logReader takes the log as a copy of the database elsewhere would have it sent: by backups of the log to a device
// that discards them. SQL Server sends its log as it is written only to replicas that it knows as such.
type logReader struct {
	Readers
	conn *sql.Conn
}

// logPause is between two backups of the log. Each leaves a row in msdb and a line in the server's error log.
const logPause = 5 * time.Second

// logRounds have the readers of a database's log take turns, so that each reads each piece of it once: all but the last
// reader of a round by a copy-only backup, after which the next one begins where it did, and the last by one that ends
// the piece and lets the server use its room again.
type logRounds struct {
	turn    *semaphore.Weighted // of who is at work; guards the rest
	readers map[*logReader]bool // that are open; true: has read the piece
	ended   chan struct{}       // is closed when all have
	due     time.Time           // of the next piece
}

// join adds a reader; prepare is called before the first of them.
func (l *logRounds) join(ctx context.Context, r *logReader, prepare func() error) error {
	if err := l.turn.Acquire(ctx, 1); err != nil {
		return err
	}
	defer l.turn.Release(1)
	if len(l.readers) == 0 {
		if err := prepare(); err != nil {
			return err
		}
	}
	l.readers[r] = false
	return nil
}

// leave takes a reader out.
func (l *logRounds) leave(r *logReader) {
	_ = l.turn.Acquire(context.Background(), 1)
	defer l.turn.Release(1)
	delete(l.readers, r)
	l.endRound()
}

// read has a reader read its next piece, when it is due and its turn. last says that it is the last to read it.
func (l *logRounds) read(
	ctx context.Context, r *logReader, backup func(last bool) (store.Read, error),
) (read store.Read, err error) {
	for {
		if err := l.turn.Acquire(ctx, 1); err != nil {
			return read, err
		}
		var wait <-chan time.Time // until the piece is due; nil: until the round has ended
		ended := l.ended
		if !l.readers[r] {
			left := time.Until(l.due)
			if left <= 0 {
				read, err := backup(l.lastIs(r))
				if err == nil {
					l.readers[r] = true
					l.endRound()
				}
				l.turn.Release(1)
				return read, err
			}
			wait, ended = time.After(left), nil
		}
		l.turn.Release(1)
		select {
		case <-wait:
		case <-ended:
		case <-ctx.Done():
			return read, ctx.Err()
		}
	}
}

// lastIs tells whether all others have read the piece.
func (l *logRounds) lastIs(r *logReader) bool {
	for other, read := range l.readers {
		if other != r && !read {
			return false
		}
	}
	return true
}

// endRound ends a round that all have been in.
func (l *logRounds) endRound() {
	if !l.lastIs(nil) {
		return
	}
	for r := range l.readers {
		l.readers[r] = false
	}
	close(l.ended)
	l.ended, l.due = make(chan struct{}), time.Now().Add(logPause)
}

// logBackup is the name of the backups, by which a user finds them in msdb.
const logBackup = "ds2 copy"

// BackUpLog is the statement. Without copyOnly the next backup begins at its end. Compression, which a server may have
// on by default, would take processor time for nothing.
func BackUpLog(database string, copyOnly bool) string {
	statement := "BACKUP LOG " + target.QuoteName(database) +
		" TO DISK = N'NUL' WITH NAME = N'" + logBackup + "', NO_COMPRESSION"
	if copyOnly {
		statement += ", COPY_ONLY"
	}
	return statement
}

// The questions of a reader.
const (
	// logChain asks for what BACKUP LOG needs.
	logChain = `SELECT d.recovery_model_desc,
		CAST(CASE WHEN r.last_log_backup_lsn IS NULL THEN 0 ELSE 1 END AS bit),
		CAST(COALESCE(HAS_PERMS_BY_NAME(QUOTENAME(DB_NAME()), 'DATABASE', 'BACKUP LOG'), 0) AS bit)
	FROM sys.databases AS d LEFT JOIN sys.database_recovery_status AS r ON r.database_id = d.database_id
	WHERE d.database_id = DB_ID()`

	// keptLogBackup asks where somebody's last backup of the log since the last full backup went that did not discard
	// it.
	keptLogBackup = `SELECT TOP (1) m.physical_device_name
	FROM msdb.dbo.backupset AS b JOIN msdb.dbo.backupmediafamily AS m ON m.media_set_id = b.media_set_id
	WHERE b.database_name = DB_NAME() AND b.type = 'L' AND b.is_copy_only = 0
		AND m.physical_device_name <> 'NUL' AND COALESCE(b.name, '') <> @p1
		AND b.backup_finish_date > (
			SELECT MAX(f.backup_finish_date) FROM msdb.dbo.backupset AS f
			WHERE f.database_name = DB_NAME() AND f.type = 'D' AND f.is_copy_only = 0)
	ORDER BY b.backup_set_id DESC`

	// lastLogBackup asks how large the last backup was.
	lastLogBackup = `SELECT TOP (1) CAST(backup_size AS bigint) FROM msdb.dbo.backupset
	WHERE database_name = DB_NAME() AND type = 'L' AND name = @p1 ORDER BY backup_set_id DESC`

	// logFileReads is what the server counted of the log since it opened its files; its reads pass no cache of the
	// system.
	logFileReads = `SELECT SUM(s.num_of_bytes_read)
	FROM sys.dm_io_virtual_file_stats(DB_ID(), NULL) AS s
	JOIN sys.database_files AS f ON f.file_id = s.file_id WHERE f.type = 1`
)

// Statements are the questions, for whoever parses them.
var Statements = []string{logChain, keptLogBackup, lastLogBackup, logFileReads, fileReads}

// OpenLog connects a reader of the log: store.Capabilities. What the log holds already is discarded before the first
// reader begins.
func (s Readers) OpenLog(ctx context.Context) (store.Reader, error) {
	op := "read the log of " + s.Label()
	if err := s.sendsLog(ctx, op); err != nil {
		return nil, err
	}
	conn, err := s.DB().Conn(ctx)
	if err != nil {
		return nil, s.Wrap(op, err)
	}
	r := &logReader{s, conn}
	err = s.rounds.join(ctx, r, func() error {
		_, err := conn.ExecContext(ctx, BackUpLog(s.Name(), false))
		return err
	})
	if err != nil {
		conn.Close()
		return nil, s.Wrap(op, err)
	}
	return r, nil
}

// sendsLog is an error of class Config where there is no log to be read, where the user may not read it, or where it is
// somebody's.
func (s Readers) sendsLog(ctx context.Context, op string) error {
	const leave = "leave out --copies"
	err := target.Lacks(ctx, s, op, target.AsPostgres+leave, "this server, Babelfish, has no BACKUP LOG",
		"Azure backs the log up by itself, and lets nobody else do so")
	if err != nil {
		return err
	}
	refused := func(hint, why string, a ...any) error { return store.Refuse(op, hint+", or "+leave, why, a...) }
	var model string
	var begun, allowed bool
	if err := s.DB().QueryRowContext(ctx, logChain).Scan(&model, &begun, &allowed); err != nil {
		return s.Wrap(op, err)
	}
	database := target.QuoteName(s.Name())
	backup := "BACKUP DATABASE " + database + " TO DISK = N'NUL'"
	switch {
	case model == "SIMPLE":
		return refused("ALTER DATABASE "+database+" SET RECOVERY FULL, then "+backup,
			"the database is under simple recovery, under which nothing reads its log")
	case !begun:
		return refused(backup, "the database has had no full backup, before which nothing reads its log; "+
			"one with COPY_ONLY does not count")
	case !allowed:
		return refused("make the user a member of db_backupoperator", "the user may not back the log up")
	}
	var kept string
	err = s.DB().QueryRowContext(ctx, keptLogBackup, logBackup).Scan(&kept)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return s.Wrap(op, err)
	}
	return refused("use a database whose log nobody keeps", "its log is backed up, last to %s: copies would end that "+
		"chain of backups, for they read the log by backups that are discarded", kept)
}

// Read makes the reader's next backup.
func (r *logReader) Read(ctx context.Context) (store.Read, error) {
	read, err := r.rounds.read(ctx, r, func(last bool) (store.Read, error) { return r.backUp(ctx, !last) })
	return read, r.Wrap("read the log of "+r.Label(), err)
}

func (r *logReader) backUp(ctx context.Context, copyOnly bool) (read store.Read, err error) {
	read.Device = -1
	before := r.fileReads(ctx)
	if _, err := r.conn.ExecContext(ctx, BackUpLog(r.Name(), copyOnly)); err != nil {
		return read, err
	}
	if after := r.fileReads(ctx); before.Valid && after.Valid {
		read.Device = max(after.Int64-before.Int64, 0)
	}
	return read, r.conn.QueryRowContext(ctx, lastLogBackup, logBackup).Scan(&read.Bytes)
}

// fileReads is not valid where the user may not know.
func (r *logReader) fileReads(ctx context.Context) (bytes sql.NullInt64) {
	if r.conn.QueryRowContext(ctx, logFileReads).Scan(&bytes) != nil {
		bytes.Valid = false
	}
	return bytes
}

// Close gives the connection back.
func (r *logReader) Close() {
	r.rounds.leave(r)
	r.conn.Close()
}
