package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/progress"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
	"ds2/internal/workload/ds2/calls"
)

// silent discards progress: progress.Tell.
var silent = progress.Ignore

var small = datagen.Size{Customers: 600, OrdersPerMonth: 50, Products: 10_000}

// work does what a run does: new customers, purchases by old and new ones, products that run out.
func work(t *testing.T, s *postgres.Store) {
	t.Helper()
	session := connect(t, s)
	defer session.Close(t.Context()) // a database that is copied has no connections
	customer, err := session.NewCustomer(t.Context(), newCustomer)
	require.True(t, err == nil && customer != 0, "new customer %d: %v", customer, err)
	for i := range 200 {
		items := []calls.Item{
			{Product: 10_000, Quantity: 3},
			{Product: int32(i%5 + 1), Quantity: 3},
		}
		_, err := session.Purchase(
			t.Context(),
			&calls.Purchase{CustomerID: 1 + int64(i)%customer, Items: items},
		)
		require.NoError(t, err)
	}
}

var text = []byte("TEXT")

var newCustomer = &calls.Customer{
	FirstName: text, LastName: text, Address1: text, City: text, Country: text,
	CreditCard: text, CreditCardExpiration: text, Username: text, Password: text, Gender: 'M',
}

// state is the contents of a database with the storage parameters of its tables and what its
// triggers do.
func state(t *testing.T, s *postgres.Store) map[string]string {
	t.Helper()
	state := pgtest.Contents(t, pgtest.Server(t).URL(s.Name()))
	state["catalog"] = pgtest.Value[string](t, s.DB(), `
		SELECT string_agg(concat_ws(' ', relname, relkind, reloptions), ', ' ORDER BY relname)
		|| (SELECT string_agg(concat_ws(' ', tgname, tgenabled), ', ' ORDER BY tgname)
			FROM pg_trigger WHERE NOT tgisinternal)
		|| (SELECT string_agg(concat_ws(' ', sequencename, last_value), ', ' ORDER BY sequencename) FROM pg_sequences)
		FROM pg_class WHERE relnamespace = 'public'::regnamespace`)
	return state
}

// fully is a full copy with which everything is kept.
func fully(t *testing.T) store.Copying {
	return store.Copying{Tell: silent, Warn: func(what string) { t.Error(what) }}
}

// snapshotted makes a snapshot of a database, which is gone when the test ends.
func snapshotted(t *testing.T, s *postgres.Store) {
	t.Helper()
	require.NoError(t, s.CreateSnapshot(t.Context(), fully(t)))
	t.Cleanup(func() { assert.NoError(t, s.DropSnapshot(context.Background())) })
}

func TestBackToTheStart(t *testing.T) {
	t.Parallel()
	s := loaded(t, small)
	fresh := state(t, s)
	snapshotted(t, s)
	room, err := s.SnapshotRoom(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{pgtest.Server(t).DataDir()}, room.Directories)
	assert.True(t, room.Database >= 1e6 && room.Copy >= 1e6, "room: %+v", room)
	restore := func() { require.NoError(t, s.RestoreSnapshot(t.Context(), fully(t))) }
	maintenance := open(t, pgtest.Server(t).URL("postgres")).DB()
	for _, way := range []struct {
		name string
		back func()
	}{
		{"reset", func() { reset(t, s, silent) }},
		{"reset of rows that lie among the dataset's, as VACUUM FULL or CLUSTER may have them", func() {
			pgtest.Exec(t, s.DB(), "CREATE TEMPORARY TABLE mixed AS SELECT * FROM cust_hist", "TRUNCATE cust_hist",
				"INSERT INTO cust_hist SELECT * FROM mixed ORDER BY orderid DESC", "DROP TABLE mixed")
			reset(t, s, silent)
		}},
		{"snapshot", restore},
		{"snapshot again", restore},
		{"snapshot, while the server goes on with a restore that was killed", func() {
			name := s.Name() + "_ds2_snapshot"
			left := make(chan error)
			go func() {
				create := fmt.Sprintf(
					"CREATE DATABASE %q TEMPLATE %q", s.Name()+"_ds2_snap_new", name,
				)
				_, err := maintenance.Exec(create)
				left <- err
			}()
			pgtest.Await(t, maintenance, "SELECT EXISTS (SELECT FROM pg_stat_activity "+
				"WHERE state = 'active' AND query LIKE 'CREATE DATABASE%')")
			restore()
			assert.NoError(t, <-left)
		}},
	} {
		work(t, s)
		require.NotEqual(t, fresh, state(t, s), "%s: the work changed nothing", way.name)
		way.back()
		assert.Equal(t, fresh, state(t, s), "after %s", way.name)
	}
	reset(t, s, silent)
	assert.Equal(t, fresh, state(t, s), "after a reset of what was not changed")
}

func TestSnapshotErrors(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Database(t))
	refused(t, s.RestoreSnapshot(t.Context(), fully(t)), store.Config, "ds2 snapshot create")
	assert.NoError(t, s.DB().Ping(), "the database is gone")

	other := open(t, pgtest.Server(t).URL(s.Name()))
	require.NoError(t, other.DB().Ping())
	refused(t, s.CreateSnapshot(t.Context(), fully(t)), store.Resource, "connected")

	long := open(t, pgtest.Server(t).URL(strings.Repeat("x", 60)))
	refused(t, long.CreateSnapshot(t.Context(), fully(t)), store.Config, "63")
}

