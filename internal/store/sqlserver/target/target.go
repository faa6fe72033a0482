// Package target is what the packages below the engine for SQL Server need of it: the database that they work on, and
// what they have in common. It is not for anybody else.
package target

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	mssql "github.com/microsoft/go-mssqldb"

	"ds2/internal/progress"
	"ds2/internal/store"
)

// Target is a database, as the engine knows it.
type Target interface {
	DB() *sql.DB
	Label() string
	Name() string
	Wrap(op string, err error) error
	Kind(ctx context.Context) (Kind, error)
	LogSpace(ctx context.Context) (size, used int64, kept bool, err error)
}

// Kind is whose server it is, other than Microsoft's own on a machine of the user's.
type Kind struct {
	Babelfish bool
	Azure     bool // runs it and decides where files lie
}

// Lacks is an error where the server is Babelfish, or Azure runs it, and it has not what is asked of it: why, where it
// has not. Azure's hint is without AsPostgres.
func Lacks(ctx context.Context, t Target, op, hint, babelfish, azure string) error {
	kind, err := t.Kind(ctx)
	switch {
	case err != nil:
		return err
	case kind.Babelfish && babelfish != "":
		return store.Refuse(op, hint, "%s", babelfish)
	case kind.Azure && azure != "":
		return store.Refuse(op, strings.TrimPrefix(hint, AsPostgres), "%s", azure)
	}
	return nil
}

// May is an error where the server's answer to a question for a right is no.
func May(ctx context.Context, t Target, op, ask, why, hint string) error {
	var may bool
	err := t.DB().QueryRowContext(ctx, ask).Scan(&may)
	if err == nil && !may {
		return store.Refuse(op, hint, "%s", why)
	}
	return t.Wrap(op, err)
}

// AsPostgres begins a hint about what Babelfish has not.
const AsPostgres = "measure Babelfish as the PostgreSQL that it is, by a target postgres://, or "

// QuoteName quotes a name as T-SQL wants it.
func QuoteName(name string) string { return mssql.TSQLQuoter{}.ID(name) }

// HasNumber tells whether one of the server's messages has one of some numbers: the last, which an mssql.Error is, is
// often only that something failed.
func HasNumber(err error, numbers ...int32) bool {
	e, ok := errors.AsType[mssql.Error](err)
	has := func(m mssql.Error) bool { return slices.Contains(numbers, m.Number) }
	return ok && slices.ContainsFunc(append(e.All, e), has)
}

// Named hands row each row of an answer by the names of its columns, which differ between versions. What is NULL is
// left out.
func Named(ctx context.Context, db store.Queryer, query string, row func(map[string]string), args ...any) error {
	return store.List(ctx, db, query, func(rows *sql.Rows) error {
		columns, err := rows.Columns()
		if err != nil {
			return err
		}
		values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		named := map[string]string{}
		for i, column := range columns {
			if values[i].Valid {
				named[column] = values[i].String
			}
		}
		row(named)
		return nil
	}, args...)
}

// The numbers of a database that a login asked for and could not have. Only the server's own log tells why.
const (
	NoSuchDatabase     = 911
	CannotOpen         = 4060 // the login fails
	CannotOpenDefault  = 4061 // the login fails, and so does that into its default database
	CannotOpenFallback = 4063 // the login goes on in its default database
)

// DeniesDatabase tells whether a login or a statement failed because of the target's database.
func DeniesDatabase(err error) bool {
	return HasNumber(err, NoSuchDatabase, CannotOpen, CannotOpenDefault, CannotOpenFallback)
}

// AskErrorLog asks for a line that each error log begins with.
const AskErrorLog = "EXEC sys.sp_readerrorlog 0, 1, N'Server process ID is'"

// ReadsErrorLog is an error where the user may not read the server's error log, or where that is not in English: it
// would be searched in vain.
func ReadsErrorLog(ctx context.Context, db *sql.DB) error {
	english := false
	err := store.List(ctx, db, AskErrorLog, func(*sql.Rows) error { english = true; return nil })
	if err == nil && !english {
		err = store.Refuse("read the server's error log", "", "it is not in English")
	}
	return err
}

// EachPercent asks every now and then how far the statement of a session is, until stop is called or the server does
// not say.
func EachPercent(ctx context.Context, db *sql.DB, session int, tell func(percent float64, step string)) (stop func()) {
	return progress.Watch(ctx, time.Second, func(ctx context.Context) bool {
		var percent float64
		var step string
		const ask = "SELECT percent_complete, command FROM sys.dm_exec_requests WHERE session_id = @p1"
		err := db.QueryRowContext(ctx, ask, session).Scan(&percent, &step)
		if err == nil {
			tell(percent, step)
		}
		return err == nil
	})
}
