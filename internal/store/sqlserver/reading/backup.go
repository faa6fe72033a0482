package reading

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"ds2/internal/store"
	"ds2/internal/store/sqlserver/target"
)

// BackupUnit is the database: store.BackupReader.
func (s Readers) BackupUnit(context.Context) (string, error) { return "database " + s.Label(), nil }

// fileReads is what the server counted of the files of the current database since it opened them.
const fileReads = `SELECT SUM(num_of_reads), SUM(num_of_bytes_read), SUM(io_stall_read_ms)
	FROM sys.dm_io_virtual_file_stats(DB_ID(), NULL)`

// stripes are the devices of a backup, each of which has a writer and buffers of its own: one alone holds fast drives
// back, and so do reads of less than the largest size.
const stripes, transferBytes = 4, 4 << 20

// BackUpDatabase is the statement.
func BackUpDatabase(name string) string {
	to := "DISK = N'NUL'" + strings.Repeat(", DISK = N'NUL'", stripes-1)
	return fmt.Sprintf("BACKUP DATABASE %s TO %s WITH COPY_ONLY, CHECKSUM, NO_COMPRESSION, MAXTRANSFERSIZE = %d",
		target.QuoteName(name), to, transferBytes)
}

// ReadBackup backs the database up to NUL: store.BackupReader. A copy-only backup leaves the chain of backups as it is.
// It needs db_backupoperator; who may not see the server's state is not told how much was read, nor how far it is.
func (s Readers) ReadBackup(ctx context.Context, tell func(done, total int64)) (b store.Backup, err error) {
	op := "read a backup of " + s.Label()
	const lacks = "this server has no BACKUP to a device that discards it"
	const hint = "Babelfish is measured as the PostgreSQL that it is, by a target postgres://"
	if err := target.Lacks(ctx, s, op, hint, lacks, lacks); err != nil {
		return b, err
	}
	conn, err := s.DB().Conn(ctx)
	if err != nil {
		return b, s.Wrap(op, err)
	}
	defer conn.Close()
	var session int
	err = conn.QueryRowContext(ctx, `SELECT @@SPID,
		'SQL Server ' + CAST(SERVERPROPERTY('ProductVersion') AS varchar(50)),
		(SELECT CASE page_verify_option WHEN 2 THEN 1 ELSE 0 END FROM sys.databases WHERE database_id = DB_ID()),
		(SELECT SUM(used_page_count) * 8192 FROM sys.dm_db_partition_stats)`).
		Scan(&session, &b.Server, &b.Checksums, &b.Bytes)
	if err != nil {
		return b, s.Wrap(op, err)
	}
	b.Unit, _ = s.BackupUnit(ctx)
	b.Method = BackUpDatabase(s.Name())
	before, counted := readCounts(ctx, conn)
	stop := target.EachPercent(ctx, s.DB(), session, func(percent float64, _ string) {
		tell(int64(percent/100*float64(b.Bytes)), b.Bytes)
	})
	start := time.Now()
	_, err = conn.ExecContext(ctx, b.Method)
	b.Seconds = time.Since(start).Seconds()
	stop()
	if err != nil {
		return b, s.Wrap(op, err)
	}
	if after, still := readCounts(ctx, conn); counted && still && after.reads > before.reads {
		b.Bytes, b.Reads = after.bytes-before.bytes, new(after.reads-before.reads)
		b.MeanMS = new(float64(after.stall-before.stall) / float64(*b.Reads))
	}
	return b, nil
}

type readCount struct{ reads, bytes, stall int64 }

// readCounts asks what was read of the database's files so far; false where the user may not know.
func readCounts(ctx context.Context, conn *sql.Conn) (n readCount, ok bool) {
	return n, conn.QueryRowContext(ctx, fileReads).Scan(&n.reads, &n.bytes, &n.stall) == nil
}
