// Package storetest is the conformance suite of package store: what every engine must do, asked through the interface
// and checked with plain SQL over the tables.
package storetest

import (
	"context"
	"net/url"
	"testing"

	"ds2/datagen"
	"ds2/internal/store"
	"ds2/internal/workload/ds2/calls"
)

// Size is the dataset that the suite expects: small, with one popular product, the 10,000th.
var Size = datagen.Size{Customers: 2_000, OrdersPerMonth: 100, Products: 10_000}

// Engine is an engine under test.
type Engine struct {
	Open  store.Opener // gives a store.Store
	Calls calls.Engine // those of DVD Store 2 on it

	// Database makes the URL of a database that is empty or does not exist yet, and is gone when the test ends.
	Database func(t testing.TB) string

	// Kill is SQL that ends all connections to the database but the one it runs on.
	Kill string

	// Missing is the class of a statement on a table that does not exist: store.Config where it is empty.
	Missing store.Class

	// Phrase says that the browses by full text look for the words in their order, next to each other.
	Phrase bool
}

// Run runs the suite.
func Run(t *testing.T, e Engine) {
	target := e.Database(t)
	s := &suite{engine: e, target: target, store: e.loaded(t, target)}
	for _, test := range []struct {
		name string
		run  func(*suite, *testing.T)
	}{
		{"every row of the dataset", (*suite).contents},
		{"login", (*suite).login},
		{"new customer", (*suite).newCustomer},
		{"two new customers of one name", (*suite).newCustomerRace},
		{"browse by category", (*suite).browseByCategory},
		{"browse by actor and title", (*suite).browseByWords},
		{"prices", (*suite).prices},
		{"purchase", (*suite).purchase},
		{"purchase rolled back", (*suite).rollback},
		{"purchase of a product twice", (*suite).duplicates},
		{"concurrent purchases", (*suite).concurrent},
		{"restock in concurrent purchases", (*suite).concurrentRestock},
		{"restock of every row", (*suite).restock},
		{"cancelled context", (*suite).cancelled},
		{"killed connection", (*suite).killed},
		{"work in doubt", (*suite).inDoubt},
		{"sales and stock after all that", (*suite).books},
		{"reset", (*suite).reset},
		{"checkpoint", (*suite).checkpoint},
		{"steps of a load", (*suite).steps},
		{"load that is broken and resumed", (*suite).resume},
		{"lock", (*suite).lock},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(s, t) })
	}
}

type suite struct {
	engine Engine
	target string
	store  store.Store
}

// open is a store of a target, closed when the test ends.
func (e Engine) open(t *testing.T, target string) store.Store {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Open(u)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// connect opens a session that is closed when the test ends.
func (s *suite) connect(t *testing.T) calls.Session {
	t.Helper()
	session, err := s.engine.Calls.Connect(t.Context(), s.store)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close(context.Background()) })
	return session
}

// one is the one number that a query gives.
func (s *suite) one(t *testing.T, query string) int64 {
	t.Helper()
	var n int64
	if err := s.store.DB().QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// texts are the values of a query's one column.
func (s *suite) texts(t *testing.T, query string) []string {
	t.Helper()
	rows, err := s.store.DB().QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var texts []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return texts
}

func (s *suite) exec(t *testing.T, statement string) {
	t.Helper()
	if _, err := s.store.DB().ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
