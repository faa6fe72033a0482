package sqlserver

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"ds2/internal/store"
)

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
			"this server is Babelfish for PostgreSQL, whose settings ds2 does not read: it " +
				"cannot warn of a database that fits into memory",
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
	found, _ := store.Settings(
		ctx,
		s,
	) // an error: this version or edition has no such thing, or does not tell
	return found, ctx.Err()
}

// settings are names and values, as schema/sqlserver/server/settings.sql gives them.
type settings map[string]string

// numberOf is a setting's value, 0 where it is missing.
func (s settings) numberOf(name string) int64 {
	n, _ := strconv.ParseInt(s[name], 10, 64)
	return n
}

// noMemoryLimit is the default of max server memory, in bytes.
const noMemoryLimit = math.MaxInt32 << 20

// fastPlans are the GUIDs of Windows' power plans "High performance" and "Ultimate Performance".
var fastPlans = []string{
	"8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c", "e9a42b02-d5df-448d-aa00-03f14749eb61",
}

// bufferPools are what an edition takes for its buffer pool at most, by the beginning of its name:
// learn.microsoft.com/sql/sql-server/editions-and-components-of-sql-server-2022.
var bufferPools = []struct {
	edition string
	bytes   int64
}{
	{"Express", 1410 << 20},
	{"Web", 64 << 30},
	{"Standard", 128 << 30}, // 256 GB from 2025 on
}

// cacheOf is the memory that a server may take for pages: that of its machine, within the server's
// own limit and the edition's. 0: unknown.
func (s settings) cacheOf(memory int64) int64 {
	cache := cmp.Or(memory, s.numberOf("server memory bytes"))
	limits := []int64{s.numberOf("max server memory (MB)") << 20}
	for _, pool := range bufferPools {
		if strings.HasPrefix(s["server edition"], pool.edition) {
			limits = append(limits, pool.bytes)
		}
	}
	for _, limit := range limits {
		if limit > 0 && limit < noMemoryLimit && (cache == 0 || limit < cache) {
			cache = limit
		}
	}
	return cache
}

