package deepcheck

import (
	"context"
	"database/sql"
	"fmt"
	"math"

	"ds2/internal/store"
	"ds2/internal/store/postgres/target"
)

// heapPages are the pages of one call of verify_heapam: usually 64 MiB.
const heapPages = 8 << 10

// amcheck looks at what the pages say: verify_heapam (from version 14) at the rows of tables, bt_index_parent_check at
// the order of B-trees and at every row having its entry, gin_index_check (from 18) at GIN indexes. A relation with
// pages that cannot be read is damaged already and is left out, and so are its indexes.

// checks are the functions that this server's amcheck has.
func (s *deepCheck) checks(ctx context.Context) (map[string]bool, error) {
	known, err := store.Pairs[bool](ctx, s.conn, `
		SELECT DISTINCT p.proname, true FROM pg_proc p
		JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
		JOIN pg_extension e ON e.oid = d.refobjid WHERE e.extname = 'amcheck'`)
	if err != nil {
		return nil, fmt.Errorf("list what amcheck can do: %w", err)
	}
	return known, nil
}

// checkTwice checks a relation, and once more where the server ended the connection over it. A second time is damage.
func (s *deepCheck) checkTwice(ctx context.Context, r relation, known map[string]bool) error {
	for try := 1; ; try++ {
		err := s.checkOne(ctx, r, known)
		if err == nil {
			err = undo(ctx, s.conn)
		}
		if !target.Lost(err) || ctx.Err() != nil {
			return err
		}
		if err := s.reconnect(ctx); err != nil {
			return err
		}
		if try == 2 {
			s.damage(r, "", "the server broke down over it: "+err.Error())
			return nil
		}
	}
}

func (s *deepCheck) checkOne(ctx context.Context, r relation, known map[string]bool) error {
	switch {
	case r.kind == "S": // a sequence is one page, and that was read
		return nil
	case r.kind == "i" && !r.usable:
		s.unchecked(r, "the index is not valid")
		return nil
	case r.method == "btree":
		return s.call(ctx, r, "bt_index_parent_check(%s, heapallindexed => true)")
	case r.method == "gin" && known["gin_index_check"]:
		return s.call(ctx, r, "gin_index_check(%s)")
	case r.method == "heap" && known["verify_heapam"]:
		return s.checkHeap(ctx, r)
	case r.method == "heap" && r.kind != "t": // a TOAST table is read through its table
		return s.readRows(ctx, r)
	default:
		s.unchecked(r, fmt.Sprintf("amcheck of %s does not know %s", s.result.Server, r.method))
		return nil
	}
}

func (s *deepCheck) unchecked(r relation, reason string) {
	s.result.Unchecked = append(s.result.Unchecked, r.name+": "+reason)
}

// call runs a function of amcheck that raises an error at the first damage.
func (s *deepCheck) call(ctx context.Context, r relation, function string) error {
	_, err := s.conn.ExecContext(ctx, "SELECT "+s.amcheck+"."+fmt.Sprintf(function, r.regclass()))
	return s.found(r, err)
}

// checkHeap runs verify_heapam, which returns a row for each damage.
func (s *deepCheck) checkHeap(ctx context.Context, r relation) error {
	for _, f := range r.forks {
		for from := int64(0); f.name == "main" && from < f.pages; from += heapPages {
			to := min(from+heapPages, f.pages)
			if err := s.checkHeapRange(ctx, r, from, to); err != nil {
				return err
			}
			s.worked += to - from
			s.show(r)
			if err := undo(ctx, s.conn); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *deepCheck) checkHeapRange(ctx context.Context, r relation, from, to int64) error {
	query := fmt.Sprintf(`SELECT blkno, coalesce(offnum, 0), msg
		FROM %s.verify_heapam(%s, check_toast => true, startblock => %d, endblock => %d)`,
		s.amcheck, r.regclass(), from, to-1)
	err := store.EachRow(ctx, s.conn, math.MaxInt64, query, func(rows *sql.Rows) error {
		var block, line int64
		var message string
		if err := rows.Scan(&block, &line, &message); err != nil {
			return err
		}
		s.damage(r, fmt.Sprintf("main block %d row %d", block, line), message)
		return nil
	})
	return s.found(r, err)
}

// readRows takes every row of a table apart, which is what version 13 can do to check one.
func (s *deepCheck) readRows(ctx context.Context, r relation) error {
	_, err := s.conn.ExecContext(ctx, "SELECT count(t::text) FROM ONLY "+r.name+" t")
	return s.found(r, err)
}
