package postgres

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"ds2/internal/store"
)

// A snapshot is a second database, made with the first one as its template: the server copies the
// files. A new one takes the place of an older one when it is whole: until then, and while the two
// change places, there is always one under its name.

// maxName is how long a name of PostgreSQL's may be, in bytes; a longer one would be cut short, and
// might be another's.
const maxName = 63

// What follows the database's name in those of the snapshot, of a new one that is being made, and
// of an older one that is about to be dropped. They are of one length, so that a name that is short
// enough for one is for all.
const (
	snapshotSuffix    = "_ds2_snapshot"
	newSnapshotSuffix = "_ds2_snap_new"
	oldSnapshotSuffix = "_ds2_snap_old"
)

// SnapshotRoom asks for the sizes of both databases and the places of their files: load.Sizer.
func (s *Store) SnapshotRoom(ctx context.Context) (room store.SnapshotRoom, err error) {
	op := "ask for the size of " + s.Label()
	err = s.withMaintenance(ctx, op, func(conn *pgx.Conn, name string) error {
		room.Here, _ = isHere(conn.QueryRow(ctx, query("server/this-process")))
		err := conn.QueryRow(ctx, query("server/snapshot-room"), s.Name(), name).
			Scan(&room.Database, &room.Copy, &room.Directories)
		// Who may not read all settings is not told the directory of the tablespace pg_default.
		if slices.Contains(room.Directories, "") {
			room.Directories = nil
		}
		return err
	})
	return room, err
}

// CreateSnapshot copies the database, in the place of an older copy: upkeep.Snapshotter.
func (s *Store) CreateSnapshot(ctx context.Context, how store.Copying) error {
	made := s.Name() + newSnapshotSuffix
	old := s.Name() + oldSnapshotSuffix
	return s.withMaintenance(ctx, "copy "+s.Label(), func(conn *pgx.Conn, name string) error {
		// The older one may have been left by a command that was killed after the two had changed
		// places.
		if err := dropDatabase(ctx, conn, old); err != nil {
			return err
		}
		if err := s.copyDatabase(ctx, conn, s.Name(), made, made, how); err != nil {
			return err
		}
		if err := exchangeDatabases(ctx, conn, name, made, old); err != nil {
			return err
		}
		return dropDatabase(ctx, conn, old)
	})
}

// exchangeDatabases gives database made the name of another, which from then on is called old, in
// one transaction. There may be no other.
func exchangeDatabases(ctx context.Context, conn *pgx.Conn, name, made, old string) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		var there bool
		err := tx.QueryRow(ctx, query("server/database-exists"), name).Scan(&there)
		if err == nil && there {
			_, err = tx.Exec(ctx, "ALTER DATABASE "+quoteName(name)+" RENAME TO "+quoteName(old))
		}
		if err == nil {
			_, err = tx.Exec(ctx, "ALTER DATABASE "+quoteName(made)+" RENAME TO "+quoteName(name))
		}
		return err
	})
}

// dropDatabase drops a database where there is one; whoever is connected to it is disconnected.
func dropDatabase(ctx context.Context, conn *pgx.Conn, name string) error {
	_, err := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+quoteName(name)+" WITH (FORCE)")
	return err
}

// RestoreSnapshot puts the copy in the database's place: upkeep.Snapshotter. The database is
// dropped first, because there may be no room for a third copy; a restore that is interrupted can
// be done again. What is set for the database is kept with the snapshot meanwhile, and the new
// database gets its name last, so that one of that name always has it.
func (s *Store) RestoreSnapshot(ctx context.Context, how store.Copying) error {
	op := "restore " + s.Label()
	made := s.Name() + newSnapshotSuffix
	return s.withMaintenance(ctx, op, func(conn *pgx.Conn, name string) error {
		var there bool
		var slots string
		err := conn.QueryRow(ctx, query("server/restorable"), name, s.Name()).Scan(&there, &slots)
		if err != nil {
			return err
		}
		if !there {
			return store.Refuse(op, "make one with ds2 snapshot create",
				"there is no snapshot, a database %q", name)
		}
		if slots != "" {
			return store.Refuse(op, "drop them with pg_drop_replication_slot if they are not needed",
				"it has logical replication slots, which would go with it: %s", slots)
		}
		if err := keepSettings(ctx, conn, s.Name(), name, how.Warn); err != nil {
			return err
		}
		if err := dropDatabase(ctx, conn, made); err != nil {
			return err
		}
		if err := s.copyDatabase(ctx, conn, name, s.Name(), made, how); err != nil {
			return err
		}
		_, err = conn.Exec(ctx, "ALTER DATABASE "+quoteName(made)+" RENAME TO "+quoteName(s.Name()))
		return err
	})
}

