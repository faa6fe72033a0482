package iowatch

import (
	"context"
	"database/sql"
	"encoding/xml"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"ds2/internal/measure"
	"ds2/internal/store"
	"ds2/internal/store/sqlserver/target"
)

// MayTimeIO asks for the rights that TimeIO takes: store.Capabilities.
func (w Watcher) MayTimeIO(ctx context.Context) error {
	op := "time the I/Os of " + w.Label() + " by events"
	err := target.Lacks(ctx, w, op, "leave --io-events out", "this server, Babelfish, has no Extended Events",
		"this server is run by Azure, where ds2 makes no event sessions")
	if err != nil {
		return err
	}
	var may, sees bool
	err = w.DB().QueryRowContext(ctx, `SELECT
		CAST(COALESCE(HAS_PERMS_BY_NAME(NULL, NULL, 'ALTER ANY EVENT SESSION'), 0) AS bit),
		CAST(COALESCE(HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE'), 0) AS bit)`).Scan(&may, &sees)
	if err == nil && !(may && sees) {
		const hint = "GRANT ALTER ANY EVENT SESSION, VIEW SERVER STATE TO the login, or leave --io-events out"
		return store.Refuse(op, hint, "the login may not make event sessions and read what they count")
	}
	return w.Wrap(op, err)
}

// roles are what I/Os are for. Each has an event session of its own: a session's histograms share its events'
// predicates.
var roles = [...]struct {
	name, event string
	log         bool
}{
	{"data read", "file_read_completed", false},
	{"data write", "file_write_completed", false},
	{"log write", "file_write_completed", true},
}

// slots is how many durations a histogram tells apart.
const slots = 16384

// definition is the event session of a role. Its events come to the histogram within a second.
func definition(role, database int, logs []string) string {
	r, files := roles[role], "[file_id] <> "+strings.Join(logs, " AND [file_id] <> ")
	if r.log {
		files = "[file_id] = " + strings.Join(logs, " OR [file_id] = ")
	}
	return fmt.Sprintf(`ADD EVENT sqlserver.%[1]s (WHERE ([database_id] = %[2]d AND (%[3]s)))
ADD TARGET package0.histogram (
	SET filtering_event_name = N'sqlserver.%[1]s', slots = %[4]d, source = N'duration', source_type = 0)
WITH (MAX_MEMORY = 16 MB, EVENT_RETENTION_MODE = ALLOW_MULTIPLE_EVENT_LOSS, MAX_DISPATCH_LATENCY = 1 SECONDS,
	MEMORY_PARTITION_MODE = PER_NODE)`,
		r.event, database, files, slots)
}

// The names of event sessions begin with the session of their ds2, by number and login, since ds2 may be killed and
// leave them.
const (
	ownName = `SELECT CONCAT('ds2_io_', session_id, '_', DATEDIFF(second, '20200101', login_time), '_')
		FROM sys.dm_exec_sessions WHERE session_id = @@SPID`
	orphaned = `SELECT e.name FROM sys.server_event_sessions e
		WHERE e.name LIKE 'ds2[_]io[_]%' AND NOT EXISTS (SELECT 1 FROM sys.dm_exec_sessions s WHERE e.name LIKE
			CONCAT('ds2[_]io[_]', s.session_id, '[_]', DATEDIFF(second, '20200101', s.login_time), '[_]%'))`
	files = "SELECT DB_ID(), file_id FROM sys.database_files WHERE type = 1"
	read  = `SELECT t.target_data FROM sys.dm_xe_sessions s
		JOIN sys.dm_xe_session_targets t ON t.event_session_address = s.address WHERE s.name = @p1`
	// counted is what the server counts of the same I/Os: how many, and their time in milliseconds.
	counted = `SELECT
		COALESCE(SUM(CASE WHEN f.type <> 1 THEN v.num_of_reads END), 0),
		COALESCE(SUM(CASE WHEN f.type <> 1 THEN v.io_stall_read_ms END), 0),
		COALESCE(SUM(CASE WHEN f.type <> 1 THEN v.num_of_writes END), 0),
		COALESCE(SUM(CASE WHEN f.type <> 1 THEN v.io_stall_write_ms END), 0),
		COALESCE(SUM(CASE WHEN f.type = 1 THEN v.num_of_writes END), 0),
		COALESCE(SUM(CASE WHEN f.type = 1 THEN v.io_stall_write_ms END), 0)
		FROM sys.dm_io_virtual_file_stats(DB_ID(), NULL) v JOIN sys.database_files f ON f.file_id = v.file_id`
)

