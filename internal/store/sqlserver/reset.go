package sqlserver

import (
	"context"
	"slices"

	mssql "github.com/microsoft/go-mssqldb"

	"ds2/datagen"
	"ds2/internal/store"
	"ds2/schema"
)

// Reset takes the database back to the state after the load: load.Resetter. What is copied is
// copied before the transaction.
func (s *Store) Reset(
	ctx context.Context,
	statements []schema.Statement,
	parts []datagen.Part,
	begin func(statement string),
) error {
	copied := 1 + slices.IndexFunc(statements, func(statement schema.Statement) bool {
		return statement.ThenCopy
	})
	var inside, outside []schema.Statement // of the transaction
	for _, statement := range statements[copied:] {
		if statement.NoTransaction {
			outside = append(outside, statement)
		} else {
			inside = append(inside, statement)
		}
	}
	err := s.onOwnConn(ctx, func(conn *mssql.Conn) error {
		run := func(statements []schema.Statement) error {
			for _, statement := range statements {
				begin(statement.Name)
				if err := execOn(ctx, conn, statement.SQL); err != nil {
					return s.Wrap(statement.Name, err)
				}
				if statement.ThenCopy {
					c := store.Copy{Table: statement.Table, Parts: parts, Told: func(int64) {}}
					if _, err := s.bulkLoad(ctx, conn, c); err != nil {
						return err
					}
				}
			}
			return nil
		}
		err := run(statements[:copied])
		if err == nil {
			err = inTransaction(ctx, conn, func() error { return run(inside) })
		}
		if err == nil {
			err = run(outside)
		}
		if err == nil {
			begin("wait until the server has removed deleted rows")
			err = s.awaitGhostCleanup(ctx)
		}
		return err
	})
	return s.Wrap("reset "+s.Label(), err)
}

// awaitGhostCleanup waits until the rows that a reset deleted are gone from the pages of its
// tables, as far as a sample of the largest shows. Until then they are ghosts, which a task of the
// server's removes in the background: a run that begins before would be measured with it. Where
// they stay that is an error, since the database is not as it was.
func (s *Store) awaitGhostCleanup(ctx context.Context) error {
	if v, err := s.askServer(ctx); err != nil || v.babelfish {
		return err
	}
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	left, err := awaitGhosts(ctx, func() (n int64, err error) {
		err = conn.QueryRowContext(ctx, query("database/ghost-records")).Scan(&n)
		return n, err
	})
	if store.Classify(s.Wrap("wait", err)) == store.Config {
		return nil // a login that may not see them resets all the same
	}
	if err != nil || left == 0 {
		return err
	}
	return s.judgeGhosts(ctx, left)
}

// judgeGhosts says whether n deleted rows may stay: as long as older versions of rows are kept.
func (s *Store) judgeGhosts(ctx context.Context, left int64) error {
	settings, err := s.readSettings(ctx)
	if err == nil && (settings["database accelerated recovery"] == "1" ||
		settings["database read committed snapshot"] == "1") {
		return nil
	}
	return store.Resource.Fail("wait until the server has removed deleted rows",
		"look for a transaction that has been open for long, and for trace flag 661, which stops the removal",
		"%d deleted rows are still in their pages, and the server removed none for %s", left, ghostsStay)
}
