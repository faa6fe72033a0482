// Package storetest is the conformance suite of package store: what every engine must do, asked
// through the interface and checked with plain SQL over the tables.
package storetest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/load"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
	"ds2/internal/workload/ds2/calls"
)

// Size is the dataset that the suite expects: small, with one popular product, the 10,000th.
var Size = datagen.Size{Customers: 2_000, OrdersPerMonth: 100, Products: 10_000}

// Engine is an engine under test.
type Engine struct {
	Open  store.Opener  // gives a store.Database
	Calls calls.Connect // those of DVD Store 2 on it

	// Database makes the URL of a database that is empty or does not exist yet, and is gone when
	// the test ends.
	Database func(t testing.TB) string

	// Kill is SQL that ends all connections to the database but the one it runs on.
	Kill string

	// Missing is the class of a statement on a table that does not exist: store.Config where it is
	// empty.
	Missing store.Class

	// Phrase says that the browses by full text look for the words in their order, next to each
	// other.
	Phrase bool
}

// Run runs the suite, or some of its tests.
func Run(t *testing.T, e Engine, only ...string) {
	target := e.Database(t)
	s := &suite{engine: e, target: target, store: pgtest.Open(t, e.Open, target)}
	_, err := load.Run(t.Context(), s.store, Loading(t, Size, smallParts))
	require.NoError(t, err)
	for _, test := range []struct {
		name string
		run  func(*suite, *testing.T)
	}{
		{"every row of the dataset", (*suite).testContents},
		{"login", (*suite).testLogin},
		{"new customer", (*suite).newCustomer},
		{"two new customers of one name", (*suite).newCustomerRace},
		{"browse by category", (*suite).browseByCategory},
		{"browse by actor and title", (*suite).browseByWords},
		{"prices", (*suite).testPrices},
		{"purchase", (*suite).testPurchase},
		{"purchase rolled back", (*suite).testRollback},
		{"purchase of a product twice", (*suite).testDuplicates},
		{"concurrent purchases", (*suite).testConcurrent},
		{"restock in concurrent purchases", (*suite).concurrentRestock},
		{"restock of every row", (*suite).testRestock},
		{"cancelled context", (*suite).testCancelled},
		{"killed connection", (*suite).testKilled},
		{"work in doubt", (*suite).inDoubt},
		{"sales and stock after all that", (*suite).testBooks},
		{"reset", (*suite).testReset},
		{"what runs ask", (*suite).testQuestions},
		{"steps of a load", (*suite).testSteps},
		{"load that is broken and resumed", (*suite).testResume},
		{"lock", (*suite).testLock},
	} {
		if len(only) == 0 || slices.Contains(only, test.name) {
			t.Run(test.name, func(t *testing.T) { test.run(s, t) })
		}
	}
}

type suite struct {
	engine Engine
	target string
	store  store.Database
}

// openSession opens a session that is closed when the test ends.
func (s *suite) openSession(t *testing.T) calls.Session {
	t.Helper()
	session, err := s.engine.Calls(t.Context(), s.store)
	require.NoError(t, err)
	t.Cleanup(func() { session.Close(context.Background()) })
	return session
}

// queryNumber is the one number that a query gives.
func (s *suite) queryNumber(t *testing.T, query string, args ...any) int64 {
	t.Helper()
	return pgtest.Value[int64](t, s.store.DB(), fmt.Sprintf(query, args...))
}

// countRows is how many rows of a table there are; the table may be followed by WHERE.
func (s *suite) countRows(t *testing.T, table string, args ...any) int64 {
	t.Helper()
	return s.queryNumber(t, "SELECT COUNT(*) FROM "+table, args...)
}

func (s *suite) execStatement(t *testing.T, statement string, args ...any) {
	t.Helper()
	pgtest.Exec(t, s.store.DB(), fmt.Sprintf(statement, args...))
}