// amount is some I/Os and their durations together, in one unit or another.
type amount struct{ count, time int64 }

func (a *amount) add(count, time int64) { a.count, a.time = a.count+count, a.time+time }

// timing is the I/Os since TimeIO: store.IOTimes.
type timing struct {
	target.Target
	owner    *sql.Conn // is there as long as ds2 is
	sessions []string  // that were made, of the first roles
	was      [len(roles)]histogram
	server   [len(roles)]amount // as it counted at the last reading, in milliseconds

	events, ios amount // since the beginning, by events and by the server
}

// TimeIO begins to time the I/Os: store.Capabilities. Event sessions that a killed ds2 left are dropped.
func (w Watcher) TimeIO(ctx context.Context) (store.IOTimes, error) {
	t := &timing{Target: w.Target}
	if err := t.begin(ctx); err != nil {
		err = t.Wrap("begin to time the I/Os of "+t.Label()+" by events", err)
		return nil, errors.Join(err, t.drop(context.WithoutCancel(ctx)))
	}
	return t, nil
}

func (t *timing) begin(ctx context.Context) (err error) {
	if t.owner, err = t.DB().Conn(ctx); err != nil {
		return err
	}
	var name string
	if err = t.owner.QueryRowContext(ctx, ownName).Scan(&name); err != nil {
		return err
	}
	left, err := store.Collect(ctx, t.DB(), orphaned, store.Itself[string])
	if err != nil {
		return err
	}
	for _, session := range left {
		if err = t.run(ctx, "DROP", session, ""); err != nil {
			return err
		}
	}
	database := 0
	logs, err := store.Collect(ctx, t.DB(), files, func(id *string) []any { return []any{&database, id} })
	if err != nil {
		return err
	}
	for i, r := range roles {
		session := name + strings.ReplaceAll(r.name, " ", "_")
		if err = t.run(ctx, "CREATE", session, definition(i, database, logs)); err != nil {
			return err
		}
		t.sessions = append(t.sessions, session)
		if err = t.run(ctx, "ALTER", session, "STATE = START"); err != nil {
			return err
		}
	}
	t.server, err = t.counted(ctx)
	return err
}

// run does something to an event session.
func (t *timing) run(ctx context.Context, verb, session, how string) error {
	_, err := t.DB().ExecContext(ctx, verb+" EVENT SESSION "+target.QuoteName(session)+" ON SERVER "+how)
	return err
}

// counted is what the server counts.
func (t *timing) counted(ctx context.Context) (now [len(roles)]amount, err error) {
	row := t.DB().QueryRowContext(ctx, counted)
	return now, row.Scan(&now[0].count, &now[0].time, &now[1].count, &now[1].time, &now[2].count, &now[2].time)
}

// Read gives the times since it was called the last time: store.IOTimes.
func (t *timing) Read(ctx context.Context) (all []measure.Distribution, left error) {
	now, err := t.counted(ctx)
	if err != nil {
		return nil, t.Wrap("read what "+t.Label()+" counts of I/Os", err)
	}
	was := t.server
	t.server = now
	var some [len(roles)]histogram
	for i, r := range roles {
		if some[i], err = t.since(ctx, i); err != nil {
			left = errors.Join(left, fmt.Errorf("%s: %w", r.name, err))
			continue
		}
		for value, n := range some[i] {
			t.events.add(int64(n), int64(n)*value)
		}
		t.ios.add(now[i].count-was[i].count, now[i].time-was[i].time)
	}
	unit, err := t.unit()
	if err != nil {
		return nil, errors.Join(left, err)
	}
	for i, r := range roles {
		if len(some[i]) > 0 {
			all = append(all, some[i].times(r.name, unit))
		}
	}
	return all, left
}

// since gives a role's durations since the last reading. Before the slots are used up the session is begun again, with
// an empty histogram.
func (t *timing) since(ctx context.Context, role int) (histogram, error) {
	var text sql.NullString
	err := t.DB().QueryRowContext(ctx, read, t.sessions[role]).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, errors.New("its event session does not run any more, as after a restart of the server")
	}
	if err != nil {
		return nil, t.Wrap("read an event session", err)
	}
	now, partly := parse(text.String)
	since := now.minus(t.was[role])
	t.was[role] = now
	if len(now) > slots/2 || partly != nil {
		t.was[role] = nil
		stopped := t.run(ctx, "ALTER", t.sessions[role], "STATE = STOP")
		err = errors.Join(stopped, t.run(ctx, "ALTER", t.sessions[role], "STATE = START"))
	}
	if err = errors.Join(partly, t.Wrap("begin an event session again", err)); err != nil {
		return nil, err
	}
	return since, nil
}

