package storetest

import (
	"cmp"
	"context"
	"fmt"
	"testing"

	"ds2/datagen"
	"ds2/internal/load"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
	"ds2/schema"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// smallParts are so small that several go into each table of the suite.
const smallParts = 500

// testSteps checks that what a load does in a step is there whole and noted, or not at all.
func (s *suite) testSteps(t *testing.T) {
	l := pgtest.Open(t, s.engine.open, s.engine.database(t))
	fresh := &suite{engine: s.engine, store: l}
	params := schema.Params{Database: l.Name(), Customers: 100, OrdersPerMonth: 10, Products: 100}
	_, err := l.Adapt(t.Context(), &params)
	require.NoError(t, err)
	statements, err := schema.Statements(l.Engine(), schema.Database, params)
	require.NoError(t, err)
	for range 2 { // once where there is none, once where there is one
		require.NoError(t, l.CreateDatabase(t.Context(), statements))
	}
	statements, err = schema.Statements(l.Engine(), schema.Tables, params)
	require.NoError(t, err)
	for _, statement := range statements {
		pgtest.Exec(t, l.DB(), statement.SQL)
	}
	holds := func(what, table string, rows, notes int64) {
		t.Helper()
		assert.EqualValues(t, rows, fresh.countRows(t, "%s", table), what+": rows")
		assert.EqualValues(
			t,
			notes,
			fresh.countRows(t, "ds2_steps WHERE name = '%s'", what),
			what+": notes",
		)
	}
	const rows = 20_000
	// copied copies rows of CUST_HIST, which end after some or, where a context is to be ended
	// then, never.
	copied := func(ctx context.Context, step string, left int, cancel func()) (int64, error) {
		next := func() []datagen.Value {
			if left == 0 && cancel == nil {
				return nil
			}
			if left == 0 {
				cancel()
			}
			left--
			return []datagen.Value{{Int: 1}, {Int: 2}, {Int: 3}}
		}
		part := datagen.Part{Table: datagen.CustHist, Rows: rows, Open: func() datagen.Rows {
			return next
		}}
		return l.Load(ctx, store.Copy{
			Step: step, Table: "cust_hist", Parts: []datagen.Part{part}, Told: func(int64) {},
		})
	}
	n, err := copied(t.Context(), "copied", rows, nil)
	assert.NoError(t, err, "a copy")
	assert.EqualValues(t, rows, n, "rows of a copy")
	holds("copied", "cust_hist", rows, 1)
	noted := fresh.queryNumber(t, "SELECT copied FROM ds2_steps WHERE name = 'copied'")
	assert.EqualValues(t, rows, noted, "rows noted of a copy")

	// What a copy is doing when its context ends is a matter of luck: many ends, of which each is
	// reported as such.
	for i := range 12 {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := copied(ctx, "cancelled", 1+i*8000, cancel)
		assert.ErrorIs(t, err, context.Canceled, "a copy that is cancelled after %d rows", i*8000)
		cancel()
	}
	holds("cancelled", "cust_hist", rows, 0)

	const row1 = "INSERT INTO reorder (prod_id, date_low, quan_low) VALUES (1, '2009-01-01', 1)"
	insert := schema.Statement{Name: "inserted", SQL: row1}
	assert.NoError(t, l.ExecStep(t.Context(), insert), "a statement")
	holds("inserted", "reorder", 1, 1)
	assert.Error(
		t,
		l.ExecStep(t.Context(), insert),
		"a step was done twice",
	) // what was noted cannot be noted again
	holds("inserted", "reorder", 1, 1)
	err = l.ExecStep(t.Context(), schema.Statement{Name: "refused", SQL: "DELETE FROM nosuch"})
	assert.Equal(
		t,
		cmp.Or(s.engine.missing, store.Config),
		store.Classify(err),
		"a table that does not exist: %v",
		err,
	)
	holds("refused", "reorder", 1, 0)
	alone := schema.Statement{Name: "alone", NoTransaction: true, SQL: "DELETE FROM reorder"}
	assert.NoError(t, l.ExecStep(t.Context(), alone), "a statement outside of transactions")
	holds("alone", "reorder", 0, 1)

	if engine, ok := l.(load.StatementProgress); ok {
		shares, err := engine.Progress(t.Context())
		assert.True(
			t,
			err == nil && len(shares) == 0,
			"progress of no statement: %v, %v",
			shares,
			err,
		)
	}
}

// testResume breaks a load at several places and resumes it: what comes of it is what a load at
// once gives.
func (s *suite) testResume(t *testing.T) {
	l := pgtest.Open(t, s.engine.open, s.engine.database(t))
	o := Loading(t, Size, smallParts)
	for _, at := range []struct {
		phase schema.Phase
		after int64
	}{
		{schema.Data, 1},
		{schema.Data, 2000},
		{schema.Indexes, 1},
		{schema.Indexes, 3},
		{schema.Procedures, 1},
		{schema.Procedures, 3},
	} {
		place := fmt.Sprintf("broken after %d of phase %s", at.after, at.phase)
		ctx, cancel := context.WithCancel(t.Context())
		o.Resume = true
		o.Progress = &Breaker{Phase: at.phase, Left: at.after, How: cancel}
		_, err := load.Run(ctx, l, o)
		cancel()
		require.ErrorIs(t, err, context.Canceled, "load %s", place)
		info, err := store.ReadInfo(t.Context(), l.DB())
		require.NoError(t, err)
		assert.Equal(
			t,
			store.Config,
			store.Classify(info.CheckReady()),
			"%s, the database counts as ready",
			place,
		)
	}
	o.Progress = nil
	_, err := load.Run(t.Context(), l, o)
	require.NoError(t, err)
	(&suite{engine: s.engine, store: l}).testContents(t)
	_, err = load.Run(t.Context(), l, o)
	assert.ErrorContains(t, err, "nothing to resume")
}