// TestSnapshotIsKept makes a second snapshot that fails or was killed before: the first one is
// there until the second is whole.
func TestSnapshotIsKept(t *testing.T) {
	t.Parallel()
	s := loaded(t, small)
	fresh := state(t, s)
	snapshotted(t, s)
	work(t, s)
	worked := state(t, s)
	other := open(t, pgtest.Server(t).URL(s.Name()))
	require.NoError(t, other.DB().Ping())
	require.Error(t, s.CreateSnapshot(t.Context(), fully(t)), "a database in use was copied")
	other.Close()
	require.NoError(
		t,
		s.RestoreSnapshot(t.Context(), fully(t)),
		"restore after a second snapshot that failed",
	)
	assert.Equal(t, fresh, state(t, s), "the second snapshot failed, and the first one holds")

	// What commands leave that are killed before and after the two change places.
	admin := open(t, pgtest.Server(t).URL("postgres"))
	for _, left := range []string{s.Name() + "_ds2_snap_new", s.Name() + "_ds2_snap_old"} {
		pgtest.Exec(t, admin.DB(), "CREATE DATABASE "+left)
	}
	work(t, s)
	require.NoError(t, s.CreateSnapshot(t.Context(), fully(t)))
	pgtest.Exec(t, s.DB(), "UPDATE inventory SET sales = 0")
	require.NoError(t, s.RestoreSnapshot(t.Context(), fully(t)))
	assert.Equal(t, worked, state(t, s), "the second snapshot holds")
	const others = "SELECT count(*) FROM pg_database WHERE starts_with(datname, '%s_ds2_snap_')"
	assert.Zero(
		t,
		pgtest.Value[int](t, admin.DB(), fmt.Sprintf(others, s.Name())),
		"databases beside the snapshot",
	)
}

// settingsOf is what is set for a database outside of its files.
func settingsOf(t *testing.T, s *postgres.Store) string {
	t.Helper()
	return pgtest.Value[string](t, s.DB(), `
		SELECT concat_ws(E'\n', pg_get_userbyid(d.datdba), d.datconnlimit, shobj_description(d.oid, 'pg_database'),
			(SELECT string_agg(concat_ws(' ', grantee::regrole, privilege_type, is_grantable), ', '
				ORDER BY grantee, privilege_type) FROM aclexplode(d.datacl)),
			(SELECT string_agg(concat_ws(' ', setrole::regrole, setconfig), ', ' ORDER BY setrole)
				FROM pg_db_role_setting WHERE setdatabase = d.oid))
		FROM pg_database d WHERE d.datname = current_database()`)
}

// TestSnapshotKeepsSettings restores a database that a user has set this and that for, also after
// the snapshot was made, and also after a restore that was cut off when the database was gone.
func TestSnapshotKeepsSettings(t *testing.T) {
	t.Parallel()
	s := loaded(t, small)
	admin := open(t, pgtest.Server(t).URL("postgres"))
	do := func(statements ...string) {
		t.Helper()
		for _, statement := range statements {
			pgtest.Exec(
				t,
				admin.DB(),
				strings.ReplaceAll(statement, "DATABASE", "DATABASE "+s.Name()),
			)
		}
	}
	do("CREATE ROLE ds2_owner", `CREATE ROLE "ds2 user"`)
	t.Cleanup(func() {
		for _, role := range []string{"ds2_owner", `"ds2 user"`} {
			for _, database := range []string{s.Name(), s.Name() + "_ds2_snapshot"} {
				admin.DB().Exec("ALTER DATABASE " + database + " OWNER TO postgres")
				admin.DB().Exec("REVOKE ALL ON DATABASE " + database + " FROM " + role)
			}
			pgtest.Exec(t, admin.DB(), "DROP ROLE "+role)
		}
	})
	do("ALTER DATABASE SET work_mem = '5MB'", "COMMENT ON DATABASE IS 'it''s mine'")
	snapshotted(t, s)
	do(
		`ALTER DATABASE SET search_path = "$user", "an app", public`,
		"ALTER DATABASE SET work_mem = '7MB'",
		"ALTER DATABASE SET app.name = 'a, b'",
		`ALTER ROLE "ds2 user" IN DATABASE SET random_page_cost = 1.3`,
		"REVOKE ALL ON DATABASE FROM PUBLIC",
		`GRANT CONNECT ON DATABASE TO "ds2 user" WITH GRANT OPTION`,
		"ALTER DATABASE CONNECTION LIMIT 77",
		"ALTER DATABASE OWNER TO ds2_owner",
	)
	want := settingsOf(t, s)
	require.NoError(t, s.RestoreSnapshot(t.Context(), fully(t)))
	assert.Equal(t, want, settingsOf(t, s), "after the restore")
	s.DB().SetMaxIdleConns(0)
	do("DROP DATABASE")
	require.NoError(t, s.RestoreSnapshot(t.Context(), fully(t)))
	assert.Equal(t, want, settingsOf(t, s), "after the restore of a database that was gone")
	do(
		"ALTER DATABASE RESET ALL",
		"GRANT TEMPORARY ON DATABASE TO PUBLIC",
		"COMMENT ON DATABASE IS NULL",
		"ALTER DATABASE CONNECTION LIMIT -1",
	)
	want = settingsOf(t, s)
	require.NoError(t, s.RestoreSnapshot(t.Context(), fully(t)))
	assert.Equal(t, want, settingsOf(t, s), "after settings were taken back")
}
