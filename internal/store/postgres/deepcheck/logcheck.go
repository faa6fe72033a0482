package deepcheck

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"

	"ds2/internal/progress"
	"ds2/internal/store"
	"ds2/internal/store/postgres/target"
)

// logPlace is what of the log is to be read, and where.
type logPlace struct {
	programs, data, system     string // directories of the server's programs and of its data; its identifier
	standby                    bool
	timeline, start, end, size int64
}

// findLog asks the server for its log from the oldest segment on from which none is missing, up to what is on the
// drive.
const findLog = `
	WITH now AS (
		SELECT pg_current_wal_flush_lsn() AS lsn, setting::bigint AS size
		FROM pg_settings WHERE name = 'wal_segment_size'),
	current AS (
		SELECT lsn, size, substr(pg_walfile_name(lsn), 1, 8) AS timeline, div(lsn - '0/0', size)::bigint AS segment
		FROM now),
	there AS (
		SELECT ('x' || substr(name, 9, 8))::bit(32)::bigint * (4294967296 / current.size)
			+ ('x' || substr(name, 17, 8))::bit(32)::bigint AS segment
		FROM pg_ls_waldir(), current WHERE name ~ '^[0-9A-F]{24}$' AND substr(name, 1, 8) = timeline),
	run AS (
		SELECT there.segment, row_number() OVER (ORDER BY there.segment DESC) AS n
		FROM there, current WHERE there.segment <= current.segment),
	oldest AS (SELECT min(run.segment) AS segment FROM run, current WHERE run.segment = current.segment + 1 - run.n)
	SELECT (SELECT setting FROM pg_config WHERE name = 'BINDIR'), current_setting('data_directory'),
		(SELECT system_identifier::text FROM pg_control_system()), pg_is_in_recovery(),
		('x' || timeline)::bit(32)::bigint, (oldest.segment * size)::bigint, (lsn - '0/0')::bigint, size
	FROM current, oldest`

// checkLog has pg_waldump read the log to its end, which verifies each record's checksum. It takes the server's
// programs and files on this machine; where they are not, the result says so.
func (s Checker) checkLog(ctx context.Context, tell func(done, total int64)) (*store.LogCheck, error) {
	var p logPlace
	err := s.DB().QueryRowContext(ctx, findLog).
		Scan(&p.programs, &p.data, &p.system, &p.standby, &p.timeline, &p.start, &p.end, &p.size)
	if err != nil {
		if wrapped := s.Wrap("ask where the log is", err); store.Classify(wrapped) == store.Connection {
			return nil, wrapped
		}
		return &store.LogCheck{Unread: fmt.Sprintf("the server does not say where its log is: %v", err)}, nil
	}
	c := &store.LogCheck{Method: "pg_waldump"}
	program, err := exec.LookPath(filepath.Join(p.programs, "pg_waldump"))
	switch {
	case !target.Holds(p.data, p.system, p.standby):
		c.Unread = "there are no files of the server in " + p.data + " of this machine, or they are not to be read"
	case err != nil:
		c.Unread = fmt.Sprintf("the server's programs are not on this machine: %v", errors.Unwrap(err))
	}
	if c.Unread != "" {
		return c, nil
	}
	c.Bytes = p.end - p.start
	// --quiet would not count the records.
	cmd := exec.CommandContext(ctx, program, "--stats", "--path", filepath.Join(p.data, "pg_wal"),
		"--timeline", fmt.Sprint(p.timeline), "--start", position(p.start), "--end", position(p.end))
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("read the log: %w", err)
	}
	stop := progress.Watch(ctx, time.Second/4, func(context.Context) bool {
		process, err := procfs.NewProc(cmd.Process.Pid)
		if err != nil {
			return false
		}
		io, err := process.IO()
		if err == nil {
			tell(min(int64(io.RChar), c.Bytes), c.Bytes)
		}
		return err == nil
	})
	err = cmd.Wait()
	stop()
	c.Seconds = time.Since(start).Seconds()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if total := totalRecords.FindSubmatch(out.Bytes()); total != nil {
		c.Records, _ = strconv.ParseInt(string(total[1]), 10, 64) // digits
	}
	if _, ended := errors.AsType[*exec.ExitError](err); ended {
		c.Bad = strings.TrimPrefix(strings.TrimSpace(said.String()), "pg_waldump: ")
		return c, nil
	}
	return c, err
}

// totalRecords is the last line of pg_waldump's statistics.
var totalRecords = regexp.MustCompile(`(?m)^Total\s+([0-9]+)`)

// position writes a position in the log as the server does.
func position(at int64) string { return fmt.Sprintf("%X/%X", at>>32, at&0xffffffff) }
