// Package replay has a PostgreSQL server let its log grow, and reads how long it took to redo it after a crash:
// store.Replayer.
package replay

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"ds2/internal/progress"
	"ds2/internal/store"
	"ds2/internal/store/postgres/target"
)

// Replayer is a store.Replayer.
type Replayer struct{ target.Target }

var _ store.Replayer = Replayer{}

// longestTimeout is the longest checkpoint_timeout, in seconds.
const longestTimeout = 86400

// checkpointShare is how much more max_wal_size is than the log that may stand before a checkpoint begins: the server
// divides it by 1 + checkpoint_completion_target, which is at most 2, and looks at whole segments.
const checkpointShare = 2.5

// replaySettings are what a replay test of so many bytes needs, in the units of pg_settings: seconds and megabytes.
func replaySettings(bytes int64) map[string]int64 {
	return map[string]int64{
		"checkpoint_timeout": longestTimeout,
		"max_wal_size":       int64(checkpointShare*float64(bytes))>>20 + 64,
	}
}

// CheckReplay asks for what a replay test needs: store.Replayer. The user must be one who may change settings: a
// superuser, or from version 15 on one to whom that was granted.
func (s Replayer) CheckReplay(ctx context.Context, bytes int64, file string) error {
	op := "prepare " + s.Label() + " for a replay test"
	if err := s.tellsOfRecovery(ctx, op, file); err != nil {
		return err
	}
	const askSetting = `SELECT setting::bigint, source, current_setting('is_superuser') = 'on',
		current_setting('server_version_num')::int FROM pg_settings WHERE name = $1`
	const askRight = `SELECT has_parameter_privilege($1, 'ALTER SYSTEM')
		AND has_function_privilege('pg_reload_conf()', 'EXECUTE')`
	for name, want := range replaySettings(bytes) {
		var now int64
		var source string
		var may bool
		var version int
		err := s.DB().QueryRowContext(ctx, askSetting, name).Scan(&now, &source, &may, &version)
		if err == nil && now < want && !may && version >= 150000 {
			err = s.DB().QueryRowContext(ctx, askRight, name).Scan(&may)
		}
		switch {
		case err != nil:
			return s.Wrap(op, err)
		case now >= want:
		case source == "command line":
			return store.Refuse(op, "start the server without it",
				"%s is %d on the server's command line: the test needs %d", name, now, want)
		case !may:
			return store.Refuse(op, alterHints[target.InsufficientPrivilege], "the user may not change %s", name)
		}
	}
	return nil
}

// ReplaySettings are those of checkpoint_timeout and max_wal_size that are lower than they have to be: store.Replayer.
func (s Replayer) ReplaySettings(ctx context.Context, bytes int64) (settings []store.Setting, err error) {
	wanted := replaySettings(bytes)
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		var now int64
		setting := store.Setting{Name: name, Value: strconv.FormatInt(wanted[name], 10)}
		err := s.DB().QueryRowContext(ctx, `SELECT setting::bigint, (SELECT f.setting FROM pg_file_settings f
			WHERE f.name = s.name AND f.sourcefile LIKE '%postgresql.auto.conf' ORDER BY f.seqno DESC LIMIT 1)
			FROM pg_settings s WHERE name = $1`, name).Scan(&now, &setting.Before)
		if err != nil {
			return nil, err
		}
		if now < wanted[name] {
			settings = append(settings, setting)
		}
	}
	return settings, nil
}

// Change changes settings by ALTER SYSTEM: store.Replayer.
func (s Replayer) Change(ctx context.Context, settings []store.Setting, back bool) error {
	const op = "change settings"
	for _, c := range settings {
		if _, known := replaySettings(0)[c.Name]; !known {
			return fmt.Errorf("%s: ds2_info names %q, which no replay test changes", op, c.Name)
		}
		value := &c.Value
		if back {
			value = c.Before
		}
		statement := "ALTER SYSTEM RESET " + c.Name
		if value != nil {
			statement = "ALTER SYSTEM SET " + c.Name + " = " + store.Literal(*value)
		}
		if _, err := s.DB().ExecContext(ctx, statement); err != nil {
			return target.Hint(s.Wrap(op, err), alterHints)
		}
	}
	if err := s.reload(ctx); err != nil || back {
		return target.Hint(s.Wrap(op, err), alterHints)
	}
	const ask = "SELECT setting, source FROM pg_settings WHERE name = $1"
	for _, c := range settings {
		var now, source string
		if err := s.DB().QueryRowContext(ctx, ask, c.Name).Scan(&now, &source); err != nil {
			return err
		}
		if now != c.Value {
			return store.Refuse("set "+c.Name, "start the server without it on its command line",
				"it is %s, by %s, and not %s", now, source, c.Value)
		}
	}
	return nil
}

// reloadTime is how long a server may take to read its configuration again.
const reloadTime = 10 * time.Second

// reload lets the server read its configuration again and waits until it has: pg_reload_conf only asks for it.
func (s Replayer) reload(ctx context.Context) error {
	c, err := s.DB().Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	var before time.Time
	if err := c.QueryRowContext(ctx, "SELECT pg_conf_load_time()").Scan(&before); err != nil {
		return err
	}
	if _, err := c.ExecContext(ctx, "SELECT pg_reload_conf()"); err != nil {
		return err
	}
	for end := time.Now().Add(reloadTime); ; {
		var done bool
		if err := c.QueryRowContext(ctx, "SELECT pg_conf_load_time() > $1", before).Scan(&done); err != nil || done {
			return err
		}
		if time.Now().After(end) {
			return store.Refuse("reload the configuration of "+s.Label(),
				"look into the server's log for an error in its configuration files",
				"not done within %s", reloadTime)
		}
		if !progress.Pause(ctx, 20*time.Millisecond) {
			return ctx.Err()
		}
	}
}