// DropSnapshot removes the copy, and what a killed command left of others: upkeep.Snapshotter.
func (s *Store) DropSnapshot(ctx context.Context) error {
	op := "drop the snapshot of " + s.Label()
	return s.withMaintenance(ctx, op, func(conn *pgx.Conn, _ string) error {
		for _, suffix := range []string{newSnapshotSuffix, oldSnapshotSuffix, snapshotSuffix} {
			// Who is connected to it is not disconnected.
			drop := "DROP DATABASE IF EXISTS " + quoteName(s.Name()+suffix)
			if _, err := conn.Exec(ctx, drop); err != nil {
				return err
			}
		}
		return nil
	})
}

// withMaintenance lends a connection to another database of the server, when this process has none
// to the target's own, with the name of the snapshot's database.
func (s *Store) withMaintenance(
	ctx context.Context,
	op string,
	f func(conn *pgx.Conn, name string) error,
) error {
	name := s.Name() + snapshotSuffix
	if len(name) > maxName {
		return store.Refuse("name the snapshot of "+s.Label(), "use a database with a shorter name",
			"%q has more than %d characters", name, maxName)
	}
	// The pool closes its connections when none may be idle, and opens new ones when it is asked
	// again.
	s.db.SetMaxIdleConns(0)
	defer s.db.SetMaxIdleConns(poolIdle)
	conn, err := s.connectMaintenance(ctx, cancelStatement)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	return s.Wrap(op, f(conn, name))
}

// copyDatabase makes database made as a copy of database from, file by file, with all that is set
// for it. Database old is dropped before; it may be made itself.
func (s *Store) copyDatabase(
	ctx context.Context,
	conn *pgx.Conn,
	from, old, made string,
	how store.Copying,
) error {
	var all int64
	if err := conn.QueryRow(ctx, "SELECT pg_database_size($1::name)", from).Scan(&all); err != nil {
		return err
	}
	how.Tell("drop the old database "+old, 0, all)
	if err := dropDatabase(ctx, conn, old); err != nil {
		return err
	}
	var copied atomic.Int64 // bytes
	defer s.followCopy(ctx, all, &copied, how.Tell)()
	stop := s.readAhead(ctx, from, copied.Load)
	err := createCopy(ctx, conn, from, made)
	stop()
	if err != nil {
		return err
	}
	return keepSettings(ctx, conn, from, made, how.Warn)
}

// createCopy makes database made as a full copy of database from, however the server is set: where
// files share blocks, each first overwrite of one goes elsewhere on the drive, and a run would
// measure the file system's copying.
func createCopy(ctx context.Context, conn *pgx.Conn, from, made string) error {
	var strategy string
	if err := conn.QueryRow(ctx, query("server/copy-strategy")).Scan(&strategy, nil); err != nil {
		return err
	}
	create := "CREATE DATABASE " + quoteName(made) + " TEMPLATE " + quoteName(from) + strategy
	_, err := conn.Exec(ctx, create)
	if state := sqlState(err); state == duplicateDatabase || state == uniqueViolation {
		// The server went on with what a killed command had begun.
		if err = dropDatabase(ctx, conn, made); err == nil {
			_, err = conn.Exec(ctx, create)
		}
	}
	return err
}

// quoteName quotes a name as SQL wants it, so that capitals and blanks stay as they are.
func quoteName(name string) string { return pgx.Identifier{name}.Sanitize() }
