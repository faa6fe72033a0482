package sqlserver

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"math"
	"strconv"
	"strings"
	"text/template"
	"time"

	"ds2/internal/numbers"
	"ds2/internal/store"
)

//go:embed *.tmpl
var templates embed.FS

// writeLines is what a template says of data: its lines, but for empty ones.
func writeLines(name string, data any) (lines []string) {
	var text strings.Builder
	t := template.Must(template.ParseFS(templates, name))
	if err := t.Execute(&text, data); err != nil {
		panic(err) // the template is wrong
	}
	for line := range strings.Lines(text.String()) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// Advise tells what of the server's configuration a storage test should not have: monitor.Adviser.
// It judges the settings that the record of a run holds too.
func (s *Store) Advise(
	ctx context.Context,
	run time.Duration,
	memory int64,
) (reads string, all []string, err error) {
	v, err := s.askServer(ctx)
	if err != nil {
		return "", nil, err
	}
	if v.babelfish {
		return "", []string{
			"this server is Babelfish for PostgreSQL, whose settings ds2 does not read: it cannot warn of a database that fits into memory",
		}, nil
	}
	settings, err := s.readSettings(ctx)
	if err != nil {
		return "", nil, s.Wrap("ask for the server's configuration", err)
	}
	reads, all = judgeSettings(settings, run, memory)
	return reads, all, nil
}

// readSettings reads the settings of the server and of the database by name; what the server does
// not know or tell is missing.
func (s *Store) readSettings(ctx context.Context) (settings, error) {
	// An error: this version or edition has no such thing, or does not tell.
	found, _ := store.Settings(ctx, s)
	return found, ctx.Err()
}

// settings are names and values, as schema/sqlserver/database/settings.sql gives them.
type settings map[string]string

// Text is a setting as the server gives it.
func (s settings) Text(name string) string { return s[name] }

// Has tells whether the server gives a setting.
func (s settings) Has(name string) bool {
	_, known := s[name]
	return known
}

// Number is a setting's value, 0 where it is missing.
func (s settings) Number(name string) int64 {
	n, _ := strconv.ParseInt(s[name], 10, 64)
	return n
}

// MB are bytes in millions.
func (s settings) MB(name string) int64 { return s.Number(name) / 1e6 }

// Percent is how much of a whole a part is; of a whole that is unknown no judgement follows, as the
// template asks for that first.
func (s settings) Percent(part, whole string) int64 {
	return 100 * s.Number(part) / max(s.Number(whole), 1)
}

// Seconds is a time.
func (s settings) Seconds(name string) time.Duration {
	return time.Duration(s.Number(name)) * time.Second
}

// PowerPlan is the GUID of Windows' power plan.
func (s settings) PowerPlan() string {
	return strings.ToLower(strings.Trim(s["ActivePowerScheme"], "{}"))
}

// bufferPools are what an edition takes for its buffer pool at most, in bytes, by the first word of
// its name: learn.microsoft.com/sql/sql-server/editions-and-components-of-sql-server-2022.
var bufferPools = map[string]int64{
	"Express":  1410 << 20,
	"Web":      64 << 30,
	"Standard": 128 << 30, // 256 GB from 2025 on
}

// noMemoryLimit is the default of max server memory, in MB: the server takes what its machine has.
const noMemoryLimit = math.MaxInt32

// cacheOf is the memory that a server may take for pages: that of its machine, within the server's
// own limit and the edition's. 0: unknown.
func (s settings) cacheOf(memory int64) int64 {
	cache := cmp.Or(memory, s.Number("server memory bytes"), math.MaxInt64)
	if limit := s.Number("max server memory (MB)"); limit > 0 && limit < noMemoryLimit {
		cache = min(cache, limit<<20)
	}
	edition, _, _ := strings.Cut(s["server edition"], " ")
	if pool, limited := bufferPools[edition]; limited {
		cache = min(cache, pool)
	}
	if cache == math.MaxInt64 {
		return 0
	}
	return cache
}

// judgeSettings judges settings, for a run of a length, 0 where that is unknown.
func judgeSettings(s settings, run time.Duration, memory int64) (reads string, advice []string) {
	cache := s.cacheOf(memory)
	// Used pages count, not the files, which are made larger than what is in them.
	if data := s.Number("database used bytes"); data > 0 && data < cache {
		reads = fmt.Sprintf("the database of %s fits into the %s of memory that the server may take: its reads test no storage",
			numbers.Bytes(data), numbers.Bytes(cache))
	}
	return reads, writeLines("advice.tmpl", struct {
		settings
		Settings settings
		Run      time.Duration
	}{s, s, run})
}

// Examine looks whether the server has what a run needs: preflight.Examiner.
func (s *Store) Examine(ctx context.Context, users int) (store.Examination, error) {
	e := store.Examination{LogGrowth: -1}
	v, err := s.askServer(ctx)
	if err != nil {
		return e, err
	}
	if v.babelfish {
		e.Add(store.Babelfish, "", "")
		return e, nil
	}
	var found examination
	err = s.db.QueryRowContext(ctx, query("server/examination")).
		Scan(&found.Version, &found.User, &found.Writable, &found.Execute, &found.State,
			&found.Most, &found.InUse)
	if err != nil {
		return e, s.Wrap("examine the server", err)
	}
	// Azure SQL Database has a limit of each service objective instead; an error: there is no such
	// view.
	_ = s.db.QueryRowContext(ctx, query("server/session-limit")).Scan(&found.Most)
	found.Needed = users + store.OwnConnections + 1 // the lock has one in master, too
	found.Free = found.Most - found.InUse
	// Under full recovery only a backup frees the log, and one that may not grow stops all changes
	// when it is full (error 9002).
	if size, used, kept, err := s.LogSpace(ctx); err == nil && size > 0 {
		found.LogMB = size / 1e6
		found.LogUsedMB = used / 1e6
		found.LogUsedPercent = 100 * used / size
		found.LogKept = kept
	}
	found.findInto(&e)
	return e, ctx.Err()
}

// examination is what the server says of itself and of the user before a run.
type examination struct {
	Version, User            string
	Writable, Execute, State bool // the user may see the server's state
	Most, InUse              int  // connections
	Needed, Free             int

	LogMB, LogUsedMB int64 // LogMB 0: unknown
	LogUsedPercent   int64
	LogKept          bool // only a backup of the log frees it
}

// findInto adds what follows for a run.
func (x examination) findInto(e *store.Examination) {
	e.Add(store.VersionKnown, "SQL Server "+x.Version, "")
	e.Judge(x.Writable, store.Writable, store.ReadOnly, "the database is read-only",
		"ALTER DATABASE … SET READ_WRITE, or name the primary replica")

	// Without the right to see the state, the user's own sessions are all that were counted.
	room := "%d needed, %d free: the server allows %d, %d in use"
	if !x.State {
		room = "%[1]d are needed: the server allows %[3]d, and does not show this user how many are in use"
	}
	room = fmt.Sprintf(room, x.Needed, x.Free, x.Most, x.InUse)
	e.Judge(x.Free >= x.Needed, store.EnoughConnections, store.TooFewConnections, room,
		"raise 'user connections' with sp_configure")
	e.Judge(x.Execute, store.EnoughRights, store.NoRightToCallAll, x.User, "")
	if !x.State {
		e.Add(store.CountersHidden,
			x.User+" may not see the server's state: its counters and waits are not observed",
			"GRANT VIEW SERVER STATE TO the login, from 2022 on VIEW SERVER PERFORMANCE STATE; in Azure SQL Database VIEW DATABASE STATE TO the user")
	}
	if x.LogMB == 0 {
		return
	}
	log := fmt.Sprintf("%d MB of the log's %d MB are in use", x.LogUsedMB, x.LogMB)
	if x.LogKept {
		log += ", and only a backup of the log frees that"
	}
	full := x.LogKept && x.LogUsedPercent >= 50
	e.Judge(!full, store.LogRoom, store.LogFull, log, "")
}