// alterHints are what to do where settings may not be changed.
var alterHints = map[string]string{
	target.InsufficientPrivilege: "let a superuser run it, who may change settings by ALTER SYSTEM",
}

// tellsOfRecovery makes sure that the server writes of its recovery, in words that Redo can read, and where it can read
// them.
func (s Replayer) tellsOfRecovery(ctx context.Context, op, file string) error {
	var level, language string
	var own sql.NullString
	const ask = "SELECT current_setting('log_min_messages'), current_setting('lc_messages'), pg_current_logfile()"
	if err := s.DB().QueryRowContext(ctx, ask).Scan(&level, &language, &own); err != nil {
		return target.Hint(s.Wrap(op, err), alterHints)
	}
	switch plain, _, _ := strings.Cut(language, "."); {
	case level == "fatal" || level == "panic":
		return store.Refuse(op, "set log_min_messages to warning, its default",
			"log_min_messages is %s: the server would not say how long its recovery took", level)
	case plain != "" && plain != "C" && plain != "POSIX" && !strings.HasPrefix(plain, "en"):
		return store.Refuse(op, "set lc_messages to C",
			"lc_messages is %s: ds2 reads messages about the recovery in English only", language)
	case file == "" && !own.Valid:
		return store.Refuse(op, "name the file by --server-log, or turn on logging_collector",
			"the server writes its log where it cannot be read over a connection")
	}
	if file != "" {
		if _, err := os.Stat(file); err != nil {
			return store.Refuse(op, "", "%w", err)
		}
	}
	return nil
}

// LogSinceCheckpoint asks how far the log is beyond the last checkpoint's redo: store.Replayer.
func (s Replayer) LogSinceCheckpoint(ctx context.Context) (stand store.LogStand, err error) {
	const ask = `SELECT redo_lsn::text, (pg_current_wal_flush_lsn() - redo_lsn)::bigint FROM pg_control_checkpoint()`
	err = s.DB().QueryRowContext(ctx, ask).Scan(&stand.From, &stand.Bytes)
	return stand, s.Wrap("ask how much log stands since the last checkpoint of "+s.Label(), err)
}

// logTail is how much of the end of the server's log is read.
const logTail = 4 << 20

// Redo reads the end of the server's log: store.Replayer.
func (s Replayer) Redo(ctx context.Context, stood store.LogStand, file string) (store.Redo, error) {
	text, err := s.serverLog(ctx, file)
	if err != nil {
		return store.Redo{}, s.Wrap("read the server's log of "+s.Label(), err)
	}
	r, err := readRedo(text, stood.From)
	if err != nil {
		return r, fmt.Errorf("read the server's log of %s: %w", s.Label(), err)
	}
	return r, nil
}

// serverLog reads the end of a file, or of the server's own.
func (s Replayer) serverLog(ctx context.Context, file string) (string, error) {
	if file == "" {
		const ask = `SELECT pg_read_binary_file(f, greatest((pg_stat_file(f)).size - $1::bigint, 0), $1::bigint)
			FROM pg_current_logfile() f`
		var text []byte
		err := s.DB().QueryRowContext(ctx, ask, logTail).Scan(&text)
		return string(text), err
	}
	log, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer log.Close()
	end, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.NewSectionReader(log, max(end-logTail, 0), logTail))
	return string(text), err
}

var (
	redoStarts  = regexp.MustCompile(`redo starts at ([0-9A-F]+/[0-9A-F]+)`)
	redoDone    = regexp.MustCompile(`redo done at ([0-9A-F]+/[0-9A-F]+)(?:.*elapsed: ([0-9.]+) s)?`)
	lineWritten = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]+`)
)

// readRedo finds the last recovery in a server's log, which must have begun where the log stood. Versions before 14 do
// not say how long it took, so that the times of the lines do.
func readRedo(text, from string) (r store.Redo, err error) {
	var began string // the line
	for line := range strings.Lines(text) {
		if m := redoStarts.FindStringSubmatch(line); m != nil {
			r, began = store.Redo{From: m[1]}, line
			continue
		}
		m := redoDone.FindStringSubmatch(line)
		if m == nil || began == "" {
			continue
		}
		r.To = m[1]
		if r.Bytes, err = logBytes(r.From, r.To); err != nil {
			return r, err
		}
		if m[2] != "" {
			if r.Seconds, err = strconv.ParseFloat(m[2], 64); err != nil {
				return r, err
			}
		} else if r.Seconds, err = between(began, line); err != nil {
			return r, err
		}
	}
	switch {
	case began == "":
		return r, errors.New("there is no recovery in it; is it the log of this server?")
	case r.From != from:
		return r, fmt.Errorf("its last recovery began at %s, and the last checkpoint was at %s: "+
			"a checkpoint came before the kill, or it is the log of another server", r.From, from)
	case r.To == "":
		return r, errors.New("its last recovery has not ended")
	}
	return r, nil
}

// between is the time between two lines that begin with when they were written, as log_line_prefix has it by default.
func between(first, last string) (float64, error) {
	var at [2]time.Time
	for i, line := range []string{first, last} {
		var err error
		if at[i], err = time.Parse("2006-01-02 15:04:05.999999", lineWritten.FindString(line)); err != nil {
			return 0, errors.New("it does not say how long the recovery took: begin log_line_prefix with %m")
		}
	}
	return at[1].Sub(at[0]).Seconds(), nil
}

// logBytes is how much log there is between two positions.
func logBytes(from, to string) (int64, error) {
	var a, b struct{ high, low int64 }
	_, err := fmt.Sscanf(from+" "+to, "%X/%X %X/%X", &a.high, &a.low, &b.high, &b.low)
	return b.high<<32 + b.low - a.high<<32 - a.low, err
}
