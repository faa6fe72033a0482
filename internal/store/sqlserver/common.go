package sqlserver

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	mssql "github.com/microsoft/go-mssqldb"

	"ds2/internal/store"
)

// refuseLacking is an error where the server is Babelfish, or Azure runs it, and it has not what is
// asked of it: why, where it has not.
func (s *Store) refuseLacking(ctx context.Context, op, hint, babelfish, azure string) error {
	v, err := s.askServer(ctx)
	switch {
	case err != nil:
		return err
	case v.babelfish && babelfish != "":
		return store.Refuse(op, hint, "%s", babelfish)
	case v.isAzure() && azure != "":
		return store.Refuse(op, hint, "%s", azure)
	}
	return nil
}

// quoteName quotes a name as T-SQL wants it.
func quoteName(name string) string { return mssql.TSQLQuoter{}.ID(name) }

// hasNumber tells whether one of the server's messages has one of some numbers: the last, which an
// mssql.Error is, is often only that something failed.
func hasNumber(err error, numbers ...int32) bool {
	e, ok := errors.AsType[mssql.Error](err)
	has := func(m mssql.Error) bool { return slices.Contains(numbers, m.Number) }
	return ok && slices.ContainsFunc(append(e.All, e), has)
}

// listNamed gives each row of an answer by the names of its columns, which differ between versions.
// What is NULL is left out.
func listNamed(
	ctx context.Context, db store.Queryer, query string, args ...any,
) (all []map[string]string, err error) {
	err = store.EachRow(ctx, db, store.MaxListed, query, func(rows *sql.Rows) error {
		columns, err := rows.Columns()
		if err != nil {
			return err
		}
		values := make([]sql.NullString, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		err = rows.Scan(into...)
		named := map[string]string{}
		for i, column := range columns {
			if values[i].Valid {
				named[column] = values[i].String
			}
		}
		all = append(all, named)
		return err
	}, args...)
	return all, err
}

// The numbers of a database that a login asked for and could not have. Only the server's own log
// tells why.
const (
	noSuchDatabase     = 911
	cannotOpen         = 4060 // the login fails
	cannotOpenDefault  = 4061 // the login fails, and so does that into its default database
	cannotOpenFallback = 4063 // the login goes on in its default database
)

// deniesDatabase tells whether a login or a statement failed because of the target's database.
func deniesDatabase(err error) bool {
	return hasNumber(err, noSuchDatabase, cannotOpen, cannotOpenDefault, cannotOpenFallback)
}
