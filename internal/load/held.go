package load

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ds2/internal/store"
)

// telltales names for each table of DS2 and of this kit a column by which it is known: another application may well
// have a table of customers, which is not to be dropped.
var telltales = map[string]string{
	"categories": "categoryname",
	"customers":  "creditcardexpiration",
	"cust_hist":  "orderid",
	"ds2_info":   "value",
	"ds2_steps":  "name",
	"inventory":  "quan_in_stock",
	"orderlines": "orderlineid",
	"orders":     "netamount",
	"products":   "common_prod_id",
	"reorder":    "quan_low",
}

// held lists the tables of DS2 and of this kit that the database holds. A table that only bears the name of one is an
// error: it stands in the way, and is not DS2's to drop.
func (l *loader) held(ctx context.Context) ([]string, error) {
	const op = "list the tables of the database"
	var names []string
	for table := range telltales {
		names = append(names, literal(table))
	}
	rows, err := l.engine.DB().QueryContext(ctx, `SELECT LOWER(table_name), LOWER(column_name)
		FROM information_schema.columns WHERE LOWER(table_name) IN (`+strings.Join(names, ", ")+")")
	if err != nil {
		return nil, l.engine.Wrap(op, err)
	}
	defer rows.Close()
	columns := map[string][]string{}
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			return nil, l.engine.Wrap(op, err)
		}
		columns[table] = append(columns[table], column)
	}
	if err := rows.Err(); err != nil {
		return nil, l.engine.Wrap(op, err)
	}
	var held []string
	for table, columns := range columns {
		if !slices.Contains(columns, telltales[table]) {
			return nil, &store.Error{
				Op: "look into database " + l.engine.Database(), Class: store.Config,
				Err:  fmt.Errorf("its table %s is not DS2's: it has no column %s", table, telltales[table]),
				Hint: "name another database in the target, such as one that does not exist yet",
			}
		}
		held = append(held, table)
	}
	slices.Sort(held)
	return held, nil
}

// refuse is the error for a database that holds DS2 data.
func (l *loader) refuse(ctx context.Context, held []string) error {
	found := "DS2 tables that this kit did not load (" + strings.Join(held, ", ") + ")"
	hint := "--drop drops them first; or name another database in the target"
	if info, err := store.ReadInfo(ctx, l.engine.DB()); err == nil && info[store.InfoState] != "" {
		found = "a DS2 of size " + info[store.InfoSize]
		if info.CheckReady() != nil {
			found = "an unfinished load of size " + info[store.InfoSize]
			hint = "--resume finishes it, --drop drops it first; or name another database in the target"
		}
	}
	return &store.Error{
		Op: "look into database " + l.engine.Database(), Class: store.Config,
		Err: errors.New("it holds " + found), Hint: hint,
	}
}
