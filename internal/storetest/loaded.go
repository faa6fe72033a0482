package storetest

import (
	"fmt"
	"net/url"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/load"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
	"ds2/internal/workload/ds2"
)

// Load loads a dataset of a size into a database.
func Load(t testing.TB, s store.Database, size datagen.Size) {
	t.Helper()
	words := datagen.DefaultWords()
	data, err := datagen.New(size, words, datagen.Options{})
	require.NoError(t, err)
	dataset := ds2.Dataset{Size: size, Words: words.Sum(), Rows: data.Parts()}
	_, err = load.Run(t.Context(), s, load.Options{Dataset: dataset, Version: "test", AtOnce: 2})
	require.NoError(t, err)
}

// origins are the databases of the test's PostgreSQL that others are copies of, by their size.
var origins struct {
	sync.Mutex
	names map[datagen.Size]string
}

// Loaded is a database of the test's own on the PostgreSQL of its package, with a dataset of a size: a copy of one that is loaded once.
func Loaded(t testing.TB, open store.Opener, size datagen.Size) store.Database {
	t.Helper()
	origins.Lock()
	defer origins.Unlock()
	if origins.names == nil {
		origins.names = map[datagen.Size]string{}
	}
	if origins.names[size] == "" {
		name := fmt.Sprint("origin", len(origins.names))
		target, err := url.Parse(pgtest.Server(t).URL(name))
		require.NoError(t, err)
		s, err := open(target)
		require.NoError(t, err)
		Load(t, s, size)
		require.NoError(t, s.Close())
		origins.names[size] = name
	}
	return pgtest.Open(t, open, pgtest.Copy(t, origins.names[size]))
}
