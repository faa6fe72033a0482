package monitor_test

import (
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // driver "pgx"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/monitor"
	"ds2/internal/sampling"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
	"ds2/internal/topology"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// counters opens those of a database as a run does.
func counters(t *testing.T, url string) (*monitor.Observer, sampling.Source) {
	t.Helper()
	w := observe(t, monitor.Options{}, target(t, url))
	for _, s := range w.Sources {
		if strings.HasPrefix(s.Name, "database counters") {
			return w, s
		}
	}
	require.Fail(t, "no counters of the database", "%v", w.Notes)
	return nil, sampling.Source{}
}

// observe finds out what can be observed of targets.
func observe(t *testing.T, o monitor.Options, targets ...store.Database) *monitor.Observer {
	t.Helper()
	w, err := monitor.Observe(t.Context(), targets, 0, o)
	require.NoError(t, err)
	t.Cleanup(w.Close)
	return w
}

// target opens a database for the test as a command does.
func target(t *testing.T, address string) store.Database {
	t.Helper()
	return pgtest.Open(t, postgres.Open, address)
}

func values(t *testing.T, src sampling.Source) map[string]float64 {
	t.Helper()
	v := make([]float64, len(src.Figures))
	require.NoError(t, src.Read(t.Context(), v))
	m := map[string]float64{}
	for i, f := range src.Figures {
		m[strings.TrimPrefix(f.Name, "database_")] = v[i]
	}
	return m
}

// TestNamelessServer: a server that does not say which it is to a user without rights is named in
// the notes.
func TestNamelessServer(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	db := pgtest.DB(t, database)
	pgtest.Exec(t, db, "REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC",
		"CREATE ROLE nameless LOGIN PASSWORD 'nameless'")
	t.Cleanup(func() { pgtest.Exec(t, db, "DROP ROLE nameless") })
	s := target(t, database)
	w := observe(t, monitor.Options{}, s)
	const said = "is known by its address only"
	assert.NotContains(t, strings.Join(w.Notes, " "), said, "of who may ask")
	w = observe(t, monitor.Options{}, target(t, pgtest.As(t, database, "nameless", "nameless")))
	host, _, _ := strings.Cut(s.Label(), "/")
	assert.Contains(t, strings.Join(w.Notes, " "), "server "+host+" "+said)
	assert.Contains(t, strings.Join(w.Notes, " "), "pg_control_system")
}

// TestDatabaseCounters makes transactions, WAL, a checkpoint and a session that waits for a lock,
// and finds them counted.
func TestDatabaseCounters(t *testing.T) {
	address := pgtest.Database(t)
	db := pgtest.DB(t, address)
	w, src := counters(t, address)
	server := w.Servers[0]
	assert.True(t, strings.HasPrefix(server.Version, "PostgreSQL"), "version %q", server.Version)
	assert.Subset(
		t,
		slices.Collect(maps.Keys(server.Settings)),
		[]string{"shared_buffers", "fsync"},
	)
	assert.GreaterOrEqual(t, len(server.Files), 2, "files = %v", server.Files)

	was := values(t, src)
	for name, v := range was {
		assert.False(t, math.IsNaN(v), "%s has no value", name)
	}
	pgtest.Exec(
		t,
		db,
		"CREATE TABLE things AS SELECT n, repeat('x', 500) FROM generate_series(1, 10000) n",
	)
	pgtest.Exec(t, db, "CHECKPOINT")
	// Statistics of a session are seen once it has gone idle or ended.
	holder, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer holder.Rollback()
	pgtest.Exec(t, holder, "LOCK TABLE things")
	ctx, cancel := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	waiting.Go(func() { db.ExecContext(ctx, "SELECT count(*) FROM things") })
	for name, least := range map[string]float64{ // which servers before 15 tell a while later
		"log_bytes_total":              1 << 20, // 10,000 rows of 500 bytes
		"checkpoints_total":            1,
		"checkpoint_pages_total":       100,
		"size_bytes":                   1 << 20,
		"sessions_waiting_for_lock":    1,
		"commits_total":                1,
		"sessions_waiting_for_storage": 0,
	} {
		for grown := math.NaN(); !(grown >= least); {
			require.NoError(
				t,
				t.Context().Err(),
				"%s grew by %v, want at least %v",
				name,
				grown,
				least,
			)
			grown = values(t, src)[name] - was[name]
		}
	}
	cancel()
	waiting.Wait()
}

// TestFiles has a table stand for what SQL Server counts of its files, one read after another.
func TestFiles(t *testing.T) {
	db := pgtest.DB(t, pgtest.Database(t))
	pgtest.Exec(
		t,
		db,
		"CREATE TABLE files (file text, role text, reads float, writes float, read_bytes float, written_bytes float, "+
			"read_s float, write_s float)",
		"INSERT INTO files VALUES "+
			"('cust_1', 'data', 100, 10, 819200, 81920, 0.5, 0.1), ('log_1', 'log', 0, 1000, 0, 4096000, 0, 0.2)",
	)
	for asDrives, group := range map[bool]string{false: "file", true: "disk"} {
		src, files, err := sampling.Files(
			t.Context(),
			db,
			"host/DS2",
			"",
			asDrives,
			"SELECT * FROM files ORDER BY file",
		)
		require.NoError(t, err)
		want := []topology.DatabaseFile{
			{Name: "cust_1", Database: "host/DS2", Role: topology.Data},
			{Name: "log_1", Database: "host/DS2", Role: topology.Log},
		}
		assert.Equal(t, want, files)
		require.Len(t, src.Figures, 12)
		require.Len(t, src.Columns, 14)
		for _, c := range src.Columns {
			assert.Regexp(t, "^"+group+`\.(cust|log)_1\.`, c.Name)
		}
		got := values(t, src) // of the log, the last
		assert.Equal(
			t,
			[]float64{1000, .2},
			[]float64{got["file_writes_total"], got["file_write_seconds_total"]},
		)
	}
}
