package load_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/load"
	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/progress"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
	"ds2/internal/storetest"
	"ds2/internal/workload"
	"ds2/internal/workload/ds2"
	"ds2/internal/workload/ds2/audit"
	"ds2/schema"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

var size = datagen.Size{Customers: 600, OrdersPerMonth: 50, Products: 1_200}

func options(t testing.TB) load.Options {
	t.Helper()
	return optionsOf(t, size, 100)
}

func optionsOf(t testing.TB, size datagen.Size, partRows int) load.Options {
	t.Helper()
	o := storetest.Loading(t, size, partRows)
	o.AtOnce = byPart
	return o
}

// How many sessions copy: more than there are large tables, so that each part is a step, and fewer,
// so that each table is.
const byPart, byTable = 7, 3

func open(t testing.TB, target string) *postgres.Store {
	t.Helper()
	return pgtest.Open(t, postgres.Open, target).(*postgres.Store)
}

func mustLoad(t testing.TB, s *postgres.Store, o load.Options) *load.Report {
	t.Helper()
	report, err := load.Run(t.Context(), s, o)
	require.NoError(t, err)
	return report
}

func TestLoadIsWhole(t *testing.T) {
	t.Parallel()
	target := pgtest.Database(t)
	s := open(t, target)
	o := options(t)
	progress := &follower{running: map[string]bool{}}
	o.Progress = progress
	report := mustLoad(t, s, o)
	assert.True(
		t,
		progress.share >= 0.9 && progress.share <= 1,
		"the share that was done ended at %g",
		progress.share,
	)
	assert.False(t, progress.fell, "the share that was done fell")
	copied, all, _ := strings.Cut(progress.copied, " of ")
	assert.Regexp(t, "^[0-9.]+ kB$", all, "what was to be copied")
	assert.Equal(t, all, copied, "what was copied, at the end of the data")
	assert.Empty(t, progress.running, "statements that never ended")
	assert.NotZero(t, progress.statements)
	for _, table := range report.Tables {
		rows := pgtest.Value[int64](t, s.DB(), "SELECT count(*) FROM "+string(table.Table))
		assert.NotZero(t, rows, table.Table)
		assert.Equal(t, rows, table.Rows, "rows of %s that are reported", table.Table)
	}
	info, err := store.ReadInfo(t.Context(), s.DB())
	require.NoError(t, err)
	assert.NoError(t, info.CheckReady())
	found, _, err := audit.Loaded(info)
	assert.NoError(t, err)
	assert.Equal(t, size, found, "size noted")
	for what, rows := range map[string]string{
		"constraints that are not validated": "pg_constraint WHERE NOT convalidated",
		"tables that are not analysed": "pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace" +
			" AND reltuples < 1 AND relname NOT IN ('reorder', 'ds2_info')",
		"tables that autovacuum leaves alone":   "pg_class WHERE reloptions::text LIKE '%autovacuum%'",
		"notes of the load":                     "pg_class WHERE relname = 'ds2_steps'",
		"customers outside the US with a state": "customers WHERE region = 2 AND state IS NOT NULL",
		"customers in the US without a state":   "customers WHERE region = 1 AND state IS NULL",
		"customers with a second address":       "customers WHERE address2 IS NOT NULL",
		"keys that new customers would share": "customers WHERE customerid >" +
			" (SELECT last_value FROM customers_customerid_seq)",
		"orders in another number than the size says": "(SELECT count(*) FROM orders) AS o (n) WHERE n <> 600",
	} {
		assert.Zero(t, pgtest.Value[int](t, s.DB(), "SELECT count(*) FROM "+rows), what)
	}
}

