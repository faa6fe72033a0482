package sampling

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ds2/internal/store"
	"ds2/internal/topology"
)

// databaseCounters are what the engines' queries give, by the names that they give it.
var databaseCounters = map[string]string{
	"commits_total":   "Transactions that the database committed.",
	"rollbacks_total": "Transactions that the database rolled back.",
	cacheHits:         "Pages that the database asked for and found in its cache.",
	cacheLookups:      "Pages that the database asked for.",
	"cache_hit_ratio": "Share of the pages asked for that were in the database's cache, " +
		"as the server computes it.",
	"temporary_bytes_total":  "Bytes that queries wrote to temporary files.",
	"log_bytes_total":        "Bytes that the database wrote to its log (WAL).",
	"log_writes_total":       "Writes of the log that the database made.",
	"log_syncs_total":        "Times that the database had its log written to the drive and waited for it.",
	"checkpoints_total":      "Checkpoints that the server made.",
	"checkpoint_pages_total": "Pages that checkpoints wrote.",
	"autovacuums_total":      "Tables that autovacuum vacuumed or analyzed.",
	"other_sessions":         "Sessions of other clients of the server that are at work.",
	"vacuums_running":        "Tables that are being vacuumed.",
	"background_pages_total": "Pages that the background writer wrote.",
	"lazy_pages_total":       "Pages that the server wrote to make room in its cache (SQL Server's lazy writer).",
	"read_ahead_pages_total": "Pages that the server read before they were asked for.",
	"page_life_seconds":      "How long a page is expected to stay in the server's cache.",
	"log_flush_seconds": "Time that writing the log took in the last second, as the server computes it " +
		"(Log Flush Write Time).",

	"temporary_file_bytes_total":      "Bytes that the server read from and wrote to the files of tempdb.",
	"session_pages_total":             "Pages that sessions had to write themselves.",
	"lock_waits_total":                "Times that a session had to wait for a lock.",
	"settings_load_time_total":        "When the server last read its settings, in seconds since 1970.",
	"settings_sum":                    "A sum over the settings of the server and its databases (SQL Server).",
	"deadlocks_total":                 "Deadlocks that the server resolved.",
	"log_write_seconds_total":         "Time that writes of the log took, as the server has it (track_wal_io_timing).",
	"log_sync_seconds_total":          "Time that syncs of the log took, as the server has it (track_wal_io_timing).",
	"page_reads_total":                "Pages of the database that users and vacuums had read.",
	"page_read_seconds_total":         "Time that reads of pages took, as the server measured it (track_io_timing).",
	"transaction_reads_total":         "Reads of tables and indexes by sessions.",
	"transaction_read_seconds_total":  "Time that reads by sessions took, as the server measured it (track_io_timing).",
	"transaction_writes_total":        "Writes of tables and indexes by all but vacuums.",
	"transaction_extends_total":       "Writes by which all but vacuums made tables and indexes longer.",
	"transaction_write_seconds_total": "Time that writes by all but vacuums took, as the server measured it (track_io_timing).",
	"vacuum_reads_total":              "Reads of tables and indexes by vacuums.",
	"vacuum_writes_total":             "Writes of tables and indexes by vacuums.",
	"size_bytes":                      "Size of the database's files without its log.",
	"log_file_bytes":                  "Size of the log's files.",
	"log_file_used_bytes":             "Part of the log files in use, which cannot be reused.",
	"waits_data_read_seconds_total": "Time that all sessions of the server waited for pages to be read " +
		"(PAGEIOLATCH).",
	"waits_log_write_seconds_total":   waited + "for the log to be written (WRITELOG, LOGBUFFER).",
	"waits_log_replica_seconds_total": waited + "for another server to have the log (HADR_SYNC_COMMIT).",
	"waits_log_limit_seconds_total":   waited + "because the service limits the rate of the log (LOG_RATE_GOVERNOR).",
	"io_held_seconds_total": "Time that I/Os of the files were held back above the drives, by the Resource " +
		"Governor or the service.",
	"waits_data_write_seconds_total": waited + "for pages to be written (WRITE_COMPLETION).",
	"waits_lock_seconds_total":       waited + "for row and table locks (LCK_M).",
	"waits_latch_seconds_total": waited + "for latches on pages in memory and inside the server " +
		"(PAGELATCH, LATCH).",
	"waits_processor_seconds_total": waited + "for a CPU after they gave it up (SOS_SCHEDULER_YIELD).",
	"waits_client_seconds_total":    waited + "for their clients to take rows (ASYNC_NETWORK_IO).",
	"sessions_active_seconds_total": "Time that sessions were at work on statements, waits included, " +
		"summed over all.",
	"sessions_idle":                 "Sessions that wait for their client.",
	"sessions_running":              "Sessions that work and wait for nothing.",
	"sessions_waiting_for_lock":     "Sessions that wait for a row or table lock.",
	"sessions_waiting_for_storage":  "Sessions that wait for a read or write of data or log.",
	"sessions_waiting_for_latch":    "Sessions that wait for a short lock inside the server.",
	"sessions_waiting_for_client":   "Sessions that wait for their client in the middle of a statement.",
	"sessions_waiting_for_the_rest": "Sessions that wait for anything else.",
}

const waited = "Time that all sessions waited "

// The parts of the cache's hit ratio.
const cacheHits, cacheLookups = "cache_hits_total", "cache_lookups_total"

