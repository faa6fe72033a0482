package monitor

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"strings"
	"time"

	"ds2/internal/store"
)

// databaseCounters are what the engines' queries give, by the names that they give it. Of the parts of a ratio there is no
// column.
var databaseCounters = map[string]struct{ column, help string }{
	"commits_total":          {DatabaseCommits, "Transactions that the database committed."},
	"rollbacks_total":        {DatabaseRollbacks, "Transactions that the database rolled back."},
	"cache_hits_total":       {"", "Pages that the database asked for and found in its cache."},
	"cache_lookups_total":    {"", "Pages that the database asked for."},
	"cache_hit_ratio":        {DatabaseCacheHits, "Share of the pages asked for that were in the database's cache, as the server computes it."},
	"temporary_bytes_total":  {DatabaseTemporaryBytes, "Bytes that queries wrote to temporary files."},
	"log_bytes_total":        {DatabaseLogBytes, "Bytes that the database wrote to its log (WAL)."},
	"log_syncs_total":        {DatabaseLogSyncs, "Times that the database had its log written to the drive and waited for it."},
	"checkpoints_total":      {DatabaseCheckpoints, "Checkpoints that the server made."},
	"checkpoint_pages_total": {DatabaseCheckpointPages, "Pages that checkpoints wrote."},
	"autovacuums_total":      {DatabaseAutovacuums, "Tables that autovacuum vacuumed or analyzed."},
	"vacuums_running":        {DatabaseVacuums, "Tables that are being vacuumed."},
	"background_pages_total": {DatabaseBackgroundPages, "Pages that the background writer wrote."},
	"lazy_pages_total":       {DatabaseLazyPages, "Pages that the server wrote to make room in its cache (SQL Server's lazy writer)."},
	"read_ahead_pages_total": {DatabaseReadAhead, "Pages that the server read before they were asked for."},
	"page_life_seconds":      {DatabasePageLife, "How long a page is expected to stay in the server's cache."},
	"log_flush_seconds":      {DatabaseLogFlush, "Time that writing the log took in the last second, as the server computes it (Log Flush Write Time)."},

	"temporary_file_bytes_total": {DatabaseTempFiles, "Bytes that the server read from and wrote to the files of tempdb."},
	"session_pages_total":        {DatabaseSessionPages, "Pages that sessions had to write themselves."},
	"lock_waits_total":           {DatabaseLockWaits, "Times that a session had to wait for a lock."},
	"deadlocks_total":            {DatabaseDeadlocks, "Deadlocks that the server resolved."},
	"size_bytes":                 {DatabaseSize, "Size of the database's files without its log."},
	"log_file_bytes":             {DatabaseLogFiles, "Size of the log's files."},
	"log_file_used_bytes":        {DatabaseLogFilesUsed, "Of the log's files, what is in use and cannot be written over."},
	// Seconds a second are how many sessions wait at once.
	"waits_data_read_seconds_total":   {WaitsDataRead, "Time that all sessions of the server waited for pages to be read (PAGEIOLATCH)."},
	"waits_log_write_seconds_total":   {WaitsLogWrite, "Time that all sessions waited for the log to be written (WRITELOG, LOGBUFFER)."},
	"waits_log_replica_seconds_total": {WaitsLogReplica, "Time that all sessions waited for another server to have the log (HADR_SYNC_COMMIT)."},
	"waits_log_limit_seconds_total":   {WaitsLogLimit, "Time that all sessions waited because the service limits the rate of the log (LOG_RATE_GOVERNOR)."},
	"waits_data_write_seconds_total":  {WaitsDataWrite, "Time that all sessions waited for pages to be written (WRITE_COMPLETION)."},
	"waits_lock_seconds_total":        {WaitsLock, "Time that all sessions waited for row and table locks (LCK_M)."},
	"waits_latch_seconds_total":       {WaitsLatch, "Time that all sessions waited for latches on pages in memory and inside the server (PAGELATCH, LATCH)."},
	"waits_processor_seconds_total":   {WaitsProcessor, "Time that all sessions waited for a processor after they gave it up (SOS_SCHEDULER_YIELD)."},
	"waits_client_seconds_total":      {WaitsClient, "Time that all sessions waited for their clients to take rows (ASYNC_NETWORK_IO)."},
	"sessions_active_seconds_total": {SessionsActive, // seconds a second are how many there are at once
		"Time that sessions were at work on statements, waits included, summed over all."},
	"sessions_idle":                 {SessionsIdle, "Sessions that wait for their client."},
	"sessions_running":              {SessionsRunning, "Sessions that work and wait for nothing."},
	"sessions_waiting_for_lock":     {SessionsWaitingForLock, "Sessions that wait for a row or table lock."},
	"sessions_waiting_for_storage":  {SessionsWaitingForDrives, "Sessions that wait for a read or write of data or log."},
	"sessions_waiting_for_latch":    {SessionsWaitingForLatch, "Sessions that wait for a short lock inside the server."},
	"sessions_waiting_for_client":   {SessionsWaitingForClient, "Sessions that wait for their client in the middle of a statement."},
	"sessions_waiting_for_the_rest": {SessionsWaitingForRest, "Sessions that wait for anything else."},
}