// TestRowsAreWrittenOnce asks the pages themselves: whichever way the rows came, all are frozen and
// known to be visible.
func TestRowsAreWrittenOnce(t *testing.T) {
	t.Parallel()
	// A separate server, without autovacuum: a row is frozen when no older transaction is under way
	// in its database, nor in a session of another test that is just being set up, which belongs to
	// no database yet.
	server := pgtest.Start(
		t,
		localpg.Options{Settings: map[string]string{"fsync": "off", "autovacuum": "off"}},
	)
	for i, atOnce := range []int{byPart, byTable} {
		s := open(t, server.URL([]string{"postgres", "template1"}[i]))
		o := options(t)
		o.AtOnce = atOnce
		mustLoad(t, s, o)
		pgtest.Exec(t, s.DB(), "CREATE EXTENSION pg_visibility")
		for _, table := range datagen.Tables {
			// Pages without rows, which sessions that extend a table at a time leave, count for
			// nothing.
			var unfrozen, pages int
			row := s.DB().QueryRow(fmt.Sprintf(`
				SELECT count(*) FILTER (WHERE NOT (all_visible AND all_frozen AND pd_all_visible)), count(*)
				FROM pg_visibility('%[1]s') WHERE blkno IN (SELECT (ctid::text::point)[0]::bigint FROM %[1]s)`, table))
			require.NoError(t, row.Scan(&unfrozen, &pages))
			assert.NotZero(t, pages, table)
			assert.Zero(t, unfrozen, "%d sessions: pages of %s that are not frozen", atOnce, table)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	type setUp = func(*testing.T, *postgres.Store)
	whole := func(t *testing.T, s *postgres.Store) { mustLoad(t, s, options(t)) }
	unfinished := func(rows int64) setUp {
		return func(t *testing.T, s *postgres.Store) { breakLoad(t, s, rows) }
	}
	table := func(create string) setUp {
		return func(t *testing.T, s *postgres.Store) {
			pgtest.Exec(t, s.DB(), "CREATE TABLE "+create)
		}
	}
	larger := storetest.Dataset(t, size, datagen.Options{PartRows: 100})
	larger.Size.Products = 1_201
	otherwise := storetest.Dataset(
		t,
		size,
		datagen.Options{},
	) // parts would be there twice, or never
	for _, test := range []struct {
		name  string
		setUp setUp
		load  load.Options
		says  string
	}{
		{"a DS2 that is whole", whole, load.Options{}, "--drop"},
		{
			"a DS2 that is whole, to be resumed", whole,
			load.Options{Resume: true},
			"nothing to resume",
		},
		{"an unfinished one", unfinished(5), load.Options{}, "--resume"},
		{
			"an unfinished one of another size, to be resumed",
			unfinished(5),
			load.Options{Resume: true, Dataset: larger},
			"products=1201",
		},
		{
			"an unfinished one whose files were cut otherwise, to be resumed",
			unfinished(6_000),
			load.Options{Resume: true, Dataset: otherwise},
			"split differently",
		},
		{
			"tables of DS2's own scripts",
			table("reorder (prod_id int, quan_low int)"),
			load.Options{},
			"did not load (reorder)",
		},
		{
			"another application's table, even to be dropped",
			table("customers (id int, name text)"),
			load.Options{Drop: true},
			"customers is not ds2's",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			target := pgtest.Database(t)
			s := open(t, target)
			test.setUp(t, s)
			before := pgtest.Contents(t, target)
			o := options(t)
			o.Resume = test.load.Resume
			o.Drop = test.load.Drop
			if test.load.Dataset != nil {
				o.Dataset = test.load.Dataset
			}
			_, err := load.Run(t.Context(), s, o)
			assert.ErrorContains(t, err, test.says)
			assert.Equal(t, pgtest.Contents(t, target), before, "the database was changed")
		})
	}
}

// TestDropLeavesWhatIsNotDS2s: nor does a table of the name of one of DS2's stand in a load's way
// in another schema.
func TestDropLeavesWhatIsNotDS2s(t *testing.T) {
	t.Parallel()
	target := pgtest.Database(t)
	s := open(t, target)
	pgtest.Exec(t, s.DB(), "CREATE SCHEMA shop", "CREATE TABLE shop.customers (id int, name text)")
	mustLoad(t, s, options(t))
	contents := func() map[string]string {
		all := pgtest.Contents(t, target)
		delete(all, "ds2_info") // which notes the schema, with the user's own functions
		return all
	}
	fresh := contents()
	pgtest.Exec(
		t,
		s.DB(),
		"CREATE TABLE mine AS SELECT 1 AS one",
		"CREATE FUNCTION ds2_login(integer) RETURNS integer LANGUAGE sql AS 'SELECT 1'",
		"DELETE FROM cust_hist",
	)
	o := options(t)
	o.Drop = true
	mustLoad(t, s, o)
	pgtest.Exec(t, s.DB(), "SELECT ds2_login(one) FROM mine", "DROP TABLE mine")
	assert.Equal(t, fresh, contents(), "after --drop")

	pgtest.Exec(t, s.DB(), "CREATE VIEW mine AS SELECT * FROM orders")
	_, err := load.Run(t.Context(), s, o)
	assert.ErrorContains(t, err, "mine", "a view of the user's on a table to be dropped")
	assert.Equal(t, fresh, contents(), "after a drop that was refused")
}

// breakLoad begins a load and breaks it after some rows.
func breakLoad(t *testing.T, s *postgres.Store, rows int64) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := options(t)
	o.Progress = &storetest.Breaker{Left: rows, How: cancel}
	_, err := load.Run(ctx, s, o)
	require.ErrorIs(t, err, context.Canceled)
}

