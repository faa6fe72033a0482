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
		var kinds []kind
		for _, name := range slices.Sorted(maps.Keys(first)) {
			figure := func(k kind) bool { return k.figure == "database_"+name }
			i := slices.IndexFunc(figureKinds["database"], figure)
			if i < 0 {
				return src, fmt.Errorf("read counters of %s: unknown counter %q", q.Of, name)
			}
			index[n][name] = len(src.Figures) + len(kinds)
			kinds = append(kinds, figureKinds["database"][i])
		}
		src.add(q.Label, q.Of, q.Item, kinds...)
	}
	trip := src.add(last.Label, last.Of, last.Item, figureKinds["round trip"]...)
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
	// The time that requests take, summed over each second, is how many of them are under way on
	// average.
	queue := func(seconds float64, was, now []float64) float64 {
		return rate(4)(seconds, was, now) + rate(5)(seconds, was, now)
	}
	kinds := append(slices.Clone(figureKinds["file"]), kind{column: OfFile(DiskQueue), derive: queue})
	if asDrives {
		for i, k := range kinds {
			kinds[i].column = strings.Replace(k.column, "file", "disk", 1)
		}
	}
	var files []topology.DatabaseFile
	var names []string
	read := func(ctx context.Context) (readings, error) {
		all := readings{}
		files = nil
		names = nil
		return all, store.EachRow(ctx, db, store.MaxListed, query, func(rows *sql.Rows) error {
			var file string
			var role topology.Role
			c := make([]float64, 6)
			err := rows.Scan(&file, &role, &c[0], &c[1], &c[2], &c[3], &c[4], &c[5])
			all[prefix+file] = c
			files = append(files,
				topology.DatabaseFile{Name: prefix + file, Database: target, Role: role})
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
