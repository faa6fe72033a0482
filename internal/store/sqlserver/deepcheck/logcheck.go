package deepcheck

import (
	"context"
	"database/sql"
	"time"

	"ds2/internal/store"
	"ds2/internal/store/sqlserver/target"
)

// checkLog has the server read the log that its chain of backups keeps, for a copy-only backup to NUL, which leaves the
// chain as it is and verifies the checksums of the blocks. A server that keeps no log for backups has no other means to
// read it.
func (s Checker) checkLog(ctx context.Context, conn *sql.Conn) *store.LogCheck {
	c := &store.LogCheck{Method: "BACKUP LOG " + target.QuoteName(s.Name()) + " TO DISK = N'NUL' WITH COPY_ONLY, CHECKSUM, NO_COMPRESSION"}
	_, used, kept, err := s.LogSpace(ctx)
	switch {
	case err != nil:
		c.Unread = "nobody may ask how much log there is: " + err.Error()
		return c
	case !kept:
		c.Unread = "under simple recovery, or before the first full backup, SQL Server has no statement that reads the log"
		return c
	}
	start := time.Now()
	const badPage, badLog, badBackup = 824, 9004, 3043
	if _, err := conn.ExecContext(ctx, c.Method); target.HasNumber(err, badPage, badLog, badBackup) {
		c.Bad = err.Error()
	} else if err != nil {
		c.Unread = err.Error()
		return c
	}
	c.Bytes, c.Seconds = used, time.Since(start).Seconds()
	return c
}
