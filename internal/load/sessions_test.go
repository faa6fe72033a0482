package load_test

import (
	"context"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/load"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
	"ds2/schema"
)

// TestSessions (E11): a server of little memory is not asked for more than it has.
func TestSessions(t *testing.T) {
	for _, c := range []struct {
		why    string
		cpus   int
		memory int64
		want   int
	}{
		{"unknown memory", 4, 0, 4},
		{"one CPU", 1, 0, 2},
		{"the server that two sessions killed", 2, 500e6, 1},
		{"enough for two", 8, 1200e6, 2},
		{"enough for all", 8, 64e9, 8},
	} {
		assert.Equal(t, c.want, load.Sessions(c.cpus, c.memory), c.why)
	}
}

// TestSessionsAreChosen once there is a database that can be asked, and what they take of its
// server's memory.
func TestSessionsAreChosen(t *testing.T) {
	s := open(t, pgtest.Database(t))
	o := options(t)
	f := &follower{running: map[string]bool{}}
	o.AtOnce = 0
	o.Progress = f
	o.Server = func(ctx context.Context, e store.Database) (int64, float64) {
		require.NoError(t, e.DB().PingContext(ctx))
		return 110e6, 0
	}
	seen := settingOfBuilds(t, s, "maintenance_work_mem")
	mustLoad(t, s, o)
	assert.Equal(t, 1, f.most, "statements ran at once")
	assert.Equal(t, "26855kB", seen(), "a quarter of the memory")
}

// settingOfBuilds notes a setting whenever a build of an index begins; what it gives reads the
// values.
func settingOfBuilds(t *testing.T, s store.Database, name string) (seen func() string) {
	pgtest.Exec(
		t,
		s.DB(),
		"CREATE TABLE seen (value text)",
		`CREATE FUNCTION see() RETURNS event_trigger LANGUAGE plpgsql AS
			$$ BEGIN INSERT INTO seen VALUES (current_setting('`+name+`')); END $$`,
		"CREATE EVENT TRIGGER see ON ddl_command_start WHEN TAG IN ('CREATE INDEX') EXECUTE FUNCTION see()",
	)
	return func() string {
		return pgtest.Value[string](t, s.DB(), "SELECT string_agg(DISTINCT value, ' ') FROM seen")
	}
}

// TestSerialBuilds: where builds side by side keep all CPUs of the server at work, none is shared
// among workers.
func TestSerialBuilds(t *testing.T) {
	for _, c := range []struct {
		why, options, want string
		cpus               float64
	}{
		{"as many builds as CPUs", "", "0", 2},
		{"fewer builds than CPUs", "", "2", 3},
		{"unknown CPUs", "", "2", 0},
		{"set by the user", "?options=-c%20max_parallel_maintenance_workers%3D1", "1", 2},
	} {
		s := open(t, pgtest.Database(t)+c.options)
		o := options(t)
		o.AtOnce = 2
		o.Server = func(context.Context, store.Database) (int64, float64) { return 0, c.cpus }
		seen := settingOfBuilds(t, s, "max_parallel_maintenance_workers")
		mustLoad(t, s, o)
		assert.Equal(t, c.want, seen(), c.why)
	}
}

// estimates asks, whenever the check of a foreign key begins, how many rows the planner takes its
// table for.
type estimates struct {
	load.NoProgress
	t     *testing.T
	store store.Database
	found sync.Map // by statement
}

func (e *estimates) Statement(_ schema.Phase, name string, ended bool) {
	key, check := strings.CutPrefix(name, "check foreign key ")
	if !check || ended {
		return
	}
	var rows int64
	row := e.store.DB().
		QueryRow("SELECT least(c.reltuples, p.reltuples)::bigint FROM pg_constraint f "+
			"JOIN pg_class c ON c.oid = f.conrelid JOIN pg_class p ON p.oid = f.confrelid WHERE f.conname = $1", key)
	assert.NoError(e.t, row.Scan(&rows))
	e.found.Store(name, rows)
}

// TestStatisticsBeforeChecks: without them the server may check a key in the square of the rows'
// time.
func TestStatisticsBeforeChecks(t *testing.T) {
	for name, sessions := range map[string]int{"by part": byPart, "by table": byTable} {
		t.Run(name, func(t *testing.T) {
			s := open(t, pgtest.Database(t))
			// A vacuum reads every page of a small table.
			size := datagen.Size{Customers: 12_000, OrdersPerMonth: 1_000, Products: 1_200}
			o := optionsOf(t, size, 2_000)
			e := &estimates{t: t, store: s}
			o.AtOnce = sessions
			o.Progress = e
			mustLoad(t, s, o)
			found := maps.Collect(e.found.Range)
			require.Len(t, found, 3, "checks")
			smaller := min(size.Customers, size.OrdersPerMonth*datagen.Months)
			for check, rows := range found {
				assert.EqualValues(t, smaller, rows, "rows that %s was planned for", check)
			}
		})
	}
}
