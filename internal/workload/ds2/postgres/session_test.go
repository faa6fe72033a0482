package postgres_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
	enginepostgres "ds2/internal/store/postgres"
	"ds2/internal/storetest"
	"ds2/internal/workload/ds2/calls"
	"ds2/internal/workload/ds2/postgres"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestCallsDoNotAllocate(t *testing.T) {
	s := storetest.Loaded(t, enginepostgres.Open, storetest.Size)
	session, err := postgres.Connect(t.Context(), s)
	require.NoError(t, err)
	defer session.Close(t.Context())
	ctx := t.Context()
	username := []byte("user7")
	password := []byte("password")
	words := []byte("A B")
	items := []calls.Item{
		{Product: 7, Quantity: 1},
		{Product: 8, Quantity: 2},
		{Product: 9, Quantity: 1},
	}
	browse := &calls.Browse{Batch: 5, Category: 3, Text: words}
	search := func(op calls.Op) error {
		browse.Op = op
		_, err := session.Browse(ctx, browse)
		return err
	}
	purchase := &calls.Purchase{CustomerID: 7, Items: items, Net: 1000, Tax: 83, Total: 1083}
	customer := &calls.Customer{
		FirstName:            words,
		LastName:             words,
		Address1:             words,
		City:                 words,
		Country:              words,
		CreditCard:           words,
		CreditCardExpiration: words,
		Username:             words,
		Password:             password,
		Gender:               'M',
	}
	for name, call := range map[string]func() error{
		"login": func() error {
			_, _, err := session.Login(ctx, username, password)
			return err
		},
		"new customer": func() error {
			_, err := session.NewCustomer(ctx, customer)
			return err
		},
		"browse by category": func() error { return search(calls.OpBrowseByCategory) },
		"browse by actor":    func() error { return search(calls.OpBrowseByActor) },
		"browse by title":    func() error { return search(calls.OpBrowseByTitle) },
		"prices":             func() error { return session.Prices(ctx, items) },
		"purchase": func() error {
			_, err := session.Purchase(ctx, purchase)
			return err
		},
	} {
		if n := testing.AllocsPerRun(100, func() {
			if err := call(); err != nil { // require's arguments would be allocated
				t.Fatalf("%s: %v", name, err)
			}
		}); n > 0 {
			t.Errorf("%s: %g allocations a call", name, n)
		}
	}
}

func TestRestockQuantities(t *testing.T) {
	s := storetest.Loaded(t, enginepostgres.Open, storetest.Size)
	pgtest.Exec(t, s.DB(), "UPDATE inventory SET quan_in_stock = 2 WHERE prod_id IN (9999, 10000)")
	for product, want := range map[int]int{9_999: 250, 10_000: 2_500} {
		stock := fmt.Sprint("SELECT quan_in_stock FROM inventory WHERE prod_id = ", product)
		assert.Equal(
			t,
			want,
			pgtest.Value[int](t, s.DB(), stock),
			"product %d was restocked",
			product,
		)
	}
}

func TestConnectErrors(t *testing.T) {
	server := pgtest.Server(t)
	empty := pgtest.Database(t)
	for _, test := range []struct {
		name, target string
		class        store.Class
		says         string
	}{
		{"wrong password", pgtest.As(t, empty, "postgres", "s3cret"), store.Config, "PGPASSWORD"},
		{"no such user", pgtest.As(t, empty, "nobody", "s3cret"), store.Config, "PGUSER"},
		{
			"missing database", server.URL("nosuch"), store.Config,
			`database "nosuch" does not exist`,
		},
		{"without the schema", empty, store.Config, "ds2 load"},
		{
			"no server", "postgres://ds2:s3cret@127.0.0.1:1/ds2", store.Connection,
			"start the server",
		},
		{"no such host", "postgres://ds2:s3cret@nosuch.invalid/ds2", store.Connection, "host"},
	} {
		_, err := postgres.Connect(t.Context(), pgtest.Open(t, enginepostgres.Open, test.target))
		if assert.ErrorContains(t, err, test.says, test.name) {
			assert.Equal(t, test.class, store.Classify(err), "%s: %v", test.name, err)
			assert.NotRegexp(
				t,
				"s3cret|\n",
				err.Error(),
				"%s: tells the password, or more than a sentence",
				test.name,
			)
		}
	}
}
