package postgres_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
	"ds2/internal/topology"
)

// TestOneServer: databases of one server are known to be, also where their time zones differ.
func TestOneServer(t *testing.T) {
	var all []store.Database
	for _, zone := range []string{"UTC", "Asia/Kathmandu"} {
		address := pgtest.Database(t)
		pgtest.Exec(
			t,
			open(t, address).DB(),
			"DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET timezone = "+
				`"`+zone+`"`+"', current_database()); END $$",
		)
		all = append(all, open(t, address))
	}
	servers, err := topology.Instances(t.Context(), all)
	require.NoError(t, err)
	assert.Len(t, servers, 1)
}

// TestOneHost: of several servers in a URL any may answer, now or after a lost connection.
func TestOneHost(t *testing.T) {
	_, err := postgres.Open(&url.URL{Scheme: "postgres", Host: "a,b:5433", Path: "/ds2"})
	assert.ErrorContains(t, err, "names several servers, a:5432 and b:5433")
	open(t, "postgres://a/ds2?sslmode=prefer") // which may try one server twice
}

// TestBuffers: the extension counts the buffers in whatever schema and version it is; else it is
// said why they are an estimate.
func TestBuffers(t *testing.T) {
	address := pgtest.Database(t)
	s := open(t, address)
	b, err := s.Buffers(t.Context())
	require.NoError(t, err)
	assert.Contains(t, b.Estimated, "no extension pg_buffercache")
	const available = "SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_buffercache'"
	if pgtest.Value[int](t, s.DB(), available) == 0 {
		t.Skip("this PostgreSQL comes without pg_buffercache")
	}
	const version = "1.3" // of PostgreSQL 10 to 15, which pg_upgrade leaves as it is
	pgtest.Exec(
		t,
		s.DB(),
		`CREATE SCHEMA "Ext"`,
		`CREATE EXTENSION pg_buffercache SCHEMA "Ext" VERSION '`+version+"'",
	)
	b, err = s.Buffers(t.Context())
	require.NoError(t, err)
	assert.Empty(t, b.Estimated)
	assert.Positive(t, b.Share)
	pgtest.Exec(t, s.DB(), "CREATE ROLE stranger LOGIN PASSWORD 'x'")
	t.Cleanup(func() { pgtest.Exec(t, s.DB(), "DROP ROLE stranger") })
	b, err = open(t, pgtest.As(t, address, "stranger", "x")).Buffers(t.Context())
	require.NoError(t, err)
	assert.Contains(t, b.Estimated, `pg_buffercache 1.3 in schema "Ext": `)
}

// TestObstaclesThatAreHidden: what the user may not ask for is not taken for absent.
func TestObstaclesThatAreHidden(t *testing.T) {
	address := pgtest.Database(t)
	s := open(t, address)
	pgtest.Exec(
		t,
		s.DB(),
		"CREATE ROLE blind LOGIN PASSWORD 'x'",
		"REVOKE SELECT ON pg_prepared_xacts FROM PUBLIC",
	)
	t.Cleanup(func() { pgtest.Exec(t, s.DB(), "DROP ROLE blind") })
	e, err := open(t, pgtest.As(t, address, "blind", "x")).Examine(t.Context(), 1)
	require.NoError(t, err)
	hidden := map[store.FindingKind]string{}
	for _, found := range e.Findings {
		if found.Unasked != nil {
			hidden[found.Kind] = found.Unasked.Error()
		}
	}
	assert.Contains(t, hidden[store.PreparedTransactions], "ask for it: permission denied")
	assert.Len(t, hidden, 1)
}
