package sqlserver

import (
	"context"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/sqlservertest"
	"ds2/internal/store"
	"ds2/schema"
)

// TestTwoLogins: an administrator and a user of the database exclude each other, also where the
// user takes the lock in the database alone, since he may not enter master.
func TestTwoLogins(t *testing.T) {
	target := sqlservertest.Database(t)
	admin := open(t, target)
	login := admin.Name() + "_user"
	const password = "Aa1-secret-of-a-test"
	create := []schema.Statement{
		{Name: "create database", SQL: "CREATE DATABASE " + admin.Name()},
		{
			Name: "create login",
			SQL:  "CREATE LOGIN " + login + " WITH PASSWORD = '" + password + "'",
		},
	}
	require.NoError(t, admin.CreateDatabase(t.Context(), create))
	_, err := admin.DB().ExecContext(t.Context(), "CREATE USER "+login+" FOR LOGIN "+login)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx := context.Background()
		_, err := admin.DB().ExecContext(ctx, "DROP USER "+login)
		assert.NoError(t, err)
		_, err = admin.DB().ExecContext(ctx, "DROP LOGIN "+login)
		assert.NoError(t, err)
	})
	u, err := url.Parse(target)
	require.NoError(t, err)
	u.User = url.UserPassword(login, password)
	user := openURL(t, u)

	l := store.Lock{Lost: func(err error) { t.Error(err) }}
	lockOwn := func() (func(), error) { // as Lock does where master is closed to the login
		return store.KeepLock(t.Context(), user, l, user.lockIn(user.Name(), l))
	}
	lockAll := func(s *Store) func() (func(), error) {
		return func() (func(), error) { return s.Lock(t.Context(), l) }
	}
	for why, c := range map[string]struct{ first, second func() (func(), error) }{
		"an administrator, then a user":       {lockAll(admin), lockAll(user)},
		"a user, then an administrator":       {lockAll(user), lockAll(admin)},
		"an administrator, then without such": {lockAll(admin), lockOwn},
		"without master, an administrator":    {lockOwn, lockAll(admin)},
	} {
		unlock, err := c.first()
		require.NoError(t, err, why)
		_, err = c.second()
		var locked *store.LockedError
		assert.ErrorAs(t, err, &locked, why)
		unlock()
		unlock, err = c.second()
		require.NoError(t, err, why)
		unlock()
	}
}
