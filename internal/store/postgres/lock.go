package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"ds2/internal/store"
)

// Lock takes advisory locks of a session: store.Database. They are taken in the maintenance
// database, because a restore drops the target's own, under numbers made of the target's name. Who
// holds them is in the session's application_name, which every role may read. A role that may not
// connect there locks its own database, and sees the locks in all others.
func (s *Store) Lock(ctx context.Context, l store.Lock) (unlock func(), err error) {
	return store.KeepLock(ctx, s, l, func(ctx context.Context) (store.HeldLock, error) {
		// The session waits until it gives the locks back: a request to end that wait might end the
		// giving back.
		conn, err := s.connectMaintenance(ctx, s.config.BuildContextWatcherHandler)
		if store.Classify(err) == store.Config {
			var config *pgx.ConnConfig
			if config, err = s.Config(ctx); err == nil {
				conn, err = s.openSession(ctx, config)
			}
		}
		if err != nil {
			return nil, err
		}
		if err := s.takeLock(ctx, conn, l); err != nil {
			advisory{conn}.Close()
			return nil, err
		}
		// A server that has gone down for lack of room can no longer be asked. Who may not read all
		// settings is not told the directory, and has fewer hints.
		if here, data := isHere(conn.QueryRow(ctx, askIdentity)); data != "" {
			s.data.Store(data)
			s.here.Store(here)
		}
		return advisory{conn}, nil
	})
}

// takeLock takes the lock of the database, alone or with those who hold that of the same run.
// Another lock lets only one session at a time do so, until the end of its transaction.
func (s *Store) takeLock(ctx context.Context, conn *pgx.Conn, l store.Lock) error {
	database := store.LockKey("ds2", s.Name())
	run := store.LockKey("ds2", s.Name(), "run", l.Run)
	if _, err := conn.Exec(ctx, query("server/name-session"), l.Text(maxName)); err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		shared := l.Run != ""
		taking := store.LockKey("ds2", s.Name(), "taking")
		_, err := tx.Exec(ctx, query("server/take-lock"), taking, database, shared, run)
		if err != nil {
			return err
		}
		// Who holds the database's lock and not that of the run is in the way.
		var name *string
		err = tx.QueryRow(ctx, query("server/lock-holder"), database, shared, run).Scan(&name)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		locked := &store.LockedError{Label: s.Label()}
		if name != nil {
			locked.By, _ = store.ParseHolder(*name)
		}
		return locked
	})
}

// advisory is a session that holds locks.
type advisory struct{ conn *pgx.Conn }

// Wait reads what the server sends, which is nothing until it ends the connection.
func (a advisory) Wait(ctx context.Context) {
	for {
		if _, err := a.conn.WaitForNotification(ctx); err != nil {
			return
		}
	}
}

// Close gives the locks back and ends the session.
func (a advisory) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), store.UnlockTime)
	defer cancel()
	// The server would notice a while later that the connection is gone, and refuse until then who
	// comes next.
	_, _ = a.conn.Exec(ctx, "SELECT pg_advisory_unlock_all()")
	a.conn.Close(ctx)
}