// follower checks what a Progress is told.
type follower struct {
	load.NoProgress
	mu         sync.Mutex
	running    map[string]bool
	most       int // that ran at once
	statements int
	copied     string // in words
	share      float64
	fell       bool
}

func (f *follower) Statement(_ schema.Phase, statement string, ended bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if ended {
		delete(f.running, statement)
		return
	}
	f.statements++
	f.running[statement] = true
	f.most = max(f.most, len(f.running))
}

func (f *follower) Tell(doing string, done, total int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if copied, copying := strings.CutPrefix(doing, "data, "); copying {
		f.copied = copied
	}
	share := float64(done) / float64(total)
	f.fell = f.fell || share < f.share
	f.share = share
}

// torn is a file that ends too early.
type torn struct{ io.WriterTo }

func (f torn) WriteTo(w io.Writer) (int64, error) {
	if _, err := f.WriterTo.WriteTo(w); err != nil {
		return 0, err
	}
	return 0, errors.New("the file ends too early")
}

func TestPartThatFailsIsNotThere(t *testing.T) {
	t.Parallel()
	target := pgtest.Database(t)
	s := open(t, target)
	o := options(t)
	d := o.Dataset.(ds2.Dataset)
	d.Rows = slices.Clone(d.Rows)
	d.Rows[3].Open, d.Rows[3].WriterTo = nil, torn{d.Rows[3].WriterTo}
	o.Dataset = d
	_, err := load.Run(t.Context(), s, o)
	assert.ErrorContains(t, err, "the file ends too early")
	o = options(t)
	o.Resume = true
	mustLoad(t, s, o)
	assert.Equal(
		t,
		size.Customers,
		pgtest.Value[int](t, s.DB(), "SELECT count(*) FROM customers"),
		"customers",
	)
}

func TestDatabaseIsMade(t *testing.T) {
	t.Parallel()
	target := pgtest.Server(t).URL("Awkward \"name\"; --")
	s := open(t, target)
	mustLoad(t, s, options(t))
	require.NoError(t, s.DB().Close())
	admin := open(t, pgtest.Server(t).URL("postgres"))
	pgtest.Exec(t, admin.DB(), `DROP DATABASE "Awkward ""name""; --" WITH (FORCE)`)
}

// A database of another seed knows it: it is reset to its own stock, and its load is not continued
// by other rows.
func TestSeed(t *testing.T) {
	t.Parallel()
	seeded := options(t)
	seeded.Dataset = storetest.Dataset(t, size, datagen.Options{PartRows: 100, Seed: 7})
	target := pgtest.Database(t)
	s := open(t, target)
	breakLoad(t, s, 2_000)
	seeded.Resume = true
	_, err := load.Run(t.Context(), s, seeded)
	assert.ErrorContains(t, err, `data_seed "", not "7"`, "resumed with other rows")
	seeded.Resume = false
	seeded.Drop = true
	mustLoad(t, s, seeded)
	info, err := store.ReadInfo(t.Context(), s.DB())
	require.NoError(t, err)
	_, seed, err := audit.Loaded(info)
	assert.True(t, err == nil && seed == 7, "seed %d, %v", seed, err)
	fresh := pgtest.Contents(t, target)
	pgtest.Exec(
		t,
		s.DB(),
		"UPDATE inventory SET sales = sales + 1, quan_in_stock = quan_in_stock - 1"+
			" WHERE prod_id < 100",
	)
	require.NoError(
		t,
		load.Reset(t.Context(), s, workload.Workloads{ds2.Name: ds2.Workload{}}, progress.Ignore),
	)
	assert.Equal(t, fresh, pgtest.Contents(t, target), "after the reset")
}