// judgeSettings judges settings.
func judgeSettings(s settings, run time.Duration, memory int64) (reads string, advice []string) {
	warn := func(when bool, format string, args ...any) {
		if when {
			advice = append(advice, fmt.Sprintf(format, args...))
		}
	}
	const mb = 1 << 20
	cache := s.cacheOf(memory)
	data := s.numberOf("database used bytes")
	if data > 0 && data < cache {
		reads = fmt.Sprintf(
			"the database of %d MB fits into the %d MB of memory that the server may take: "+
				"its reads test no storage",
			data/1e6,
			cache/1e6,
		)
	}
	model := s["database recovery model"]
	chain := s["database log chain"]
	size := s.numberOf("database log bytes")
	used := s.numberOf("database log used bytes")
	warn(
		model == "FULL" && chain == "none",
		"recovery is full in name only until the first full backup, and the log "+
			"is truncated as under simple recovery: make one with ds2 snapshot create",
	)
	warn(
		model == "FULL" && chain != "none" && size > 0 && used > size/2,
		"the log of %d MB is %d %% full, and only a "+
			"backup of it makes room: back it up, or let ds2 reset --discard-log do so, "+
			"before it grows in the run",
		size/1e6,
		100*used/max(size, 1),
	)
	warn(
		(model == "SIMPLE" || model == "BULK_LOGGED") &&
			s["ds2 workload"] == "", // other workloads choose theirs
		"the recovery model is %s; DVD Store's storage report measured under full recovery",
		model,
	)
	verify := s["database page verify"]
	warn(verify != "" && verify != "CHECKSUM",
		"page verify is %s: damage by the drives may go unnoticed; set it to CHECKSUM", verify)
	free := s.numberOf("log volume free bytes")
	warn(
		free > 0 && size > 0 && free < size/4,
		"the log's volume %s has %d MB left: a log that must grow will stop the run",
		s["log volume"],
		free/1e6,
	)
	warn(
		s["database read committed snapshot"] == "1" && s["service objective"] == "",
		"read committed snapshot is on: it also writes versions of rows; the storage "+
			"report's runs had it off",
	)
	_, known := s["database target recovery time (s)"]
	every := time.Duration(s.numberOf("database target recovery time (s)")) * time.Second
	warn(run > 0 && every > run, "the target recovery time is %s and the run lasts %s: "+
		"it may end before checkpoints write anything out", every, run)
	warn(
		known && every == 0 && run > 0 && run < 5*time.Minute,
		"the target recovery time is 0, so checkpoints come "+
			"about once a minute or less often: a run of %s sees few of them",
		run,
	)
	target := s.numberOf("server memory target bytes")
	taken := s.numberOf("server memory committed bytes")
	warn(
		target > 0 && taken < target/10*9 && taken < data,
		"the server's memory is still growing, %d MB of %d MB: "+
			"until then it reads eight pages for each one asked for; make the warm-up longer",
		taken/mb,
		target/mb,
	)
	for _, distorts := range distortions {
		warn(s[distorts.setting] == distorts.value, "%s", distorts.says)
	}
	warn(s.numberOf("database compressed indexes") > 0, "some tables or indexes are compressed: "+
		"fewer pages are read and written, for more CPU work")
	_, governed := s["server resource governor"]
	warn(
		len(s) > 0 && !governed && s["service objective"] == "",
		"whether the Resource Governor limits these sessions is unknown: "+
			"GRANT VIEW SERVER STATE TO the login",
	)
	flags := s["server trace flags"]
	pages := s.numberOf("server suspect pages")
	warn(
		flags != "",
		"trace flags %s are on for the whole server: compare it only with a server that has "+
			"the same",
		flags,
	)
	warn(
		pages > 0,
		"msdb.dbo.suspect_pages lists %d damaged pages of this database: check it by ds2 verify --deep, "+
			"and look at the drive",
		pages,
	)
	level := s.numberOf("database compatibility level")
	warn(
		level > 0 && level < 130,
		"the compatibility level is %d, of SQL Server before 2016: it has an older optimizer",
		level,
	)
	files := s.numberOf("tempdb data files")
	wanted := min(s.numberOf("server CPUs"), 8)
	warn(files > 0 && files < wanted, "tempdb has %d data files for %d CPUs: give it %d",
		files, s.numberOf("server CPUs"), wanted)
	plan := s["ActivePowerScheme"]
	warn(plan != "" && !slices.Contains(fastPlans, strings.ToLower(strings.Trim(plan, "{}"))),
		"Windows' power plan is not High performance: the CPUs slow down between requests")
	return reads, advice
}

// distortions are settings with the value by which they distort a run.
var distortions = []struct{ setting, value, says string }{
	// under ALLOWED none is lazy that does not ask for it
	{"database delayed durability", "FORCED", "delayed durability is FORCED: " +
		"commits do not wait for the log, and a crash may lose the last of them"},
	{
		"server instant file initialization",
		"N",
		"instant file initialization is off: each growth of a data " +
			"file is first filled with zeros; grant the server's account Perform volume " +
			"maintenance tasks",
	},
	{"database query store", "1", "the Query Store is on and writes to the database under test; " +
		"ALTER DATABASE … SET QUERY_STORE = OFF for a run to be compared with older versions"},
	{"database accelerated recovery", "1", "accelerated database recovery is on: " +
		"it also writes versions of rows to the database"},
	{"server buffer pool extension", "1", "the buffer pool extension is on: " +
		"reads of pages that left the cache come from its file and not from the data files"},
	{"database memory optimized pages", "1", "hybrid buffer pool is on: " +
		"pages on persistent memory are read in place, past the cache and the drives under test"},
	{"database persistent log buffer", "1", "the log has a buffer on persistent memory: " +
		"commits do not wait for the drives under test"},
	{
		"database encryption",
		"1",
		"transparent data encryption is on: the CPUs encrypt each page that is read or written",
	},
	{"database availability group", "1", "the database is in an availability group: " +
		"commits may wait until other replicas have written the log, too"},
	{
		"server resource governor",
		"1",
		"the Resource Governor is on, and may limit I/O, memory and CPUs of these sessions",
	},
}

