package ds2

import (
	"slices"

	"ds2/datagen"
	"ds2/internal/store"
	"ds2/internal/workload"
	"ds2/internal/workload/ds2/audit"
	"ds2/schema"
)

// PlanReset removes the customers, orders and reorders of runs, and fills INVENTORY again.
func (Workload) PlanReset(engine string, info store.Info) (r workload.Reset, err error) {
	size, seed, err := audit.Loaded(info)
	if err != nil {
		return r, err
	}
	words := datagen.DefaultWords() // INVENTORY has none in it
	data, err := datagen.New(size, words, datagen.Options{Seed: seed})
	if err != nil {
		return r, err
	}
	others := func(p datagen.Part) bool { return p.Table != datagen.Inventory }
	r.Rows = slices.DeleteFunc(data.Parts(), others)
	params := Dataset{Size: size}.Params(schema.Params{})
	r.Statements, err = schema.Statements(engine, schema.Reset, params)
	return r, err
}
