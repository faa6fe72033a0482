package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"ds2/internal/store"
)

// A snapshot is a second database, made with the first one as its template: the server copies the files.

// maxName is how long a name of PostgreSQL's may be, in bytes; a longer one would be cut short, and might be another's.
const maxName = 63

// snapshotName is the name of the snapshot's database.
func (s *Store) snapshotName() (string, error) {
	name := s.Database() + "_ds2_snapshot"
	if len(name) > maxName {
		return "", &store.Error{
			Op: "name the snapshot of " + s.Label(), Class: store.Config,
			Err:  fmt.Errorf("%q has more than %d characters", name, maxName),
			Hint: "use a database with a shorter name",
		}
	}
	return name, nil
}

// SnapshotBytes is the size of the database or of the copy, whichever is larger: store.Snapshotter.
func (s *Store) SnapshotBytes(ctx context.Context) (bytes int64, err error) {
	name, err := s.snapshotName()
	if err != nil {
		return 0, err
	}
	err = s.administer(ctx, "ask for the size of "+s.Label(), func(conn *pgx.Conn) error {
		return conn.QueryRow(ctx, "SELECT coalesce(max(pg_database_size(oid)), 0)::bigint FROM pg_database WHERE datname IN ($1, $2)",
			s.Database(), name).Scan(&bytes)
	})
	return bytes, err
}

// CreateSnapshot copies the database, in the place of an older copy: store.Snapshotter.
func (s *Store) CreateSnapshot(ctx context.Context) error {
	name, err := s.snapshotName()
	if err != nil {
		return err
	}
	return s.administer(ctx, "copy "+s.Label(), func(conn *pgx.Conn) error {
		return copyDatabase(ctx, conn, s.Database(), name)
	})
}

// RestoreSnapshot puts the copy in the database's place: store.Snapshotter. The database is dropped first, because there
// may be no room for a third copy; a restore that is interrupted can be done again.
func (s *Store) RestoreSnapshot(ctx context.Context) error {
	name, err := s.snapshotName()
	if err != nil {
		return err
	}
	op := "restore " + s.Label()
	return s.administer(ctx, op, func(conn *pgx.Conn) error {
		var exists bool
		if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name).Scan(&exists); err != nil {
			return err
		}
		if !exists {
			return &store.Error{Op: op, Class: store.Config,
				Err: fmt.Errorf("there is no snapshot, a database %q", name), Hint: "make one with ds2 snapshot create"}
		}
		return copyDatabase(ctx, conn, name, s.Database())
	})
}

// DropSnapshot removes the copy: store.Snapshotter.
func (s *Store) DropSnapshot(ctx context.Context) error {
	name, err := s.snapshotName()
	if err != nil {
		return err
	}
	return s.administer(ctx, "drop the snapshot of "+s.Label(), func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+quote(name))
		return err
	})
}

// administer lends a connection to another database of the server, when this process has none to the target's own.
func (s *Store) administer(ctx context.Context, op string, f func(*pgx.Conn) error) error {
	// The pool closes its connections when none may be idle, and opens new ones when it is asked again.
	s.db.SetMaxIdleConns(0)
	defer s.db.SetMaxIdleConns(poolIdle)
	conn, err := s.maintenance(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	return s.wrap(op, f(conn))
}

// copyDatabase makes database to anew as a copy of database from. Of the server's ways it takes the fastest: copying
// files (the only one before version 15), as clones that share their blocks where version and file system can do that.
func copyDatabase(ctx context.Context, conn *pgx.Conn, from, to string) error {
	if _, err := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+quote(to)+" WITH (FORCE)"); err != nil {
		return err
	}
	create := "CREATE DATABASE " + quote(to) + " TEMPLATE " + quote(from)
	var version int
	if err := conn.QueryRow(ctx, "SELECT current_setting('server_version_num')::integer").Scan(&version); err != nil {
		return err
	}
	if version >= 15_00_00 {
		create += " STRATEGY file_copy"
	}
	if version >= 18_00_00 {
		if _, err := conn.Exec(ctx, "SET file_copy_method = clone"); err == nil {
			if _, err := conn.Exec(ctx, create); err == nil {
				return nil
			}
		}
		if _, err := conn.Exec(ctx, "RESET file_copy_method"); err != nil {
			return err
		}
	}
	_, err := conn.Exec(ctx, create)
	return err
}

func quote(name string) string { return pgx.Identifier{name}.Sanitize() }
