// Package storetest loads databases for tests, and breaks loads and connections. Its own tests are
// what every engine must do: asked through the interface of package store, and checked with plain
// SQL over the tables.
package storetest

import (
	"cmp"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/load"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
	"ds2/internal/workload/ds2"
	"ds2/schema"
)

// Size is the dataset that the suite expects: small, with one popular product, the 10,000th.
var Size = datagen.Size{Customers: 2_000, OrdersPerMonth: 100, Products: 10_000}

// Dataset is that of a size.
func Dataset(t testing.TB, size datagen.Size, o datagen.Options) ds2.Dataset {
	t.Helper()
	words := datagen.DefaultWords()
	data, err := datagen.New(size, words, o)
	require.NoError(t, err)
	return ds2.Dataset{Size: size, Words: words.Sum(), Seed: o.Seed, Rows: data.Parts()}
}

// Loading is a load of a dataset of a size in parts of n rows; 0: of as many as others have.
func Loading(t testing.TB, size datagen.Size, n int) load.Options {
	t.Helper()
	return load.Options{
		Dataset: Dataset(t, size, datagen.Options{PartRows: n}),
		Version: "test",
		AtOnce:  4,
	}
}

// Load loads a dataset of a size into a database.
func Load(t testing.TB, s store.Database, size datagen.Size) {
	t.Helper()
	_, err := load.Run(t.Context(), s, Loading(t, size, 0))
	require.NoError(t, err)
}

// origins are the databases of the test's PostgreSQL that others are copies of, by their size.
var (
	origins       = map[datagen.Size]string{}
	makingOrigins sync.Mutex
)

// Loaded is a database of the test's own on the PostgreSQL of its package, with a dataset of a
// size: a copy of one that is loaded once.
func Loaded(t testing.TB, open store.Opener, size datagen.Size) store.Database {
	t.Helper()
	makingOrigins.Lock()
	defer makingOrigins.Unlock()
	if origins[size] == "" {
		name := fmt.Sprint("origin", len(origins))
		s := pgtest.Open(t, open, pgtest.Server(t).URL(name))
		Load(t, s, size)
		require.NoError(t, s.Close())
		origins[size] = name
	}
	return pgtest.Open(t, open, pgtest.Copy(t, origins[size]))
}

// Breaker follows a load and breaks it in a phase, or in any, when some rows were copied or
// statements have begun.
type Breaker struct {
	load.NoProgress
	Phase schema.Phase
	Left  int64 // rows and statements until the load is broken
	How   func()
}

func (b *Breaker) countDown(phase schema.Phase, n int64) {
	if phase != cmp.Or(b.Phase, phase) {
		return
	}
	if left := atomic.AddInt64(&b.Left, -n); left <= 0 && left+n > 0 {
		b.How()
	}
}

// Copied breaks the load in its phase of data, by rows.
func (b *Breaker) Copied(_ datagen.Table, rows, bytes int64) {
	if bytes > 0 || b.Phase == "" { // of one phase, not those of an earlier load
		b.countDown(schema.Data, rows)
	}
}

// Statement breaks the load in another phase, by statements.
func (b *Breaker) Statement(phase schema.Phase, _ string, ended bool) {
	if !ended {
		b.countDown(phase, 1)
	}
}
