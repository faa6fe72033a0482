package ds2_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"ds2/datagen"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
	"ds2/internal/storetest"
	"ds2/internal/workload/ds2"
	"ds2/internal/workload/ds2/audit"
	"ds2/internal/workload/ds2/calls"
	ds2postgres "ds2/internal/workload/ds2/postgres"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// TestLook refuses what cannot be driven or reset.
func TestLook(t *testing.T) {
	t.Parallel()
	s := storetest.Loaded(t, postgres.Open, storetest.Size)
	info := ds2.Dataset{Size: storetest.Size, Words: datagen.DefaultWords().Sum()}.Info()
	_, err := ds2.Workload{}.PlanReset(s.Engine(), store.Info{})
	assert.ErrorContains(t, err, "not a number")

	look := func(engines calls.Engines) error {
		words := ds2.Config{Words: datagen.DefaultWords()}
		_, err := ds2.Look([]store.Database{s}, []store.Info{info}, engines, nil, words)
		return err
	}
	engines := calls.Engines{"postgres": ds2postgres.Connect}
	assert.NoError(t, look(engines))
	assert.ErrorContains(t, look(nil), "no calls of DVD Store 2 on postgres")
	info[audit.InfoWords] = "others"
	assert.ErrorContains(t, look(engines), "by --words")
}
