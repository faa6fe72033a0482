package ds2_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
	"ds2/internal/storetest"
	"ds2/internal/workload/ds2"
	"ds2/internal/workload/ds2/calls"
	"ds2/internal/workload/ds2/loaded"
	ds2postgres "ds2/internal/workload/ds2/postgres"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// TestExamine: what DVD Store did not load whole is not adopted. Whole is size S in the small: TestAdopt of cmd/ds2 has
// one of DVD Store's own scripts.
func TestExamine(t *testing.T) {
	t.Parallel()
	for why, change := range map[string]string{
		"":                                   "SELECT 1",
		"its tables hold no data":            "TRUNCATE customers CASCADE",
		"it has 1199 orders of 2009":         "DELETE FROM orders WHERE orderid = 1200",
		"9999 rows in inventory":             "DELETE FROM inventory WHERE prod_id = 1",
		"its size is not one of DVD Store":   "DELETE FROM customers WHERE customerid > 1",
		"titles and actors are not two word": "UPDATE products SET title = 'ONE', actor = 'ONE'",
	} {
		s := storetest.Loaded(t, postgres.Open, storetest.Size)
		pgtest.Exec(t, s.DB(), change)
		a, err := ds2.Examine(t.Context(), s, datagen.DefaultWords())
		if why != "" {
			assert.ErrorContains(t, err, why)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, ds2.Dataset{Size: storetest.Size, Words: datagen.DefaultWords().Sum()}, a.Dataset)
		assert.False(t, a.OtherRows)
	}
}

// TestOtherRows: a database whose rows DVD Store's programs on another system made is adopted and driven, but what a
// reset would have to make is not known.
func TestOtherRows(t *testing.T) {
	t.Parallel()
	s := storetest.Loaded(t, postgres.Open, storetest.Size)
	pgtest.Exec(t, s.DB(), "UPDATE customers SET firstname = 'OTHER' WHERE customerid = 1")
	a, err := ds2.Examine(t.Context(), s, datagen.DefaultWords())
	require.NoError(t, err)
	require.True(t, a.OtherRows)
	info := a.Info()
	_, err = ds2.Workload{}.PlanReset(t.Context(), s, info)
	assert.ErrorContains(t, err, "does not know its first stock")
	_, err = ds2.Workload{}.PlanReset(t.Context(), s, store.Info{})
	assert.ErrorContains(t, err, "not a number")

	look := func(engines calls.Engines) error {
		words := ds2.Config{Words: datagen.DefaultWords()}
		_, err := ds2.Look([]store.Database{s}, []store.Info{info}, engines, nil, words)
		return err
	}
	engines := calls.Engines{"postgres": ds2postgres.Connect}
	assert.NoError(t, look(engines))
	assert.ErrorContains(t, look(nil), "no calls of DVD Store 2 on postgres")
	info[loaded.WordLists] = "[titles]"
	assert.ErrorContains(t, look(engines), "read table ds2_info")
	delete(info, loaded.WordLists)
	info[loaded.Words] = "others"
	assert.ErrorIs(t, look(engines), ds2.ErrWords)
}
