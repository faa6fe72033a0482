package postgres_test

import (
	"io"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
	"ds2/internal/storetest"
)

func TestCallsDoNotAllocate(t *testing.T) {
	s := loaded(t, storetest.Size)
	session, err := s.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close(t.Context())
	ctx := t.Context()
	username, password, words := []byte("user7"), []byte("password"), []byte("A B")
	items := []store.Item{{Product: 7, Quantity: 1}, {Product: 8, Quantity: 2}, {Product: 9, Quantity: 1}}
	purchase := &store.Purchase{CustomerID: 7, Items: items, Net: 1000, Tax: 83, Total: 1083}
	customer := &store.Customer{
		FirstName: words, LastName: words, Address1: words, City: words, Country: words, CreditCard: words,
		CreditCardExpiration: words, Username: words, Password: password, Gender: 'M',
	}
	for name, call := range map[string]func() error{
		"login":              func() error { _, err := session.Login(ctx, username, password); return err },
		"new customer":       func() error { _, err := session.NewCustomer(ctx, customer); return err },
		"browse by category": func() error { _, err := session.BrowseByCategory(ctx, 5, 3); return err },
		"browse by actor":    func() error { _, err := session.BrowseByActor(ctx, 5, words); return err },
		"browse by title":    func() error { _, err := session.BrowseByTitle(ctx, 5, words); return err },
		"prices":             func() error { return session.Prices(ctx, items) },
		"purchase":           func() error { _, err := session.Purchase(ctx, purchase); return err },
	} {
		if n := testing.AllocsPerRun(100, func() {
			if err := call(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}); n > 0 {
			t.Errorf("%s: %g allocations a call", name, n)
		}
	}
}

func TestRestockQuantities(t *testing.T) {
	s := loaded(t, storetest.Size)
	if _, err := s.DB().Exec("UPDATE inventory SET quan_in_stock = 2 WHERE prod_id IN (9999, 10000)"); err != nil {
		t.Fatal(err)
	}
	for product, want := range map[int]int{9_999: 250, 10_000: 2_500} {
		var stock int
		if err := s.DB().QueryRow("SELECT quan_in_stock FROM inventory WHERE prod_id = $1", product).Scan(&stock); err != nil {
			t.Fatal(err)
		}
		if stock != want {
			t.Errorf("product %d was restocked to %d, not %d", product, stock, want)
		}
	}
}

func TestConnectErrors(t *testing.T) {
	server := pgtest.Server(t)
	empty := pgtest.Database(t)
	wrong := func(change func(*url.URL)) string {
		u, err := url.Parse(empty)
		if err != nil {
			t.Fatal(err)
		}
		change(u)
		return u.String()
	}
	for _, test := range []struct {
		name, target string
		class        store.Class
		says         string
	}{
		{"wrong password", wrong(func(u *url.URL) { u.User = url.UserPassword("postgres", "s3cret") }), store.Config, "PGPASSWORD"},
		{"no such user", wrong(func(u *url.URL) { u.User = url.UserPassword("nobody", "s3cret") }), store.Config, "PGUSER"},
		{"missing database", server.URL("nosuch"), store.Config, `database "nosuch" does not exist`},
		{"without the schema", empty, store.Config, "ds2 load"},
		{"no server", wrong(func(u *url.URL) { u.Host = "127.0.0.1:1" }), store.Connection, "start the server"},
		{"no such host", wrong(func(u *url.URL) { u.Host = "nosuch.invalid" }), store.Connection, "host"},
	} {
		_, err := open(t, test.target).Connect(t.Context())
		if store.Classify(err) != test.class || err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: class %s, not %s with %q: %v", test.name, store.Classify(err), test.class, test.says, err)
			continue
		}
		if strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: tells the password, or more than a sentence: %v", test.name, err)
		}
	}
}

// TestInDoubt cuts the connection below a purchase after the server has committed it, so that only its answer is lost.
func TestInDoubt(t *testing.T) {
	s := loaded(t, storetest.Size)
	var cut atomic.Bool
	proxied := throughProxy(t, s, &cut)
	session, err := proxied.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close(t.Context())
	p := &store.Purchase{CustomerID: 7, Items: []store.Item{{Product: 7, Quantity: 1}}, Net: 1, Total: 1}
	if id, err := session.Purchase(t.Context(), p); err != nil || id == 0 {
		t.Fatalf("before the cut: order %d, %v", id, err)
	}
	cut.Store(true)
	_, err = session.Purchase(t.Context(), p)
	e, ok := err.(*store.Error)
	if !ok || e.Class != store.Connection || !e.InDoubt {
		t.Errorf("purchase whose answer was lost: %#v", err)
	}
	deadline := time.Now().Add(10 * time.Second)
	for orders := 0; orders < 2; {
		if err := s.DB().QueryRow("SELECT count(*) FROM orders WHERE totalamount = 0.01").Scan(&orders); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(deadline) {
			t.Fatal("the purchase in doubt never came to be: the test cut too early")
		}
	}
	if _, err := session.Login(t.Context(), []byte("user1"), []byte("password")); store.Classify(err) != store.Connection {
		t.Errorf("call on the lost connection: %v", err)
	}
}

// throughProxy is the store behind a proxy that, once cut is set, drops the connection instead of passing an answer on.
func throughProxy(t *testing.T, s *postgres.Store, cut *atomic.Bool) *postgres.Store {
	t.Helper()
	server, err := url.Parse(pgtest.Server(t).URL(s.Database()))
	if err != nil {
		t.Fatal(err)
	}
	behindProxy := server.Host
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			behind, err := net.Dial("tcp", behindProxy)
			if err != nil {
				client.Close()
				continue
			}
			go func() {
				io.Copy(behind, client)
				behind.Close()
			}()
			go func() {
				defer client.Close()
				answer := make([]byte, 64<<10)
				for {
					n, err := behind.Read(answer)
					if err != nil || cut.Load() {
						return
					}
					client.Write(answer[:n])
				}
			}()
		}
	}()
	server.Host = listener.Addr().String()
	return open(t, server.String())
}
