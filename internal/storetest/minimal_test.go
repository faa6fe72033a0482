package storetest

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
	"ds2/internal/workload/ds2/calls"
	"ds2/schema"
)

// TestMinimalEngine holds docs/architecture.md to what it says of a third engine: the one below, of
// at most 150 lines, has no more than the contract, and loads, resumes and buys.
func TestMinimalEngine(t *testing.T) {
	holdEngine(
		t,
		engine{open: open, calls: connect, database: pgtest.Database},
		"every row of the dataset",
		"login",
		"purchase",
		"steps of a load",
		"load that is broken and resumed",
	)
	text, err := os.ReadFile("minimal_test.go")
	require.NoError(t, err)
	_, engine, _ := strings.Cut(string(text), "// minimal is")
	engine, _, _ = strings.Cut(engine, "// session is")
	assert.LessOrEqual(t, strings.Count(engine, "\n"), 150, "lines of the engine")
	contract := reflect.TypeFor[store.Database]()
	assert.LessOrEqual(t, contract.NumMethod(), 12, "methods of the contract")
}

// minimal is an engine of PostgreSQL's server, whose SQL it takes.
type minimal struct {
	db          *sql.DB
	name, label string
}

func open(u *url.URL) (store.Database, error) {
	db, err := sql.Open("pgx", u.String())
	name := strings.TrimPrefix(u.Path, "/")
	return &minimal{db, name, u.Host + "/" + name}, err
}

func (m *minimal) Engine() string { return "postgres" }
func (m *minimal) Name() string   { return m.name }
func (m *minimal) Label() string  { return m.label }
func (m *minimal) Schema() string { return "current_schema()" }
func (m *minimal) DB() *sql.DB    { return m.db }
func (m *minimal) Close() error   { return m.db.Close() }

func (m *minimal) Adapt(context.Context, *schema.Params) ([]string, error) { return nil, nil }

func (m *minimal) CreateDatabase(ctx context.Context, _ []schema.Statement) error {
	return m.Wrap("connect", m.db.PingContext(ctx))
}

func (m *minimal) Wrap(op string, err error) error {
	if _, wrapped := errors.AsType[*store.Error](err); err == nil || wrapped {
		return err
	}
	class := store.Connection
	code := ""
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		code = e.Code
		class = store.Bug
		if code == "42P01" { // undefined_table
			class = store.Config
		}
	}
	return &store.Error{Op: op, Class: class, Code: code, Err: err}
}

func (m *minimal) Lock(ctx context.Context, l store.Lock) (unlock func(), err error) {
	return store.KeepLock(ctx, m, l, func(ctx context.Context) (store.HeldLock, error) {
		conn, err := m.db.Conn(ctx)
		if err != nil {
			return nil, err
		}
		free := false
		err = conn.QueryRowContext(ctx, "SELECT pg_try_advisory_lock($1)", store.LockKey(m.name)).
			Scan(&free)
		if err == nil && !free {
			err = &store.LockedError{Label: m.label} // who holds it is unknown
		}
		return held{conn}, err
	})
}

type held struct{ *sql.Conn }

func (h held) Wait(ctx context.Context) {
	for h.PingContext(ctx) == nil && ctx.Err() == nil {
		time.Sleep(100 * time.Millisecond)
	}
}

func (h held) Close() {
	_ = h.Raw(
		func(any) error { return driver.ErrBadConn },
	) // ends the session, and with it the lock
}

func (m *minimal) ExecStep(ctx context.Context, s schema.Statement) error {
	if s.NoTransaction {
		if _, err := m.db.ExecContext(ctx, s.SQL); err != nil {
			return m.Wrap(s.Name, err)
		}
		s.SQL = ""
	}
	return m.step(ctx, s.Name, func(tx *sql.Tx) (int64, error) {
		_, err := tx.ExecContext(ctx, s.SQL)
		return s.Rows, err
	})
}

