package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"reflect"

	"ds2/schema"
)

// Queryer is a pool or a connection.
type Queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Value is what users' calls need of a column: whether there is anything, and a number or, of a
// binary column, its bytes.
type Value struct {
	Null  bool
	N     int64
	Bytes []byte
}

// MaxListed is how many files, settings, tables or other things a server is believed to have.
const MaxListed = 1_000_000

// EachRow calls f with each row that a query gives, of which there are most at most: rows without
// end are given up, and so are those after an error of f's.
func EachRow(
	ctx context.Context, db Queryer, most int64, query string, f func(*sql.Rows) error, args ...any,
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	rows, err := db.QueryContext(ctx, query, args...)
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

// Each is EachRow of rows as structs: the columns go to the first fields of a T, in their order.
func Each[T any](
	ctx context.Context, db Queryer, most int64, query string, f func(T) error, args ...any,
) error {
	var row T
	var into []any // fields of row
	return EachRow(ctx, db, most, query, func(rows *sql.Rows) error {
		if into == nil {
			columns, err := rows.Columns()
			if err != nil {
				return err
			}
			for i := range columns {
				field := reflect.ValueOf(&row).Elem().Field(i)
				into = append(into, field.Addr().Interface())
			}
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		return f(row)
	}, args...)
}

// Collect is Each of a list of what a server has. What was read before an error is there.
func Collect[T any](ctx context.Context, db Queryer, query string, args ...any) ([]T, error) {
	var all []T
	err := Each(ctx, db, MaxListed, query, func(row T) error {
		all = append(all, row)
		return nil
	}, args...)
	return all, err
}

// pair is a row of a name and a value.
type pair[V any] struct {
	Name  string
	Value V
}

// Pairs is Collect as a map, of rows of a name and a value.
func Pairs[V any](
	ctx context.Context, db Queryer, query string, args ...any,
) (map[string]V, error) {
	found, err := Collect[pair[V]](ctx, db, query, args...)
	all := map[string]V{}
	for _, one := range found {
		all[one.Name] = one.Value
	}
	return all, err
}

// May is an error where the server's answer to a question for a right is no.
func May(ctx context.Context, d Database, op, ask, why, hint string) error {
	var may bool
	err := d.DB().QueryRowContext(ctx, ask).Scan(&may)
	if err == nil && !may {
		return Refuse(op, hint, "%s", why)
	}
	return d.Wrap(op, err)
}

// OtherSettings gives the settings of the server that are not at their defaults besides Settings;
// nil where the engine has no others or the server does not tell.
func OtherSettings(ctx context.Context, d Database) map[string]string {
	query := schema.ServerQueries(d.Engine()).OtherSettings
	if query == "" {
		return nil
	}
	found, err := Pairs[string](ctx, d.DB(), query)
	if err != nil {
		return nil
	}
	return found
}

// Settings gives those of the server and of a database that decide what storage sees. It is an
// error where none can be asked.
func Settings(ctx context.Context, d Database) (map[string]string, error) {
	queries := schema.ServerQueries(d.Engine()).Settings
	settings := map[string]string{}
	var errs error
	for _, query := range queries {
		found, err := Pairs[string](ctx, d.DB(), query)
		maps.Copy(settings, found)
		errs = errors.Join(errs, err)
	}
	if errs == nil || len(settings) > 0 && len(queries) > 1 {
		return settings, nil
	}
	return settings, fmt.Errorf("ask the server for its settings: %w", errs)
}