// Counters is a query for counters: rows of a name of the list above and a number.
type Counters struct {
	Query string
	Label string // whose they are in Prometheus: "server" or "target"
	Of    string // the server or the target, by name
	Item  string // tells it apart in the columns, where there are several
}

// Database reads counters through a database: those of each query. They are read on one connection, since all others of the pool
// would be counted among the sessions. The round trip to the server is measured besides, as the last one's.
func Database(ctx context.Context, db *sql.DB, queries ...Counters) (Source, error) {
	last := queries[len(queries)-1]
	src := Source{Name: "database counters of " + last.Of}
	db.SetMaxIdleConns(1)
	index := make([]map[string]int, len(queries)) // of figures, by the counters' names
	for n, q := range queries {
		index[n] = map[string]int{}
		first, err := readCounters(ctx, db, q.Query)
		if err != nil {
			return src, fmt.Errorf("read counters of %s: %w", q.Of, err)
		}
		for _, c := range first {
			known, ok := databaseCounters[c.name]
			if !ok {
				return src, fmt.Errorf("read counters of %s: unknown counter %q", q.Of, c.name)
			}
			i := len(src.Figures)
			index[n][c.name] = i
			src.Figures = append(src.Figures, Figure{"database_" + c.name, known.help, q.Label, q.Of})
			if known.column == "" {
				continue
			}
			derive := gauge(i)
			if strings.HasSuffix(c.name, "_total") {
				derive = rate(i)
			}
			src.Columns = append(src.Columns, Column{ItemColumn(known.column, q.Item), derive})
		}
		if hits, ok := index[n]["cache_hits_total"]; ok {
			src.Columns = append(src.Columns, Column{ItemColumn(DatabaseCacheHits, q.Item), ratio(hits, index[n]["cache_lookups_total"])})
		}
	}
	trip := len(src.Figures)
	src.Figures = append(src.Figures, Figure{"database_round_trip_seconds", "Time that a message without work takes to the server and back.", last.Label, last.Of})
	src.Columns = append(src.Columns, Column{ItemColumn(DatabaseRoundTrip, last.Item), gauge(trip)})
	src.Read = func(ctx context.Context, values []float64) error {
		for n, q := range queries {
			counters, err := readCounters(ctx, db, q.Query)
			for _, c := range counters {
				if i, ok := index[n][c.name]; ok {
					values[i] = c.value
				}
			}
			if err != nil {
				return err
			}
		}
		// On the connection that has just answered: one that has rested is first tried by its driver.
		start := time.Now()
		err := db.PingContext(ctx)
		values[trip] = time.Since(start).Seconds()
		return err
	}
	return src, nil
}

type counter struct {
	name  string
	value float64
}

func readCounters(ctx context.Context, db *sql.DB, query string) ([]counter, error) {
	var counters []counter
	err := store.List(ctx, db, query, func(rows *sql.Rows) error {
		var c counter
		var value sql.NullFloat64
		err := rows.Scan(&c.name, &value)
		c.value = math.NaN()
		if value.Valid {
			c.value = value.Float64
		}
		counters = append(counters, c)
		return err
	})
	return counters, err
}
