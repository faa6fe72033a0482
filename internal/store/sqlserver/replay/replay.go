// Package replay has SQL Server let its log grow, and reads how long it took to redo it after a crash: store.Replayer.
package replay

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"ds2/internal/progress"
	"ds2/internal/store"
	"ds2/internal/store/sqlserver/target"
)

// Replayer is a store.Replayer.
type Replayer struct{ target.Target }

var _ store.Replayer = Replayer{}

const (
	// targetRecoveryTime is what a replay test changes, as it is told to a user.
	targetRecoveryTime = "TARGET_RECOVERY_TIME"

	// longestRecovery is a target recovery time in seconds that no log of a test needs: under it nothing but a full log
	// makes a checkpoint due, whatever the server's recovery interval is, which then does not count.
	longestRecovery = 86400

	// truncatedShare is how much of a log may stand that checkpoints truncate, as under simple recovery and before the
	// first full backup: a checkpoint is due when 70 % of it are in use, and parts of it are in use that hold nothing
	// of the test.
	truncatedShare = 0.6

	// errorLogs is in how many of the server's error logs a recovery is looked for: each start of the server begins a
	// new one, and who watches over the server may have started it before the start command did.
	errorLogs = 3

	// undoTime bounds the wait for a recovery that goes on: a database may be open before its unfinished transactions
	// are undone.
	undoTime, undoPause = time.Minute, time.Second
)

// The statements of a replay test.
const (
	// checkpointing asks for what decides when checkpoints come, and whether the server can say how much log stands:
	// from 2016 SP2 on.
	checkpointing = `SELECT
		CAST(CASE WHEN d.recovery_model_desc = 'SIMPLE' OR r.last_log_backup_lsn IS NULL THEN 1 ELSE 0 END AS bit),
		(SELECT SUM(CAST(size AS bigint)) * 8192 FROM sys.database_files WHERE type = 1),
		CAST(CASE WHEN OBJECT_ID('sys.dm_db_log_stats') IS NULL THEN 0 ELSE 1 END AS bit),
		CAST(COALESCE(HAS_PERMS_BY_NAME(QUOTENAME(DB_NAME()), 'DATABASE', 'ALTER'), 0) AS bit)
	FROM sys.databases AS d LEFT JOIN sys.database_recovery_status AS r ON r.database_id = d.database_id
	WHERE d.database_id = DB_ID()`

	askTarget = "SELECT target_recovery_time_in_seconds FROM sys.databases WHERE database_id = DB_ID()"

	// logStanding asks how much log stands since the last checkpoint.
	logStanding = "SELECT log_checkpoint_lsn, log_since_last_checkpoint_mb, GETDATE() FROM sys.dm_db_log_stats(DB_ID())"

	// recoveries asks for what the server's error log, number p1, says of the recovery of databases.
	recoveries = "EXEC sys.sp_readerrorlog @p1, 1, N'Recovery completed for database'"
)

// Statements are the others, for whoever parses them.
var Statements = []string{checkpointing, askTarget, logStanding, recoveries, target.AskErrorLog}

// SetTarget is the statement that sets the target recovery time.
func SetTarget(database string, seconds int) string {
	return fmt.Sprintf("ALTER DATABASE %s SET TARGET_RECOVERY_TIME = %d SECONDS", target.QuoteName(database), seconds)
}

// CheckReplay asks for what a replay test needs: store.Replayer. The user must be one who may read the server's error
// log.
func (s Replayer) CheckReplay(ctx context.Context, bytes int64, file string) error {
	op := "prepare " + s.Label() + " for a replay test"
	err := target.Lacks(ctx, s, op, target.AsPostgres+"leave out --replay",
		"this server, Babelfish, has no log of its own whose checkpoints ds2 could delay",
		"nobody kills a server of Azure's")
	if err != nil {
		return err
	}
	if file != "" {
		return store.Refuse(op, "leave out --server-log", "ds2 asks SQL Server itself for its error log")
	}
	var size int64
	var truncated, tells, alters bool
	if err := s.DB().QueryRowContext(ctx, checkpointing).Scan(&truncated, &size, &tells, &alters); err != nil {
		return s.Wrap(op, err)
	}
	switch most := int64(truncatedShare * float64(size)); {
	case !tells:
		return store.Refuse(op, "use SQL Server 2016 SP2 or later",
			"the server has no sys.dm_db_log_stats, which tells how much log stands since the last checkpoint")
	case !alters:
		return store.Refuse(op, "make the user a member of db_owner",
			"the user may not set the database's "+targetRecoveryTime)
	case truncated && bytes > most:
		const hint = "ask for at most %d MB by --replay, or make the log larger: ALTER DATABASE … MODIFY FILE"
		return store.Refuse(op, fmt.Sprintf(hint, most/1e6), "the log has %d MB, and where it is not kept for backups "+
			"a checkpoint comes when 70 %% of it are in use", size/1e6)
	}
	const executeDenied, notOfRole = 229, 15003
	err = target.ReadsErrorLog(ctx, s.DB())
	if target.HasNumber(err, executeDenied, notOfRole) {
		return store.Refuse(op, "let a member of sysadmin run it",
			"the user may not read the server's error log, which says how long a recovery took")
	}
	return s.Wrap(op, err)
}

