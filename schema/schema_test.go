package schema

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// allParams renders every statement of an engine's scripts.
var allParams = Params{
	Database: "ds2", Customers: 20_000, OrdersPerMonth: 1_000, Products: 10_000,
	Layout: Layout{
		Login:    "ds2user",
		Password: "secret",
		FilesDir: "/mnt/data",
		Files: []ServerFile{
			{"us_cust.csv", "customers", 10_000},
			{"jan_orders.csv", "orders", 1_000},
		},
	},
}

func TestEveryPhaseOfEveryEngine(t *testing.T) {
	names := map[string]bool{}
	for _, engine := range Engines() {
		for _, phase := range slices.Concat(Phases, Unasked) {
			if phase == Data && !ReadsFiles(engine) {
				continue
			}
			statements, err := Statements(engine, phase, allParams)
			require.NoError(t, err)
			assert.NotEmpty(t, statements, "%s %s: no statement", engine, phase)
			script, _ := SQL(engine, phase, allParams)
			for i, s := range statements {
				assert.Contains(
					t,
					script,
					s.SQL,
					"%s %s: load would run what the script does not show",
					engine,
					phase,
				)
				name := engine + " " + s.Name
				if phase == Drop || phase == Reset {
					name += " of " + string(phase) // not parts of a load
				}
				assert.False(
					t,
					names[name],
					"%s stands twice: a resumed load would leave it out",
					name,
				)
				names[name] = true
				if i > 0 {
					assert.Contains(
						t,
						[]int{0, 1},
						s.Step-statements[i-1].Step,
						"%s: steps since the one before",
						name,
					)
				}
				assert.Equal(
					t,
					s.Name == "create database",
					s.Unless == UnlessExists,
					"%s: left out if it exists",
					name,
				)
				known := []Progress{
					"",
					IndexProgress,
					VacuumProgress,
					AnalyzeProgress,
					ScanProgress,
					FullTextProgress,
				}
				assert.Contains(t, known, s.Progress, name)
				conditions := []Condition{"", UnlessExists, UnlessUntouched, UnlessAnalyzed}
				assert.Contains(t, conditions, s.Unless, name)
			}
		}
	}
}

func TestStatementsThatCannotBeRead(t *testing.T) {
	for _, c := range []struct{ why, script, says string }{
		{"no header", "-- step: one\nSELECT 1;", `"SELECT 1;" is outside any statement`},
		{
			"a second statement of a batch that has ended",
			"-- name: one\nSELECT 1\nGO\nSELECT 2", `"SELECT 2" is outside any statement`,
		},
		{
			"a header alone", "-- name: one\n-- only a comment\n-- name: two\nSELECT 2;",
			`statement "one" has no SQL`,
		},
		{"no name", "-- name: ; table: orders\nSELECT 1;", "the name is empty"},
		{
			"a slip in a key", "-- name: one; tabel: orders\nSELECT 1;",
			`unknown field "tabel: orders"`,
		},
		{"rows that are no number", "-- name: one; rows: much\nSELECT 1;", `parsing "much"`},
		{
			"a value that means nothing", "-- name: one; transaction: yes\nSELECT 1;",
			`unknown field "transaction: yes"`,
		},
	} {
		_, err := parseScript(c.script)
		assert.ErrorContains(t, err, c.says, c.why)
	}
}

func TestPostgresPlacement(t *testing.T) {
	p := Params{Database: `d"s`, DataTablespace: "fast", IndexTablespace: `i"x`}
	for phase, want := range map[Phase]string{
		Database: `CREATE DATABASE "d""s" TEMPLATE`,
		Tables:   `WITH (fillfactor = 85, autovacuum_enabled = false) TABLESPACE "fast";`,
		Indexes:  `ON customers (username) TABLESPACE "i""x";`,
	} {
		script, err := SQL("postgres", phase, p)
		require.NoError(t, err)
		assert.Contains(t, script, want, "%s: %q is not in\n%s", phase, want, script)
	}
}

func TestUnknownEngineAndPhase(t *testing.T) {
	_, err := SQL("oracle", Tables, Params{})
	assert.ErrorContains(t, err, "postgres")
	_, err = SQL("postgres", "finish", Params{})
	assert.ErrorContains(t, err, "procedures")
}

// TestIdentitiesGoBackLast: where a reset on SQL Server is cut off, identities are not below the
// keys of rows that stay. On Babelfish DBCC CHECKIDENT holds whatever becomes of its transaction.
func TestIdentitiesGoBackLast(t *testing.T) {
	p := Params{Workload: "ds2", Database: "DS2", Customers: 1, OrdersPerMonth: 1}
	statements, err := Statements("sqlserver", Reset, p)
	require.NoError(t, err)
	found := 0
	for _, s := range statements {
		if strings.Contains(s.SQL, "CHECKIDENT") {
			found++
			assert.True(t, s.NoTransaction, "%s is in the transaction", s.Name)
		}
	}
	assert.Equal(t, 2, found, "identities that go back")
}

// What pg_database_size said after ds2 load on PostgreSQL 15, and the index on (username, password)
// that was added since: 41.4 and 40.6 bytes a customer.
func TestExpectedBytesOfPostgres(t *testing.T) {
	for _, c := range []struct {
		size     string
		params   Params
		measured int64
	}{
		{
			"S",
			Params{Customers: 20_000, OrdersPerMonth: 1_000, Products: 10_000},
			24_804_711 + 827_392,
		},
		{
			"M",
			Params{Customers: 2_000_000, OrdersPerMonth: 100_000, Products: 100_000},
			1_447_312_743 + 81_133_568,
		},
		{"20 mailboxes of 2 MB", Params{Workload: "mailbox", Bytes: 40 << 20}, 49_692_007},
	} {
		assert.InEpsilon(t, c.measured, ExpectedBytes("postgres", c.params), 0.1, "size %s", c.size)
	}
}
