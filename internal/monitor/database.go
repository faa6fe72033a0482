package monitor

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"strings"
	"time"
)

// databaseHelp says what the figures of a database mean; the engines' queries give them these names.
var databaseHelp = map[string]string{
	"commits_total":                 "Transactions that the database committed.",
	"rollbacks_total":               "Transactions that the database rolled back.",
	"cache_hits_total":              "Pages that the database asked for and found in its cache.",
	"cache_lookups_total":           "Pages that the database asked for.",
	"cache_hit_ratio":               "Share of the pages asked for that were in the database's cache, as the server computes it.",
	"temporary_bytes_total":         "Bytes that queries wrote to temporary files.",
	"log_bytes_total":               "Bytes that the database wrote to its log (WAL).",
	"checkpoints_total":             "Checkpoints that the server made.",
	"checkpoint_pages_total":        "Pages that checkpoints wrote.",
	"background_pages_total":        "Pages that the background writer wrote.",
	"session_pages_total":           "Pages that sessions had to write themselves.",
	"lock_waits_total":              "Times that a session had to wait for a lock.",
	"deadlocks_total":               "Deadlocks that the server resolved.",
	"size_bytes":                    "Size of the database's files without its log.",
	"sessions_active_seconds_total": "Time that sessions were at work on statements, waits included, summed over all.",
	"sessions_idle":                 "Sessions that wait for their client.",
	"sessions_running":              "Sessions that work and wait for nothing.",
	"sessions_waiting_for_lock":     "Sessions that wait for a row or table lock.",
	"sessions_waiting_for_storage":  "Sessions that wait for a read or write of data or log.",
	"sessions_waiting_for_latch":    "Sessions that wait for a short lock inside the server.",
	"sessions_waiting_for_client":   "Sessions that wait for their client in the middle of a statement.",
	"sessions_waiting_for_the_rest": "Sessions that wait for anything else.",
}

// Database reads a database's counters. The query gives rows of a name of the list above and a number; target names the
// database in metrics, and in the columns where item, for runs on several databases, is set. The round trip to the server
// is measured besides.
func Database(ctx context.Context, db *sql.DB, target, item, query string) (Source, error) {
	src := Source{Name: "database counters of " + target}
	group := "db."
	if item != "" {
		group += item + "."
	}
	index := map[string]int{}
	first, err := readCounters(ctx, db, query)
	if err != nil {
		return src, fmt.Errorf("read counters of %s: %w", target, err)
	}
	for _, c := range first {
		help, ok := databaseHelp[c.name]
		if !ok {
			return src, fmt.Errorf("read counters of %s: unknown counter %q", target, c.name)
		}
		i := len(src.Figures)
		index[c.name] = i
		src.Figures = append(src.Figures, Figure{"database_" + c.name, help, "target", target})
		base, total := strings.CutSuffix(c.name, "_total")
		atOnce, seconds := strings.CutSuffix(base, "_seconds")
		switch {
		case seconds && total: // seconds a second are how many there are at once
			src.Columns = append(src.Columns, Column{group + atOnce, rate(i)})
		case strings.HasPrefix(c.name, "cache_") && total: // see below
		case total:
			src.Columns = append(src.Columns, Column{group + base + "_per_second", rate(i)})
		default:
			src.Columns = append(src.Columns, Column{group + c.name, gauge(i)})
		}
	}
	if hits, ok := index["cache_hits_total"]; ok {
		src.Columns = append(src.Columns, Column{group + "cache_hit_ratio", ratio(hits, index["cache_lookups_total"])})
	}
	trip := len(src.Figures)
	src.Figures = append(src.Figures, Figure{"database_round_trip_seconds", "Time that a message without work takes to the server and back.", "target", target})
	src.Columns = append(src.Columns, Column{group + "round_trip_seconds", gauge(trip)})
	src.Read = func(ctx context.Context, values []float64) error {
		counters, err := readCounters(ctx, db, query)
		for _, c := range counters {
			if i, ok := index[c.name]; ok {
				values[i] = c.value
			}
		}
		if err != nil {
			return err
		}
		// On the connection that has just answered: one that has rested is first tried by its driver.
		start := time.Now()
		err = db.PingContext(ctx)
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
	err := each(ctx, db, query, func(rows *sql.Rows) error {
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
