package load_test

import (
	"context"
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

// TestSessionsAreChosen once there is a database that can be asked, and what they take of its server's memory.
func TestSessionsAreChosen(t *testing.T) {
	s, o := open(t, pgtest.Database(t)), options(t)
	f := &follower{running: map[string]bool{}}
	o.AtOnce, o.Progress = 0, f
	o.Memory = func(ctx context.Context, e store.Database) int64 {
		require.NoError(t, e.DB().PingContext(ctx))
		return 110e6
	}
	pgtest.Exec(t, s.DB(), "CREATE TABLE seen (memory text)",
		`CREATE FUNCTION see() RETURNS event_trigger LANGUAGE plpgsql AS
			$$ BEGIN INSERT INTO seen VALUES (current_setting('maintenance_work_mem')); END $$`,
		"CREATE EVENT TRIGGER see ON ddl_command_start WHEN TAG IN ('CREATE INDEX') EXECUTE FUNCTION see()")
	mustLoad(t, s, o)
	assert.Equal(t, 1, f.most, "statements ran at once")
	most := pgtest.Value[string](t, s.DB(), "SELECT max(pg_size_bytes(memory)) FROM seen")
	assert.Equal(t, "27499520", most, "a quarter of the memory")
}

// estimates asks, whenever the check of a foreign key begins, how many rows the planner takes its table for.
type estimates struct {
	load.NoProgress
	t     *testing.T
	store store.Database

	mu    sync.Mutex
	found map[string]int64 // by statement
}

func (e *estimates) Statement(_ schema.Phase, name string, ended bool) {
	key, check := strings.CutPrefix(name, "check foreign key ")
	if !check || ended {
		return
	}
	var rows int64
	row := e.store.DB().QueryRow("SELECT least(c.reltuples, p.reltuples)::bigint FROM pg_constraint f "+
		"JOIN pg_class c ON c.oid = f.conrelid JOIN pg_class p ON p.oid = f.confrelid WHERE f.conname = $1", key)
	assert.NoError(e.t, row.Scan(&rows))
	e.mu.Lock()
	defer e.mu.Unlock()
	e.found[name] = rows
}

// TestStatisticsBeforeChecks: without them the server may check a key in the square of the rows' time.
func TestStatisticsBeforeChecks(t *testing.T) {
	for name, sessions := range map[string]int{"by part": byPart, "by table": byTable} {
		t.Run(name, func(t *testing.T) {
			s := open(t, pgtest.Database(t))
			// A vacuum reads every page of a small table.
			size := datagen.Size{Customers: 12_000, OrdersPerMonth: 1_000, Products: 1_200}
			o := optionsOf(t, size, 2_000)
			e := &estimates{t: t, store: s, found: map[string]int64{}}
			o.AtOnce, o.Progress = sessions, e
			mustLoad(t, s, o)
			require.Len(t, e.found, 3, "checks")
			smaller := min(size.Customers, size.OrdersPerMonth*datagen.Months)
			for check, rows := range e.found {
				assert.EqualValues(t, smaller, rows, "rows that %s was planned for", check)
			}
		})
	}
}
