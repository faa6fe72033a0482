package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
)

// PrepareRead prepares a session for reading large tables: audit.BulkReader. The audit reads with
// several sessions at once, so none of them takes workers besides, which would start again with
// every range. It joins whole ranges, whose pages are read once and in their order: a lookup for
// each row would come back to the same pages over and over.
func (s *Store) PrepareRead(
	ctx context.Context,
	conn *sql.Conn,
	ranges bool,
	temp int64,
) (limited bool, err error) {
	const op = "prepare a session for the audit"
	_, err = conn.ExecContext(ctx, query("database/begin-audit"), strconv.FormatBool(!ranges))
	if err != nil {
		return false, s.Wrap(op, err)
	}
	_, err = conn.ExecContext(ctx, fmt.Sprintf("SET temp_file_limit = '%dkB'", max(temp/1024, 1)))
	if sqlState(err) == insufficientPrivilege {
		return false, nil
	}
	return true, s.Wrap(op, err)
}

// extension is how many empty pages a table may be given at once, which rows that come later fill.
const extension = 64

// Slices divides a table into ranges of blocks: audit.BulkReader. Version 13 has no plan that reads
// such a range alone.
func (s *Store) Slices(
	ctx context.Context,
	table string,
	behind, bytes int64,
) (slices []string, end int64, err error) {
	var version int
	var size, block int64
	err = s.db.QueryRowContext(ctx, query("database/blocks"), table).Scan(&version, &size, &block)
	if err != nil || version < 14 {
		return nil, 0, s.Wrap("ask for the size of "+table, err)
	}
	step := max(bytes/block, 1)
	for from := behind; from*block < size || slices == nil; from += step {
		slice := fmt.Sprintf("ctid >= '(%d,0)'", from)
		// the last one goes on to the end, wherever that is by then
		if to := from + step; to*block < size {
			slice += fmt.Sprintf(" AND ctid < '(%d,0)'", to)
		}
		slices = append(slices, slice)
	}
	return slices, max(size/block-extension, 0), nil
}

// Changed counts updated and deleted rows: audit.ChangeCounter. A row that was not inserted because
// another session did so first counts as deleted.
func (s *Store) Changed(ctx context.Context, updated, deleted []string) (n int64, err error) {
	err = s.db.QueryRowContext(ctx, query("database/changed-rows"), updated, deleted).Scan(&n)
	return n, s.Wrap("ask how many rows were changed", err)
}
