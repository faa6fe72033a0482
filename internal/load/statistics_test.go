package load_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/load"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
	"ds2/schema"
)

// estimates asks, whenever the check of a foreign key begins, how many rows the planner takes its table for.
type estimates struct {
	load.Progress
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
	err := e.store.DB().QueryRow("SELECT least(c.reltuples, p.reltuples)::bigint FROM pg_constraint f JOIN pg_class c ON c.oid = f.conrelid "+
		"JOIN pg_class p ON p.oid = f.confrelid WHERE f.conname = $1", key).Scan(&rows)
	if err != nil {
		e.t.Error(err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.found[name] = rows
}

// TestStatisticsBeforeChecks: without them the server may check a key in the square of the rows' time.
func TestStatisticsBeforeChecks(t *testing.T) {
	for name, sessions := range map[string]int{"by part": byPart, "by table": byTable} {
		t.Run(name, func(t *testing.T) {
			s := open(t, pgtest.Database(t))
			size := datagen.Size{Customers: 12_000, OrdersPerMonth: 1_000, Products: 1_200} // a vacuum reads every page of a small table
			o := optionsOf(t, size, 2_000)
			e := &estimates{Progress: &follower{running: map[string]bool{}}, t: t, store: s, found: map[string]int64{}}
			o.AtOnce, o.Progress = sessions, e
			mustLoad(t, s, o)
			require.Len(t, e.found, 3, "checks")
			for check, rows := range e.found {
				if want := int64(min(size.Customers, size.OrdersPerMonth*datagen.Months)); rows != want {
					t.Errorf("%s: planned for tables of %d rows, and the smaller one has %d", check, rows, want)
				}
			}
		})
	}
}
