package storetest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/load"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
	"ds2/internal/workload/ds2"
)

// parts are those of a dataset of a size, with n rows each; 0: as many as others have.
func parts(t testing.TB, size datagen.Size, rows int) []datagen.Part {
	t.Helper()
	data, err := datagen.New(size, datagen.DefaultWords(), datagen.Options{PartRows: rows})
	require.NoError(t, err)
	return data.Parts()
}

// smallParts are so small that several go into each table of the suite.
const smallParts = 500

// Loading is a load of such parts.
func Loading(t testing.TB, size datagen.Size, rows int) load.Options {
	t.Helper()
	dataset := ds2.Dataset{Size: size, Words: datagen.DefaultWords().Sum(), Rows: parts(t, size, rows)}
	return load.Options{Dataset: dataset, Version: "test", AtOnce: 4}
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

// Loaded is a database of the test's own on the PostgreSQL of its package, with a dataset of a size: a copy of one that
// is loaded once.
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