// ReplaySettings is the database's TARGET_RECOVERY_TIME, where that is lower than it has to be: store.Replayer.
func (s Replayer) ReplaySettings(ctx context.Context, _ int64) ([]store.Setting, error) {
	var now int // 0: the server's recovery interval counts
	if err := s.DB().QueryRowContext(ctx, askTarget).Scan(&now); err != nil || now >= longestRecovery {
		return nil, err
	}
	before, longest := strconv.Itoa(now), strconv.Itoa(longestRecovery)
	return []store.Setting{{Name: targetRecoveryTime, Value: longest, Before: &before}}, nil
}

// Change sets it: store.Replayer.
func (s Replayer) Change(ctx context.Context, settings []store.Setting, back bool) error {
	for _, c := range settings {
		value := &c.Value
		if back {
			value = c.Before
		}
		if c.Name != targetRecoveryTime || value == nil {
			return fmt.Errorf("change settings: ds2_info names %q, which no replay test changes", c.Name)
		}
		seconds, err := strconv.ParseUint(*value, 10, 31)
		if err != nil {
			return fmt.Errorf("change settings: ds2_info has a target recovery time of %q s", *value)
		}
		if _, err := s.DB().ExecContext(ctx, SetTarget(s.Name(), int(seconds))); err != nil {
			return err
		}
	}
	return nil
}

// LogSinceCheckpoint asks how much log stands since the last checkpoint: store.Replayer.
func (s Replayer) LogSinceCheckpoint(ctx context.Context) (stand store.LogStand, err error) {
	var megabytes float64
	err = s.DB().QueryRowContext(ctx, logStanding).Scan(&stand.From, &megabytes, &stand.At)
	stand.Bytes = int64(megabytes * (1 << 20))
	return stand, s.Wrap("ask how much log stands since the last checkpoint of "+s.Label(), err)
}

// Redo reads in the server's error log how long the recovery took: store.Replayer. How much was redone it does not say:
// that is what stood when the server was last asked for it.
func (s Replayer) Redo(ctx context.Context, stood store.LogStand, _ string) (store.Redo, error) {
	op := "read the error log of " + s.Label()
	for end := time.Now().Add(undoTime); ; {
		var lines []logLine
		for number := range errorLogs {
			more, err := store.Collect(ctx, s.DB(), recoveries, func(l *logLine) []any {
				return []any{&l.at, new(sql.NullString), &l.text} // between the two, the process
			}, number)
			if err != nil && number == 0 { // there may be no older ones
				return store.Redo{}, s.Wrap(op, err)
			}
			lines = append(lines, more...)
		}
		if r, ok := readRecovery(lines, s.Name(), stood); ok {
			return r, nil
		}
		if time.Now().After(end) {
			return store.Redo{}, errors.New(op + ": it does not say in English how long the recovery of the database " +
				"took after the kill")
		}
		if !progress.Pause(ctx, undoPause) {
			return store.Redo{}, s.Wrap(op, ctx.Err())
		}
	}
}

// logLine is one of the server's error log.
type logLine struct {
	at   time.Time // by the server's clock
	text sql.NullString
}

// recoveryCompleted is message 3421. From 2019 on it says more within the parentheses, from 2022 on after them.
var recoveryCompleted = regexp.MustCompile(`^Recovery completed for database (.*) \(database ID [0-9]+\) ` +
	`in [0-9]+ second\(s\) \(analysis ([0-9]+) ms, redo ([0-9]+) ms, undo ([0-9]+) ms`)

// readRecovery finds the first recovery of a database after the log stood as it did: later ones are of snapshots, which
// bear its name.
func readRecovery(lines []logLine, database string, stood store.LogStand) (r store.Redo, found bool) {
	var at time.Time
	for _, line := range lines {
		m := recoveryCompleted.FindStringSubmatch(line.text.String)
		if m == nil || m[1] != database || !line.at.After(stood.At) || found && !line.at.Before(at) {
			continue
		}
		var seconds [3]float64 // of analysis, redo and undo
		for i, text := range m[2:] {
			ms, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return r, false
			}
			seconds[i] = float64(ms) / 1e3
		}
		at, found = line.at, true
		r = store.Redo{Bytes: stood.Bytes, From: stood.From}
		r.Analysis, r.Seconds, r.Undo = &seconds[0], seconds[1], &seconds[2]
	}
	return r, found
}