// ratio is of the mean duration by events to the mean time in milliseconds that the server counts; NaN or infinite
// where either has none.
func (t *timing) ratio() float64 {
	return float64(t.events.time) / float64(t.events.count) / (float64(t.ios.time) / float64(t.ios.count))
}

// unit tells the unit of durations by what the server counts of the same I/Os: the vendor's pages do not say it, and
// published scripts disagree. Milliseconds and microseconds are too far apart to be taken for each other.
func (t *timing) unit() (time.Duration, error) {
	const enough, factor = 100, 3
	ratio, n := t.ratio(), min(t.events.count, t.ios.count)
	switch {
	case n < enough:
		return 0, fmt.Errorf("%d I/Os are too few to tell the unit of their durations", n)
	case ratio > 1./factor && ratio < factor:
		return time.Millisecond, nil
	case ratio > 1000./factor && ratio < 1000*factor:
		return time.Microsecond, nil
	}
	return 0, fmt.Errorf("the unit of their durations is unknown: "+
		"they are %.3g times the milliseconds that the server counts", ratio)
}

// End ends the timing, when the last events have come, and drops what it made: store.IOTimes.
func (t *timing) End(ctx context.Context) (store.IOTimed, error) {
	for try := 0; try < 4 && ctx.Err() == nil; try++ {
		if _, _ = t.Read(ctx); t.events.count >= t.ios.count { // why it could not has been said of the intervals before
			break
		}
		time.Sleep(time.Second / 2)
	}
	told := store.IOTimed{Events: t.events.count, IOs: t.ios.count}
	if unit, err := t.unit(); err == nil {
		told.Unit = strings.TrimPrefix(unit.String(), "1")
	}
	if ratio := t.ratio(); t.events.count > 0 && t.ios.time > 0 {
		told.Ratio = &ratio
	}
	return told, t.drop(ctx)
}

// drop drops the event sessions that were made.
func (t *timing) drop(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for _, session := range t.sessions {
		op := "drop event session " + session + ", which the next run with --io-events does"
		err = errors.Join(err, t.Wrap(op, t.run(ctx, "DROP", session, "")))
	}
	if t.owner != nil {
		err = errors.Join(err, t.owner.Close())
	}
	return err
}

// histogram counts I/Os by their duration, in a unit that is not known.
type histogram map[int64]uint64

// parse reads what the histogram target tells. The server's pages say that a full one ignores new durations, while some
// servers are said to count them as others and not to tell, so that a full one is an error, too.
func parse(text string) (histogram, error) {
	var told struct {
		Truncated int64 `xml:"truncated,attr"`
		Buckets   int   `xml:"buckets,attr"`
		Slots     []struct {
			Count uint64 `xml:"count,attr"`
			Value int64  `xml:"value"`
		} `xml:"Slot"`
	}
	if text == "" { // nothing has come yet
		return nil, nil
	}
	if err := xml.Unmarshal([]byte(text), &told); err != nil {
		return nil, fmt.Errorf("read the histogram: %w", err)
	}
	h := histogram{}
	for _, s := range told.Slots {
		h[s.Value] += s.Count
	}
	switch {
	case told.Truncated > 0:
		return h, fmt.Errorf("the histogram lost %d", told.Truncated)
	case told.Buckets > 0 && len(told.Slots) >= told.Buckets:
		return h, fmt.Errorf("the histogram is full: it cannot tell apart more than %d durations", told.Buckets)
	}
	return h, nil
}

// minus is what came after an earlier state.
func (h histogram) minus(was histogram) histogram {
	since := histogram{}
	for value, n := range h {
		if n > was[value] {
			since[value] = n - was[value]
		}
	}
	return since
}

// times are the durations, each taken for the longest that is told by the same number.
func (h histogram) times(name string, unit time.Duration) measure.Distribution {
	each, sum, micros := unit.Microseconds(), int64(0), map[int64]uint64{}
	for value, n := range h {
		sum += int64(n) * value
		micros[value*each+each-1] = n
	}
	return measure.Counted(name, time.Duration(sum)*unit, maps.All(micros))
}