// TestAnyLoad: a load of any size, with any number of sessions, that is broken off anywhere and
// resumed makes the database that a load at once makes. Each case has a seed, which is in its name.
// DS2_TEST_LOADS asks for another number of cases, DS2_TEST_SEED for the first seed.
func TestAnyLoad(t *testing.T) {
	t.Parallel()
	cases, err := strconv.ParseUint(os.Getenv("DS2_TEST_LOADS"), 10, 32)
	if err != nil {
		cases = 4
		if testing.Short() {
			cases = 1
		}
	}
	first, err := strconv.ParseUint(os.Getenv("DS2_TEST_SEED"), 10, 64)
	if err != nil {
		first = 3 // a small load that is broken off several times
	}
	broken := 0
	for seed := first; seed < first+cases; seed++ {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			broken += anyLoad(t, rand.New(rand.NewPCG(seed, 27)))
		})
	}
	assert.True(t, broken != 0 || t.Failed(), "no load was broken off")
}

// mostMegabytes is how large the largest load is, and mostSessions how many its sessions are: more
// than its tables.
const mostMegabytes, mostSessions = 60, 12

// anyLoad says how often a load was broken off.
func anyLoad(t *testing.T, r *rand.Rand) (broken int) {
	megabytes := int(math.Pow(mostMegabytes+1, r.Float64())) // small ones as often as large ones
	size, err := datagen.ParseSize(fmt.Sprintf("%dMB", megabytes))
	require.NoError(t, err)
	o := optionsOf(t, size, 500<<r.IntN(8))
	sessions := func() int { return 1 + r.IntN(mostSessions) }
	said := fmt.Sprintf("%d MB in %d parts", megabytes, len(o.Dataset.Parts("postgres")))

	reference := pgtest.Database(t)
	all := new(storetest.Breaker)
	o.AtOnce = sessions()
	o.Progress = all
	mustLoad(t, open(t, reference), o)
	events := int(-all.Left) // rows and statements

	target := pgtest.Database(t)
	s := open(t, target)
	var report *load.Report
	for ; ; o.Resume = true {
		ctx, cancel := context.WithCancel(t.Context())
		after := 1 + r.IntN(events)
		if r.IntN(2) == 0 { // among the statements after the rows
			after = events - r.IntN(min(events, 30))
		}
		o.AtOnce = sessions()
		o.Progress = &storetest.Breaker{Left: int64(after), How: cancel}
		said += fmt.Sprintf(", %d sessions for %d of %d events", o.AtOnce, after, events)
		report, err = load.Run(ctx, s, o)
		cancel()
		if err == nil {
			break
		}
		require.ErrorIs(t, err, context.Canceled, said)
		broken++
		if info, unread := store.ReadInfo(t.Context(), s.DB()); unread == nil {
			require.Equal(
				t,
				store.Config,
				store.Classify(info.CheckReady()),
				"%s: it passes for ready",
				said,
			)
		}
	}
	t.Log(said)
	want := pgtest.Contents(t, reference)
	assert.Equal(t, want, pgtest.Contents(t, target), said)
	for _, table := range report.Tables {
		rows := strings.Fields(want[string(table.Table)])[0]
		assert.Equal(t, rows, fmt.Sprint(table.Rows), "%s: rows of %s", said, table.Table)
		assert.LessOrEqual(t, table.Before, table.Rows, "%s: %s", said, table.Table)
	}
	return broken
}
