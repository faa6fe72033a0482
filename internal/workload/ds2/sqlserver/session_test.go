package sqlserver

import (
	"bytes"
	"context"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
	"ds2/internal/store/sqlserver"
	"ds2/internal/tdstest"
	"ds2/internal/workload/ds2/calls"
)

// recorded are the server's answers to the operations of an order, as Babelfish 4.4.0 gave them;
// the operation is known by the procedure's name in the request.
func recorded(b testing.TB) func(request []byte) []byte {
	b.Helper()
	var names, answers [][]byte
	for op, operation := range calls.Operations {
		answer, err := os.ReadFile(filepath.Join("testdata", "exchange", operation.Name+".bin"))
		require.NoError(b, err)
		require.Equal(b, operation.Name, statements[op].Name)
		require.NotContains(b, statements[op].SQL, "dbo.", "they are in the user's default schema")
		names = append(names, tdstest.UCS2(statements[op].SQL))
		answers = append(answers, answer)
	}
	return func(request []byte) []byte {
		for i, name := range names {
			if bytes.Contains(request, name) {
				return answers[i]
			}
		}
		return answers[calls.OpPrices]
	}
}

// What an order asks for, made once: all that it allocates is the session's.
var (
	userName, password, words = []byte("user1"), []byte("password"), []byte("ONE TWO")

	bought = calls.Purchase{
		CustomerID: 1, Net: 100, Tax: 8, Total: 108,
		Items: []calls.Item{
			{Product: 1, Quantity: 1},
			{Product: 2, Quantity: 2},
			{Product: 3, Quantity: 1},
			{Product: 4, Quantity: 3},
			{Product: 5, Quantity: 1},
		},
	}
)

// order plays an order with three browses and five items.
func order(b testing.TB, s calls.Session) {
	ctx := b.Context()
	customer, _, err := s.Login(ctx, userName, password)
	require.True(b, err == nil && customer != 0)
	for op := calls.OpBrowseByCategory; op <= calls.OpBrowseByTitle; op++ {
		_, err = s.Browse(ctx, &calls.Browse{Op: op, Batch: 5, Category: 1, Text: words})
		require.NoError(b, err)
	}
	require.NoError(b, s.Prices(ctx, bought.Items))
	id, err := s.Purchase(ctx, &bought)
	require.True(b, err == nil && id != 0)
}

// answered is a session with a server that answers by request.
func answered(t testing.TB, request func([]byte) []byte) calls.Session {
	t.Helper()
	server := tdstest.Start(t, tdstest.Options{Request: request})
	return connect(t, openURL(t, server.URL("DS2")))
}

func openURL(t testing.TB, target *url.URL) store.Database {
	t.Helper()
	return pgtest.Open(t, sqlserver.Open, target.String())
}

func connect(t testing.TB, s store.Database) calls.Session {
	t.Helper()
	session, err := Connect(t.Context(), s)
	require.NoError(t, err)
	t.Cleanup(func() { session.Close(context.Background()) })
	return session
}

// TestRecordedOrder reads answers as a server gave them.
func TestRecordedOrder(t *testing.T) {
	session := answered(t, recorded(t))
	order(t, session)
	_, titles, err := session.Login(t.Context(), userName, password)
	require.NoError(t, err)
	assert.NotZero(t, titles)
	prices := []calls.Item{{Product: 1}, {Product: 2}, {Product: 3}, {Product: 4}, {Product: 5}}
	require.NoError(t, session.Prices(t.Context(), prices))
	assert.NotZero(t, prices[4].Price)
	_, err = session.NewCustomer(t.Context(), &calls.Customer{Username: userName, Gender: 'F'})
	require.NoError(t, err)
	_, err = Connect(t.Context(), openURL(t, &url.URL{Scheme: "sqlserver", Host: "127.0.0.1:1"}))
	assert.Error(t, err, "without a server")
}

// TestOneNewID: a purchase, or a new customer, is one that says so in one row, and not in an answer
// that is whole and has none.
func TestOneNewID(t *testing.T) {
	columns := []byte{
		0x81,
		1,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		0x26,
		4,
		1,
		'I',
		0,
	} // [MS-TDS] 2.2.7.4: one INTN(4), named I
	row := []byte{0xD1, 4, 7, 0, 0, 0}
	null := []byte{0xD2, 1}
	for _, c := range []struct {
		what   string
		answer []byte
		id     int64 // 0: an error
	}{
		{"one row", tdstest.Answer(columns, row), 7},
		{"NBCROW", tdstest.Answer(columns, []byte{0xD2, 0, 4, 7, 0, 0, 0}), 7},
		{"no row", columns, 0},
		{"no columns", nil, 0},
		{"two rows", tdstest.Answer(columns, row, row), 0},
		{"a row of NULL", tdstest.Answer(columns, null), 0},
	} {
		answer := tdstest.Answer(c.answer, tdstest.Done(tdstest.DoneFinal))
		session := answered(t, func([]byte) []byte { return answer })
		is := func(what string, id int64, err error) {
			assert.Equal(t, c.id, id, "%s: %s", c.what, what)
			assert.Equal(t, c.id != 0, err == nil, "%s: %s: %v", c.what, what, err)
		}
		id, err := session.Purchase(t.Context(), &bought)
		is("purchase", id, err)
		id, err = session.NewCustomer(t.Context(), &calls.Customer{Username: userName, Gender: 'F'})
		is("new customer", id, err)
	}
}
