package store

import (
	"context"
	"database/sql"
	"fmt"
)

// EachRow calls f with each row that a query gives, of which there are most at most: rows without end are given up, and so are those
// after an error of f's.
func EachRow(ctx context.Context, db *sql.DB, most int64, query string, f func(*sql.Rows) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for n := int64(0); rows.Next(); n++ {
		if n == most {
			err = fmt.Errorf("the server sends more than %d rows, which cannot be right", most)
		} else {
			err = f(rows)
		}
		if err != nil {
			cancel() // closing the rows would read on to the last
			return err
		}
	}
	return rows.Err()
}
