package books

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/fuzztest"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/store/postgres"
	"ds2/internal/workload"
	"ds2/internal/workload/ds2/calls"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// noted is a journal in memory.
type noted []byte

func (n *noted) Note(entry []byte) { *n = append(*n, entry...) }

func TestEntries(t *testing.T) {
	var n noted
	b := New(&n)
	items := []calls.Item{
		{Product: 7, Quantity: 2},
		{Product: 9, Quantity: 1},
		{Product: 7, Quantity: 1},
	}
	p := calls.Purchase{CustomerID: 3, Items: items, Total: 1099}
	b.Bought(1, 12001, &p)
	b.InDoubt(0, &p)
	b.Registered(1, 7, []byte("user7"))
	require.True(
		t,
		len(n) == 3*Size && Size == 38,
		"%d bytes for three entries of %d",
		len(n),
		Size,
	)
	all, err := readEntries(n, 1)
	require.NoError(t, err)
	assert.Equal(t, []entry{
		{Order: 12001, Customer: 3, Total: 1099, Lines: 3, Target: 1},
		{Kind: registered, Target: 1, Customer: 7, Name: nameSum([]byte("user7"))},
	}, all)
	doubtful, err := readEntries(n, 0)
	require.NoError(t, err)
	assert.Len(t, doubtful, 1, "of target 0")
}

func FuzzEntries(f *testing.F) {
	fuzztest.Run(f, func(t testing.TB, text []byte) {
		all, err := readEntries(text, 0)
		assert.True(
			t,
			err != nil || len(all)*Size <= len(text),
			"%d entries of %d bytes",
			len(all),
			len(text),
		)
	}, make([]byte, 2*Size))
}

// TestEndlessRows has a database whose orders or customers have no end when a journal is compared
// with them: they are given up, by their names.
func TestEndlessRows(t *testing.T) {
	s := pgtest.Open(t, postgres.Open, pgtest.Database(t))
	want := func(err error, all ...string) {
		t.Helper()
		for _, text := range append(all, s.Label()) {
			assert.ErrorContains(t, err, text)
		}
	}
	pgtest.Exec(t, s.DB(), `
		CREATE TABLE one (id bigint PRIMARY KEY);
		INSERT INTO one VALUES (1);
		CREATE TABLE orderlines (orderid bigint PRIMARY KEY);
		CREATE VIEW orders AS
			SELECT id AS orderid, 1 AS customerid, 9.99 AS totalamount, generate_series(1, 1e15) FROM one ORDER BY id;
		CREATE VIEW customers AS SELECT generate_series(1, 1e15)::bigint AS customerid, 'user' AS username`)
	check := func() error {
		_, err := Check(t.Context(), s, make([]byte, 2*Size), workload.Noted{})
		return err
	}
	want(check(), "read the orders", "more than 1000200 rows")
	pgtest.Exec(t, s.DB(), "DROP VIEW orders",
		"CREATE TABLE orders (orderid bigint PRIMARY KEY, customerid bigint, totalamount numeric)")
	want(check(), "read the customers", "more than 1000200 rows")
	assert.NoError(
		t,
		s.DB().QueryRowContext(t.Context(), "SELECT id FROM one").Err(),
		"the next query",
	)
	pgtest.Exec(
		t,
		s.DB(),
		"DROP VIEW customers; CREATE TABLE customers (customerid bigint PRIMARY KEY, username text)",
	)

	// Unacknowledged orders are counted all, and not all kept.
	pgtest.Exec(t, s.DB(), "INSERT INTO orders SELECT n, 1, 9.99 FROM generate_series(1, 30001) n",
		"UPDATE orders SET customerid = 2 WHERE orderid = 30000",
		"UPDATE orders SET customerid = NULL WHERE orderid = 29000") // its customer was deleted
	var j noted
	New(&j).InDoubt(0, &calls.Purchase{CustomerID: 2, Total: 999})
	checks, err := Check(t.Context(), s, j, workload.Noted{})
	require.NoError(t, err)
	assert.True(
		t,
		!checks[2].Passed && checks[2].Expected == "0 to 1" && checks[2].Found == "30001",
		"%+v",
		checks[2],
	)
	assert.False(t, checks[3].Passed)
	assert.Contains(t, checks[3].Name, "(1 of 1 are)")
	assert.Equal(t, "30000, of them first 10000: orders 1-10000", checks[3].Found)

	// One that a killed ds2 could not note may be among them, and no more.
	for untold, passes := range map[int]bool{29999: false, 30000: true} {
		checks, err = Check(t.Context(), s, j, workload.Noted{Untold: untold})
		require.NoError(t, err)
		assert.Equal(
			t,
			[]bool{passes, passes},
			[]bool{checks[2].Passed, checks[3].Passed},
			"%+v",
			checks[2:],
		)
	}
}