// Examine looks whether the server has what a run needs: preflight.Examiner.
func (s *Store) Examine(ctx context.Context, users int) (store.Examination, error) {
	e := store.Examination{LogGrowth: -1}
	v, err := s.askServer(ctx)
	if err != nil {
		return e, err
	}
	if v.babelfish {
		e.Add(
			"server",
			false,
			store.Warning,
			"this server is Babelfish for PostgreSQL, which shows few of its statistics "+
				"through T-SQL",
			"check its connections and rights yourself",
		)
		return e, nil
	}
	var version, user string
	var writable, execute, state bool
	var most, inUse int
	err = s.db.QueryRowContext(ctx, `
		SELECT CAST(SERVERPROPERTY('ProductVersion') AS nvarchar(128)), ISNULL(SUSER_SNAME(), ''),
			CAST(CASE DATABASEPROPERTYEX(DB_NAME(), 'Updateability') WHEN 'READ_WRITE' THEN 1 ELSE 0 END AS bit),
			CAST(ISNULL(HAS_PERMS_BY_NAME(NULL, 'DATABASE', 'EXECUTE'), 0) AS bit),
			CAST(ISNULL(CASE SERVERPROPERTY('EngineEdition')
				WHEN 5 THEN HAS_PERMS_BY_NAME(NULL, 'DATABASE', 'VIEW DATABASE STATE')
				WHEN 12 THEN HAS_PERMS_BY_NAME(NULL, 'DATABASE', 'VIEW DATABASE STATE')
				ELSE COALESCE(NULLIF(HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE'), 0),
					HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER PERFORMANCE STATE')) END, 0) AS bit),
			COALESCE(NULLIF((
				SELECT CAST(value_in_use AS int) FROM sys.configurations WHERE name = 'user connections'), 0),
				@@MAX_CONNECTIONS),
			(SELECT COUNT(*) FROM sys.dm_exec_sessions AS s WHERE is_user_process = 1 AND NOT EXISTS (
				SELECT 1 FROM sys.dm_exec_sessions AS own WHERE own.session_id = @@SPID
					AND own.host_name = s.host_name AND own.host_process_id = s.host_process_id))`).
		Scan(&version, &user, &writable, &execute, &state, &most, &inUse)
	if err != nil {
		return e, s.Wrap("examine the server", err)
	}
	// Azure SQL Database has a limit of each service objective instead.
	const governed = "SELECT max_sessions FROM sys.dm_user_db_resource_governance" +
		" WHERE database_id = DB_ID() AND max_sessions IS NOT NULL"
	_ = s.db.QueryRowContext(ctx, governed).Scan(&most) // an error: there is no such view
	e.Add("version", true, store.OK, "SQL Server "+version, "")
	found := "the database accepts changes"
	if !writable {
		found = "the database is read-only"
	}
	e.Add("writable", writable, store.Failure, found,
		"ALTER DATABASE … SET READ_WRITE, or name the primary replica")
	needed := users + store.OwnConnections + 1 // the lock has one in master, too
	free := most - inUse
	found = fmt.Sprintf(
		"%d needed, %d free: the server allows %d, %d in use",
		needed,
		max(free, 0),
		most,
		inUse,
	)
	if !state { // the user's own are all that it counted
		found = fmt.Sprintf(
			"%d are needed: the server allows %d, and does not show this user how many are in use",
			needed,
			most,
		)
	}
	e.Add("connections", free >= needed, store.Failure, found,
		"raise 'user connections' with sp_configure, or use fewer --threads")
	found = user + " may call all procedures"
	if !execute {
		found = user + " may not call all procedures of the database"
	}
	e.Add("rights", execute, store.Warning, found,
		"if operations then fail: GRANT EXECUTE TO the user, or connect as the owner")
	if !state {
		e.Add(
			"counters",
			false,
			store.Warning,
			user+" may not see the server's state: its counters and waits are not observed",
			"GRANT VIEW SERVER STATE TO the login, from 2022 on VIEW SERVER PERFORMANCE STATE; "+
				"in Azure SQL Database VIEW DATABASE STATE TO the user",
		)
	}
	size, used, kept, err := s.LogSpace(ctx)
	if err == nil && size > 0 { // 0: not known
		found = fmt.Sprintf("%d MB of the log's %d MB are in use", used/1e6, size/1e6)
		if kept {
			found += ", and only a backup of the log frees that"
		}
		e.Add("log", !kept || used < size/2, store.Warning, found,
			"back the log up, or load with a larger --log-size: commits wait while it grows")
	}
	return e, ctx.Err()
}
