package monitor

import (
	"context"
	"database/sql"
	"fmt"

	"ds2/internal/store"
)

// Files reads what a database server itself counted of each of a database's files: the query gives rows of the file's
// name, its role, reads, writes, bytes read, bytes written, and the seconds that the reads and the writes took, all
// since the server started. The second result is the files. asDrives has the rest of the kit take them for the drives,
// where nobody can observe those. item names the database in the columns, for runs on several. How busy a file is no
// server counts.
func Files(
	ctx context.Context, db *sql.DB, target, item string, asDrives bool, query string,
) (Source, []DatabaseFile, error) {
	column := OfFile
	if asDrives {
		column = func(ofDrive string) string { return ofDrive }
	}
	prefix := ""
	if item != "" {
		prefix = item + "."
	}
	kinds := []kind{
		{"file_reads_total", "Reads of the database's file.", DiskReads, nil},
		{"file_writes_total", "Writes to the database's file.", DiskWrites, nil},
		{"file_read_bytes_total", "Bytes read from the database's file.", DiskReadBytes, nil},
		{"file_written_bytes_total", "Bytes written to the database's file.", DiskWrittenBytes, nil},
		{"file_read_seconds_total", "Sum of the times that reads of the database's file took.",
			DiskReadTime, ratio(4, 0)},
		{"file_write_seconds_total", "Sum of the times that writes to the database's file took.",
			DiskWriteTime, ratio(5, 1)},
		// The time that requests take, summed over each second, is how many of them are under way on average.
		{column: DiskQueue, derive: func(seconds float64, was, now []float64) float64 {
			return rate(4)(seconds, was, now) + rate(5)(seconds, was, now)
		}},
	}
	for i := range kinds {
		kinds[i].column = column(kinds[i].column)
	}
	var files []DatabaseFile
	var names []string
	read := func(ctx context.Context) (readings, error) {
		all := readings{}
		files, names = nil, nil
		return all, store.List(ctx, db, query, func(rows *sql.Rows) error {
			var file string
			var role Role
			c := make([]float64, 6)
			err := rows.Scan(&file, &role, &c[0], &c[1], &c[2], &c[3], &c[4], &c[5])
			all[file] = c
			files, names = append(files, DatabaseFile{prefix + file, target, role}), append(names, file)
			return err
		})
	}
	if _, err := read(ctx); err != nil {
		return Source{}, nil, fmt.Errorf("read file counters of %s: %w", target, err)
	}
	first := files
	return itemSource("file counters of "+target, "file", prefix, names, kinds, read), first, nil
}
