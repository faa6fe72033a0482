package sqlserver

import (
	"bytes"
	"context"
	"encoding/binary"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
	"unicode/utf16"

	"ds2/internal/store"
	"ds2/internal/store/sqlserver"
	"ds2/internal/store/sqlserver/tdstest"
	"ds2/internal/workload/ds2/calls"
)

// recorded are the server's answers to the operations of an order, as Babelfish 4.4.0 gave them; the operation is known by the
// procedure's name in the request.
func recorded(b testing.TB) func(request []byte) []byte {
	b.Helper()
	var names, answers [][]byte
	for op := range calls.NumOps {
		answer, err := os.ReadFile(filepath.Join("testdata", "exchange", op.String()+".bin"))
		if err != nil {
			b.Fatal(err)
		}
		names = append(names, utf16LE(statements[op].SQL))
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

// utf16LE is a text as the protocol has it.
func utf16LE(text string) (b []byte) {
	for _, unit := range utf16.Encode([]rune(text)) {
		b = binary.LittleEndian.AppendUint16(b, unit)
	}
	return b
}

// What an order asks for, made once: all that it allocates is the session's.
var (
	userName, password, words = []byte("user1"), []byte("password"), []byte("ONE TWO")

	bought = calls.Purchase{CustomerID: 1, Net: 100, Tax: 8, Total: 108,
		Items: []calls.Item{{Product: 1, Quantity: 1}, {Product: 2, Quantity: 2}, {Product: 3, Quantity: 1}, {Product: 4, Quantity: 3}, {Product: 5, Quantity: 1}}}
)

// order plays an order with three browses and five items.
func order(b testing.TB, s calls.Session) {
	ctx := b.Context()
	if l, err := s.Login(ctx, userName, password); err != nil || l.CustomerID == 0 {
		b.Fatalf("%+v, %v", l, err)
	}
	if _, err := s.BrowseByCategory(ctx, 5, 1); err != nil {
		b.Fatal(err)
	}
	if _, err := s.BrowseByActor(ctx, 5, words); err != nil {
		b.Fatal(err)
	}
	if _, err := s.BrowseByTitle(ctx, 5, words); err != nil {
		b.Fatal(err)
	}
	if err := s.Prices(ctx, bought.Items); err != nil {
		b.Fatal(err)
	}
	if id, err := s.Purchase(ctx, &bought); err != nil || id == 0 {
		b.Fatalf("%d, %v", id, err)
	}
}

// servers are a server for each kind of connection, and a session on each: on the connection itself and, where that is encrypted,
// by go-mssqldb.
func servers(t testing.TB) (byWire, byDriver calls.Session) {
	t.Helper()
	wire := tdstest.Start(t, tdstest.Options{Encryption: tdstest.EncryptNothing, Request: recorded(t)})
	driver := tdstest.Start(t, tdstest.Options{Encryption: tdstest.EncryptAll, Certificate: tdstest.SelfSigned(t, "127.0.0.1", false), Request: recorded(t)})
	return connect(t, wire.URL("DS2")), connect(t, driver.URL("DS2", "encrypt", "true", "trustservercertificate", "true"))
}

func openURL(t testing.TB, target *url.URL) store.Store {
	t.Helper()
	s, err := sqlserver.Open(target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func connect(t testing.TB, target *url.URL) calls.Session {
	t.Helper()
	session, err := Engine{}.Connect(t.Context(), openURL(t, target))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close(context.Background()) })
	return session
}

// BenchmarkOrder plays orders against recorded answers: what an order costs the client, in a session on the connection itself
// and in one by go-mssqldb, with its encryption. The server's side of the exchange, in this process too, is in both.
func BenchmarkOrder(b *testing.B) {
	byWire, byDriver := servers(b)
	b.Run("wire", func(b *testing.B) { playOrders(b, byWire) })
	b.Run("go-mssqldb", func(b *testing.B) { playOrders(b, byDriver) })
}

// playOrders measures orders: allocations and the processor time of this process.
func playOrders(b *testing.B, session calls.Session) {
	b.ReportAllocs()
	cpu := func() time.Duration {
		var usage syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
			b.Fatal(err)
		}
		return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	before := cpu()
	for b.Loop() {
		order(b, session)
	}
	b.ReportMetric(float64((cpu()-before).Nanoseconds())/1e3/float64(b.N), "cpu-µs/order")
}

// TestRecordedOrder has both kinds of session read the same answers in the same way.
func TestRecordedOrder(t *testing.T) {
	type found struct {
		login                  calls.Login
		category, actor, title int
		prices                 [5]calls.Item
		customer, purchase     int64
	}
	read := func(session calls.Session) (f found) {
		f.prices = [5]calls.Item{{Product: 1}, {Product: 2}, {Product: 3}, {Product: 4}, {Product: 5}}
		var errs [7]error
		f.login, errs[0] = session.Login(t.Context(), []byte("user1"), []byte("password"))
		f.category, errs[1] = session.BrowseByCategory(t.Context(), 5, 1)
		f.actor, errs[2] = session.BrowseByActor(t.Context(), 5, []byte("ONE TWO"))
		f.title, errs[3] = session.BrowseByTitle(t.Context(), 5, []byte("ONE TWO"))
		errs[4] = session.Prices(t.Context(), f.prices[:])
		f.customer, errs[5] = session.NewCustomer(t.Context(), &calls.Customer{Username: []byte("newuser1"), Gender: 'F'})
		f.purchase, errs[6] = session.Purchase(t.Context(), &calls.Purchase{CustomerID: 1, Items: f.prices[:]})
		for _, err := range errs {
			if err != nil {
				t.Error(err)
			}
		}
		return f
	}
	wire, driver := servers(t)
	byWire, byDriver := read(wire), read(driver)
	if byWire != byDriver || byWire.login.Titles == 0 || byWire.purchase == 0 || byWire.prices[4].Price == 0 {
		t.Errorf("on the wire %+v, by go-mssqldb %+v", byWire, byDriver)
	}
}

// TestCallsDoNotAllocate plays orders on the connection itself.
func TestCallsDoNotAllocate(t *testing.T) {
	session, _ := servers(t)
	if n := testing.AllocsPerRun(100, func() { order(t, session) }); n > 0 {
		t.Errorf("%g allocations an order", n)
	}
}