// Counters is a query for counters: rows of a name of the list above and a number.
type Counters struct {
	Query string
	Label string // whose they are in Prometheus: "server" or "target"
	Of    string // the server or the target, by name
	Item  string // tells it apart in the columns, where there are several
}

// Database reads counters through a database: those of each query. They are read on one connection,
// since all others of the pool would be counted among the sessions. The round trip to the server is
// measured besides, as the last one's.
func Database(ctx context.Context, db *sql.DB, queries ...Counters) (Source, error) {
	last := queries[len(queries)-1]
	src := Source{Name: "database counters of " + last.Of}
	db.SetMaxIdleConns(1)
	index := make([]map[string]int, len(queries)) // of figures, by the counters' names
	for n, q := range queries {
		index[n] = map[string]int{}
		first, err := store.Pairs[sql.NullFloat64](ctx, db, q.Query)
		if err != nil {
			return src, fmt.Errorf("read counters of %s: %w", q.Of, err)
		}
		for _, name := range slices.Sorted(maps.Keys(first)) {
			help, ok := databaseCounters[name]
			if !ok {
				return src, fmt.Errorf("read counters of %s: unknown counter %q", q.Of, name)
			}
			column, derive := databaseColumn(name)
			index[n][name] = src.add(
				q.Label,
				q.Of,
				q.Item,
				kind{"database_" + name, help, column, derive},
			)
		}
		if hits, ok := index[n][cacheHits]; ok {
			share := Column{
				ItemColumn(DatabaseCacheHits, q.Item),
				0,
				ratio(hits, index[n][cacheLookups]),
			}
			src.Columns = append(src.Columns, share)
		}
	}
	trip := src.add(last.Label, last.Of, last.Item, kind{
		"database_round_trip_seconds",
		"Time that a message without work takes to the server and back.",
		DatabaseRoundTrip,
		gauge(0),
	})
	src.Read = func(ctx context.Context, values []float64) error {
		for n, q := range queries {
			counters, err := store.Pairs[sql.NullFloat64](ctx, db, q.Query)
			for name, value := range counters {
				if i, ok := index[n][name]; ok && value.Valid {
					values[i] = value.Float64
				}
			}
			if err != nil {
				return err
			}
		}
		// On the connection that has just answered: one that has rested is first tried by its
		// driver.
		start := time.Now()
		err := db.PingContext(ctx)
		if err == nil {
			values[trip] = time.Since(start).Seconds()
		}
		return err
	}
	return src, nil
}

// databaseColumn is the column of a counter, and how it is made of the counter's figure; none of
// the hits, of which there is a ratio. Seconds a second are how many sessions there are at once.
func databaseColumn(counter string) (name string, derive derivation) {
	name, total := strings.CutSuffix("db."+counter, "_total")
	sessions, seconds := strings.CutSuffix(name, "_seconds")
	switch {
	case counter == cacheHits:
		return "", nil
	case total && seconds:
		return sessions, rate(0)
	case total:
		return name + "_per_second", rate(0)
	}
	return name, gauge(0)
}

// Files reads what a database server itself counted of each of a database's files: the query gives
// rows of the file's name, its role, reads, writes, bytes read, bytes written, and the seconds that
// the reads and the writes took, all since the server started. The second result is the files.
// asDrives has the rest of the kit take them for the drives, where those cannot be observed. item
// names the database in the columns, for runs on several. How busy a file is no server counts.
func Files(
	ctx context.Context, db *sql.DB, target, item string, asDrives bool, query string,
) (Source, []topology.DatabaseFile, error) {
	prefix := ""
	if item != "" {
		prefix = item + "."
	}
	kinds := []kind{
		{"file_reads_total", "Reads of the database's file.", DiskReads, nil},
		{"file_writes_total", "Writes to the database's file.", DiskWrites, nil},
		{"file_read_bytes_total", "Bytes read from the database's file.", DiskReadBytes, nil},
		{
			"file_written_bytes_total",
			"Bytes written to the database's file.",
			DiskWrittenBytes,
			nil,
		},
		{
			"file_read_seconds_total", "Sum of the times that reads of the database's file took.",
			DiskReadTime, ratio(4, 0),
		},
		{
			"file_write_seconds_total", "Sum of the times that writes to the database's file took.",
			DiskWriteTime, ratio(5, 1),
		},
		// The time that requests take, summed over each second, is how many of them are under way
		// on average.
		{column: DiskQueue, derive: func(seconds float64, was, now []float64) float64 {
			return rate(4)(seconds, was, now) + rate(5)(seconds, was, now)
		}},
	}
	if !asDrives {
		for i := range kinds {
			kinds[i].column = OfFile(kinds[i].column)
		}
	}
	var files []topology.DatabaseFile
	var names []string
	read := func(ctx context.Context) (readings, error) {
		all := readings{}
		files = nil
		names = nil
		return all, store.List(ctx, db, query, func(rows *sql.Rows) error {
			var file string
			var role topology.Role
			c := make([]float64, 6)
			err := rows.Scan(&file, &role, &c[0], &c[1], &c[2], &c[3], &c[4], &c[5])
			all[prefix+file] = c
			files = append(
				files,
				topology.DatabaseFile{Name: prefix + file, Database: target, Role: role},
			)
			names = append(names, prefix+file)
			return err
		})
	}
	if _, err := read(ctx); err != nil {
		return Source{}, nil, fmt.Errorf("read file counters of %s: %w", target, err)
	}
	first := files
	return itemSource("file counters of "+target, "file", names, kinds, read), first, nil
}
