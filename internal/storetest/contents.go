package storetest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/load"
	"ds2/internal/progress"
	"ds2/internal/workload"
	"ds2/internal/workload/ds2"
	"ds2/internal/workload/ds2/calls"
)

// dataset is what the database was loaded with.
func dataset(t *testing.T) *datagen.Dataset {
	t.Helper()
	data, err := datagen.New(Size, datagen.DefaultWords(), datagen.Options{})
	require.NoError(t, err)
	return data
}

// contents checks that the tables hold the dataset, row by row, and nothing else.
func (s *suite) contents(t *testing.T) {
	want := map[datagen.Table][]string{}
	for _, part := range dataset(t).Parts() {
		var csv bytes.Buffer
		if _, err := part.WriteTo(&csv); err != nil {
			t.Fatal(err)
		}
		// Prices below 10.00 have a blank before them, which is no part of the value.
		lines := strings.ReplaceAll(strings.TrimSpace(csv.String()), ", ", ",")
		want[part.Table] = append(want[part.Table], strings.Split(lines, "\n")...)
	}
	for table, rows := range want {
		got := s.csv(t, "SELECT * FROM "+string(table))
		slices.Sort(got)
		slices.Sort(rows)
		if i := firstDifference(got, rows); i >= 0 {
			t.Errorf("%s: %d rows, want %d; the first that differs is %q, want %q", table, len(got), len(rows), at(got, i), at(rows, i))
		}
	}
	equal(t, "REORDER rows", s.one(t, "SELECT COUNT(*) FROM reorder"), 0)
	equal(t, "categories", s.one(t, "SELECT COUNT(*) FROM categories"), 16)
}

// csv reads rows as the dataset writes them.
func (s *suite) csv(t *testing.T, query string) []string {
	t.Helper()
	rows, err := s.store.DB().QueryContext(t.Context(), query)
	require.NoError(t, err, query)
	defer rows.Close()
	types, err := rows.ColumnTypes()
	require.NoError(t, err)
	values, into := make([]any, len(types)), make([]any, len(types))
	for i := range values {
		into[i] = &values[i]
	}
	var lines []string
	for rows.Next() {
		require.NoError(t, rows.Scan(into...))
		fields := make([]string, len(values))
		for i, v := range values {
			fields[i] = field(v)
			switch {
			case types[i].DatabaseTypeName() == "MONEY": // has four places
				fields[i] = strings.TrimSuffix(fields[i], "00")
			case strings.EqualFold(types[i].Name(), "zip"): // a number on SQL Server
				fields[i] = fmt.Sprintf("%05s", fields[i])
			}
		}
		lines = append(lines, strings.Join(fields, ","))
	}
	require.NoError(t, rows.Err())
	return lines
}

func field(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case []byte:
		return string(v)
	case time.Time:
		return v.Format("2006/01/02")
	}
	return fmt.Sprint(value)
}

// firstDifference is the first index at which two lists differ, -1 where they do not.
func firstDifference(a, b []string) int {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return i
		}
	}
	return -1
}

func at(rows []string, i int) string {
	if i < len(rows) {
		return rows[i]
	}
	return "no row"
}

// reset takes the database back after all that was done to it, where the engine can: it comes last.
func (s *suite) reset(t *testing.T) {
	if s.store.Can().Reset == nil {
		t.Skip(s.store.Engine() + " cannot be reset")
	}
	require.NoError(t, load.Reset(t.Context(), s.store, workload.Workloads{ds2.Name: ds2.Workload{}}, progress.Ignore))
	s.contents(t)

	// The next keys are those after the dataset's, and the trigger is at work again.
	session := s.connect(t)
	customerID, err := session.NewCustomer(t.Context(), customer("newuser1"))
	require.NoError(t, err)
	equal(t, "the first new customer", customerID, int64(Size.Customers+1))
	s.stock(t, 3, 1)
	orderID, err := session.Purchase(t.Context(), order(customerID, calls.Item{Product: 1, Quantity: 1}))
	require.NoError(t, err)
	equal(t, "the first order", orderID, int64(datagen.Months*Size.OrdersPerMonth+1))
	equal(t, "REORDER rows of what it left", s.one(t, "SELECT COUNT(*) FROM reorder WHERE prod_id = 1 AND quan_low = 2"), 1)
}

// checkpoint has the engine write what the suite changed, where it can.
func (s *suite) checkpoint(t *testing.T) {
	checkpoint := s.store.Can().Checkpoint
	if checkpoint == nil {
		t.Skip(s.store.Engine() + " makes no checkpoints when asked to")
	}
	assert.NoError(t, checkpoint(t.Context()))
}