// step does a step and notes it in one transaction.
func (m *minimal) step(ctx context.Context, name string, do func(*sql.Tx) (int64, error)) error {
	tx, err := m.db.BeginTx(ctx, nil)
	if err != nil {
		return m.Wrap(name, err)
	}
	defer tx.Rollback() // does nothing after Commit
	rows, err := do(tx)
	if err == nil {
		_, err = tx.ExecContext(
			ctx,
			"INSERT INTO ds2_steps (name, copied) VALUES ($1, $2)",
			name,
			rows,
		)
	}
	if err == nil {
		err = tx.Commit()
	}
	return m.Wrap(name, cmp.Or(ctx.Err(), err))
}

func (m *minimal) Load(ctx context.Context, c store.Copy) (rows int64, err error) {
	err = m.step(ctx, c.Step, func(tx *sql.Tx) (int64, error) {
		if c.Whole {
			if _, err := tx.ExecContext(ctx, "DELETE FROM "+c.Table); err != nil {
				return 0, err
			}
		}
		empty, err := tx.QueryContext(ctx, "SELECT * FROM "+c.Table+" WHERE 1 = 0")
		if err != nil {
			return 0, err
		}
		columns, _ := empty.ColumnTypes()
		empty.Close()
		var values []string
		insert := func(most int) (err error) {
			if len(values) > most {
				_, err = tx.ExecContext(
					ctx,
					"INSERT INTO "+c.Table+" VALUES "+strings.Join(values, ","),
				)
				rows = rows + int64(len(values))
				values = nil
			}
			return err
		}
		for _, part := range c.Parts {
			from := part.Open()
			for row := from(); row != nil && err == nil; row = from() {
				texts := make([]string, len(row))
				for i := range row {
					texts[i] = literal(columns[i].DatabaseTypeName(), row[i])
				}
				values = append(values, "("+strings.Join(texts, ",")+")")
				err = insert(1000)
			}
		}
		err = errors.Join(err, insert(0))
		return rows, err
	})
	c.Told(rows)
	return rows, err
}

func literal(kind string, v datagen.Value) string {
	switch kind {
	case "INT2", "INT4", "INT8":
		return fmt.Sprint(v.Int)
	case "NUMERIC":
		return calls.Cents(v.Int).String()
	case "DATE":
		return schema.Literal(time.Unix(v.Int*86400, 0).UTC().Format(time.DateOnly))
	}
	if v.Text == nil {
		return "NULL"
	}
	return schema.Literal(string(v.Text))
}

// session is a user's connection.
type session struct {
	calls.Session // what this one does not call
	*minimal
}

func connect(_ context.Context, d store.Database) (calls.Session, error) {
	return session{minimal: d.(*minimal)}, nil
}

func (s session) Close(context.Context) error { return nil }

func (s session) Login(
	ctx context.Context,
	user, password []byte,
) (customer int64, titles int, err error) {
	err = store.EachRow(ctx, s.db, store.MaxListed, "SELECT * FROM ds2_login($1, $2)", func(rows *sql.Rows) error {
		var title, actor, related sql.NullString
		err := rows.Scan(&customer, &title, &actor, &related)
		if title.Valid {
			titles++
		}
		return err
	}, string(user), string(password))
	return customer, titles, s.Wrap("login", err)
}

func (s session) Purchase(ctx context.Context, p *calls.Purchase) (id int64, err error) {
	var products []int32
	var quantities []int16
	for _, item := range p.Items {
		products = append(products, item.Product)
		quantities = append(quantities, item.Quantity)
	}
	err = s.db.QueryRowContext(ctx, "SELECT ds2_purchase($1, $2, $3, $4, $5, $6, $7)", p.CustomerID, len(p.Items),
		p.Net.String(), p.Tax.String(), p.Total.String(), products, quantities).
		Scan(&id)
	return id, s.Wrap("purchase", err)
}
