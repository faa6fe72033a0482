package sqlserver

import (
	"bytes"
	"encoding/binary"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"ds2/internal/store"
	"ds2/internal/store/sqlserver/tdstest"
)

// recorded are the server's answers to the operations of an order, as Babelfish 4.4.0 gave them; the operation is known by the
// procedure's name in the request.
func recorded(b testing.TB) func(request []byte) []byte {
	b.Helper()
	var names, answers [][]byte
	for op := range store.NumOps {
		answer, err := os.ReadFile(filepath.Join("testdata", "exchange", op.String()+".bin"))
		if err != nil {
			b.Fatal(err)
		}
		names = append(names, bytes.Clone(heads[op][packetHeader+22:]))
		answers = append(answers, answer)
	}
	return func(request []byte) []byte {
		for i, name := range names {
			if bytes.Contains(request, name[:min(len(name), 40)]) {
				return answers[i]
			}
		}
		return answers[store.OpPrices]
	}
}

// What an order asks for, made once: all that it allocates is the session's.
var (
	userName, password, words = []byte("user1"), []byte("password"), []byte("ONE TWO")

	bought = store.Purchase{CustomerID: 1, Net: 100, Tax: 8, Total: 108,
		Items: []store.Item{{Product: 1, Quantity: 1}, {Product: 2, Quantity: 2}, {Product: 3, Quantity: 1}, {Product: 4, Quantity: 3}, {Product: 5, Quantity: 1}}}
)

// order plays an order with three browses and five items.
func order(b testing.TB, s store.Session) {
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

// BenchmarkOrder plays orders against recorded answers: what an order costs the client, in a session on the connection itself
// and in one by go-mssqldb. The server's side of the exchange, in this process too, is in both.
func BenchmarkOrder(b *testing.B) {
	server := tdstest.Start(b, tdstest.Options{Encryption: tdstest.EncryptNothing, Request: recorded(b)})
	s := openURL(b, server.URL("DS2"))
	b.Run("wire", func(b *testing.B) {
		playOrders(b, connect(b, s))
	})
	b.Run("go-mssqldb", func(b *testing.B) {
		conn, _, err := s.dial(b.Context(), s.config)
		if err != nil {
			b.Fatal(err)
		}
		caller, err := newDriverCaller(b.Context(), conn)
		if err != nil {
			b.Fatal(err)
		}
		session := s.newSession(caller)
		defer session.Close(b.Context())
		playOrders(b, session)
	})
}

// playOrders measures orders: allocations and the processor time of this process.
func playOrders(b *testing.B, session store.Session) {
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
	server := tdstest.Start(t, tdstest.Options{Encryption: tdstest.EncryptNothing, Request: recorded(t)})
	s := openURL(t, server.URL("DS2"))
	conn, _, err := s.dial(t.Context(), s.config)
	if err != nil {
		t.Fatal(err)
	}
	caller, err := newDriverCaller(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	type found struct {
		login                  store.Login
		category, actor, title int
		prices                 [5]store.Item
		customer, purchase     int64
	}
	read := func(session store.Session) (f found) {
		f.prices = [5]store.Item{{Product: 1}, {Product: 2}, {Product: 3}, {Product: 4}, {Product: 5}}
		var errs [7]error
		f.login, errs[0] = session.Login(t.Context(), []byte("user1"), []byte("password"))
		f.category, errs[1] = session.BrowseByCategory(t.Context(), 5, 1)
		f.actor, errs[2] = session.BrowseByActor(t.Context(), 5, []byte("ONE TWO"))
		f.title, errs[3] = session.BrowseByTitle(t.Context(), 5, []byte("ONE TWO"))
		errs[4] = session.Prices(t.Context(), f.prices[:])
		f.customer, errs[5] = session.NewCustomer(t.Context(), &store.Customer{Username: []byte("newuser1"), Gender: 'F'})
		f.purchase, errs[6] = session.Purchase(t.Context(), &store.Purchase{CustomerID: 1, Items: f.prices[:]})
		for _, err := range errs {
			if err != nil {
				t.Error(err)
			}
		}
		return f
	}
	byWire, byDriver := read(connect(t, s)), read(s.newSession(caller))
	if byWire != byDriver || byWire.login.Titles == 0 || byWire.purchase == 0 || byWire.prices[4].Price == 0 {
		t.Errorf("on the wire %+v, by go-mssqldb %+v", byWire, byDriver)
	}
}

// replay is a connection without a server: what is written is answered by what was recorded.
type replay struct {
	net.Conn
	answers func(request []byte) []byte
	pending []byte
	packets map[*byte][]byte
}

func (r *replay) Write(b []byte) (int, error) {
	answer := r.answers(b[packetHeader:])
	packet, ok := r.packets[&answer[0]]
	if !ok {
		packet = binary.BigEndian.AppendUint16([]byte{packetAnswer, lastPacket}, uint16(len(answer)+packetHeader))
		packet = append(append(packet, 0, 0, 1, 0), answer...)
		r.packets[&answer[0]] = packet
	}
	r.pending = packet
	return len(b), nil
}

func (r *replay) Read(b []byte) (int, error) {
	n := copy(b, r.pending)
	r.pending = r.pending[n:]
	return n, nil
}

func (r *replay) Close() error                { return nil }
func (r *replay) SetDeadline(time.Time) error { return nil }

// BenchmarkOrderWithoutNetwork is what an order costs in encoding and decoding alone.
func BenchmarkOrderWithoutNetwork(b *testing.B) {
	s := open(b, "sqlserver://user@localhost")
	playOrders(b, s.newSession(newWire(&replay{answers: recorded(b), packets: map[*byte][]byte{}}, 4096)))
}
