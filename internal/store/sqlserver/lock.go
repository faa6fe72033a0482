package sqlserver

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"ds2/internal/progress"
	"ds2/internal/store"
)

const (
	maxProgramName = 128 // characters of a program_name at most
	lockIDLength   = 16

	// lockProbe is how often a connection is asked whether it is there still: go-mssqldb does not
	// listen between two questions.
	lockProbe = 5 * time.Second
)

// Lock takes application locks of a session, which are of the database that it is in:
// store.Database. In the target's own database every login of it meets the others; a restore
// disconnects all clients from there, and before a load it does not exist, so that a login that may
// enter master holds one there, too. Who holds them is the session's program_name, which not
// everyone may see.
func (s *Store) Lock(ctx context.Context, l store.Lock) (unlock func(), err error) {
	unlockMaster, errMaster := store.KeepLock(ctx, s, l, s.lockIn("master", l))
	if errMaster != nil && store.Classify(errMaster) != store.Config {
		return nil, errMaster
	}
	unlockOwn, err := store.KeepLock(ctx, s, l, s.lockIn(s.Name(), l))
	switch {
	case errMaster != nil: // a login of the target's database alone, as in Azure
		return unlockOwn, err
	case err != nil && store.Classify(err) == store.Config: // it is not there, or offline
		return unlockMaster, nil
	case err != nil:
		unlockMaster()
		return nil, err
	}
	return func() { unlockOwn(); unlockMaster() }, nil
}

// lockIn takes the locks in a database.
func (s *Store) lockIn(
	database string,
	l store.Lock,
) func(context.Context) (store.HeldLock, error) {
	return func(ctx context.Context) (store.HeldLock, error) {
		config := s.config
		config.AppName = l.Text(maxProgramName-len(" ")-lockIDLength) + " " + s.lockID()
		config.Database = database
		held := appLock{db: sql.OpenDB(connector{s, config})}
		var err error
		if held.conn, err = held.db.Conn(ctx); err == nil {
			err = s.takeLock(ctx, held.conn, l)
		}
		if err != nil {
			held.Close()
			return nil, err
		}
		held.names = []string{s.lockID("run", l.Run), s.lockID()}
		return held, nil
	}
}

// takeLock takes the lock of the database, alone or with those who hold that of the same run.
// Another lock lets only one session at a time do so.
func (s *Store) takeLock(ctx context.Context, conn *sql.Conn, l store.Lock) error {
	var got int
	run := s.lockID("run", l.Run)
	err := conn.QueryRowContext(ctx, query("server/take-lock"), s.lockID("taking"), s.lockID(), run, l.Run != "").
		Scan(&got)
	if err != nil {
		return err
	}
	if got >= 0 {
		return nil
	}
	var name string // empty where this login may not see it
	_ = conn.QueryRowContext(ctx, query("server/lock-holder"), s.lockID()).Scan(&name)
	holder, _ := store.ParseHolder(name)
	return &store.LockedError{Label: s.Label(), By: holder}
}

// lockID names a lock of the target's database.
func (s *Store) lockID(names ...string) string {
	key := store.LockKey(append([]string{"ds2", s.Name()}, names...)...)
	return fmt.Sprintf("%016x", uint64(key))
}

// appLock is a session that holds locks of some names, that of the run perhaps not.
type appLock struct {
	db    *sql.DB
	conn  *sql.Conn
	names []string
}

// Wait asks now and then whether the connection stands, until it does not, or ctx ends.
func (a appLock) Wait(ctx context.Context) {
	for a.conn.PingContext(ctx) == nil && progress.Pause(ctx, lockProbe) {
	}
}

// Close gives the locks back and ends the session and its pool.
func (a appLock) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), store.UnlockTime)
	defer cancel()
	// the server would notice a while later that the connection is gone
	for _, name := range a.names {
		_, _ = a.conn.ExecContext(ctx, query("server/release-lock"), name)
	}
	if a.conn != nil {
		a.conn.Close() // into the pool, which closes it
	}
	a.db.Close()
}
