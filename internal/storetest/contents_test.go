package storetest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/load"
	"ds2/internal/preflight"
	"ds2/internal/progress"
	"ds2/internal/workload"
	"ds2/internal/workload/ds2"
	"ds2/internal/workload/ds2/audit"
	"ds2/internal/workload/ds2/calls"
)

// testContents checks that the tables hold the dataset, row by row, and nothing else.
func (s *suite) testContents(t *testing.T) {
	want := map[datagen.Table][]string{}
	for _, part := range Dataset(t, Size, datagen.Options{}).Rows {
		var csv bytes.Buffer
		_, err := part.WriteTo(&csv)
		require.NoError(t, err)
		// Prices below 10.00 have a blank before them, which is no part of the value.
		lines := strings.ReplaceAll(strings.TrimSpace(csv.String()), ", ", ",")
		want[part.Table] = append(want[part.Table], strings.Split(lines, "\n")...)
	}
	for table, rows := range want {
		got := s.readCSV(t, "SELECT * FROM %s", table)
		slices.Sort(got)
		slices.Sort(rows)
		if !slices.Equal(got, rows) {
			missing := slices.DeleteFunc(rows, func(row string) bool {
				return slices.Contains(got, row)
			})
			t.Errorf(
				"%s: %d rows, of which these are missing, if any: %.1000q",
				table,
				len(got),
				missing,
			)
		}
	}
	assert.Zero(t, s.countRows(t, "reorder"), "REORDER rows")
	assert.EqualValues(t, 16, s.countRows(t, "categories"), "categories")
}

// readCSV reads rows as the dataset writes them.
func (s *suite) readCSV(t *testing.T, query string, args ...any) (lines []string) {
	t.Helper()
	return Rows(t, s.store.DB(), "", fmt.Sprintf(query, args...))
}

// testReset takes the database back after all that was done to it, where the engine can: it comes
// last.
func (s *suite) testReset(t *testing.T) {
	if _, ok := s.store.(load.Resetter); !ok {
		t.Skip(s.store.Engine() + " cannot be reset")
	}
	require.NoError(
		t,
		load.Reset(
			t.Context(),
			s.store,
			workload.Workloads{ds2.Name: ds2.Workload{}},
			progress.Ignore,
		),
	)
	s.testContents(t)

	// The next keys are those after the dataset's, and the trigger is at work again.
	session := s.openSession(t)
	customerID, err := session.NewCustomer(t.Context(), newCustomer("newuser1"))
	require.NoError(t, err)
	assert.EqualValues(t, Size.Customers+1, customerID, "the first new customer")
	s.setStock(t, 3, 1)
	orderID, err := session.Purchase(
		t.Context(),
		newPurchase(customerID, calls.Item{Product: 1, Quantity: 1}),
	)
	require.NoError(t, err)
	assert.EqualValues(t, datagen.Months*Size.OrdersPerMonth+1, orderID, "the first order")
	assert.EqualValues(
		t,
		1,
		s.countRows(t, "reorder WHERE prod_id = 1 AND quan_low = 2"),
		"REORDER rows of what it left",
	)
}

// testQuestions asks and does what runs ask of the server and its tables, as their owner.
func (s *suite) testQuestions(t *testing.T) {
	if engine, ok := s.store.(audit.Placer); ok {
		placed, err := engine.Placement(t.Context())
		assert.NoError(t, err)
		assert.NotEmpty(t, placed)
	}
	if engine, ok := s.store.(preflight.Examiner); ok {
		found, err := engine.Examine(t.Context(), 1)
		assert.NoError(t, err)
		for _, f := range found.Findings {
			assert.NoError(t, f.Unasked, f.Kind)
		}
	}
	if engine, ok := s.store.(interface{ Checkpoint(context.Context) error }); ok {
		assert.NoError(t, engine.Checkpoint(t.Context()))
	}
}
