package monitor

import (
	"context"
	"database/sql"
	"fmt"

	"ds2/internal/store"
)

// Files reads what a database server itself counted of each of a database's files: the query gives rows of the file's name,
// its role, reads, writes, bytes read, bytes written, and the seconds that the reads and the writes took, all since the server
// started. The second result is the files. asDrives has the rest of the kit take them for the drives, where nobody can observe
// those. item names the database in the columns, for runs on several. How busy a file is no server counts.
func Files(ctx context.Context, db *sql.DB, target, item string, asDrives bool, query string) (Source, []DatabaseFile, error) {
	const perFile = 6
	src := Source{Name: "file counters of " + target}
	columns := [...]string{FileReads, FileWrites, FileReadBytes, FileWrittenBytes, FileReadTime, FileWriteTime, FileQueue}
	if asDrives {
		columns = [...]string{DiskReads, DiskWrites, DiskReadBytes, DiskWrittenBytes, DiskReadTime, DiskWriteTime, DiskQueue}
	}
	index := map[string]int{}
	read := func(ctx context.Context, take func(file string, role Role, counts [perFile]float64)) error {
		return store.List(ctx, db, query, func(rows *sql.Rows) error {
			var file string
			var role Role
			var counts [perFile]float64
			err := rows.Scan(&file, &role, &counts[0], &counts[1], &counts[2], &counts[3], &counts[4], &counts[5])
			take(file, role, counts)
			return err
		})
	}
	var files []DatabaseFile
	err := read(ctx, func(file string, role Role, _ [perFile]float64) {
		at := len(src.Figures)
		index[file] = at
		for _, f := range []struct{ name, help string }{
			{"file_reads_total", "Reads of the database's file."},
			{"file_writes_total", "Writes to the database's file."},
			{"file_read_bytes_total", "Bytes read from the database's file."},
			{"file_written_bytes_total", "Bytes written to the database's file."},
			{"file_read_seconds_total", "Sum of the times that reads of the database's file took."},
			{"file_write_seconds_total", "Sum of the times that writes to the database's file took."},
		} {
			src.Figures = append(src.Figures, Figure{f.name, f.help, "file", file})
		}
		name := file
		if item != "" {
			name = item + "." + file
		}
		files = append(files, DatabaseFile{name, target, role})
		src.Columns = append(src.Columns,
			Column{ItemColumn(columns[0], name), rate(at)},
			Column{ItemColumn(columns[1], name), rate(at + 1)},
			Column{ItemColumn(columns[2], name), rate(at + 2)},
			Column{ItemColumn(columns[3], name), rate(at + 3)},
			Column{ItemColumn(columns[4], name), ratio(at+4, at)},
			Column{ItemColumn(columns[5], name), ratio(at+5, at+1)},
			// The time that requests take, summed over each second, is how many of them are under way on average.
			Column{ItemColumn(columns[6], name), func(seconds float64, was, now []float64) float64 {
				return rate(at+4)(seconds, was, now) + rate(at+5)(seconds, was, now)
			}},
		)
	})
	if err != nil {
		return src, nil, fmt.Errorf("read file counters of %s: %w", target, err)
	}
	src.Read = func(ctx context.Context, values []float64) error {
		return read(ctx, func(file string, _ Role, counts [perFile]float64) {
			if at, ok := index[file]; ok {
				copy(values[at:at+perFile], counts[:])
			}
		})
	}
	return src, files, nil
}
