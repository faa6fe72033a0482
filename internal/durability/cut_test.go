package durability

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"ds2/internal/store"
)

// reader is a server that looks into the journal when it is to be killed, and then is not.
type reader struct {
	path string
	held []entry
}

var errNotKilled = errors.New("not killed")

func (r *reader) Kill(context.Context) (err error) {
	r.held, err = read(r.path, 0, 0)
	return errors.Join(err, errNotKilled)
}

func (r *reader) Start(context.Context) error { return nil }

// held are users that note what is asked of them.
type held []string

func (h *held) Hold()                 { *h = append(*h, "hold") }
func (h *held) Abort(context.Context) { *h = append(*h, "abort") }
func (h *held) Release()              { *h = append(*h, "release") }

// TestJournalBeforeTheCut has everything acknowledged written to the file before the server is killed, with the users held.
func TestJournalBeforeTheCut(t *testing.T) {
	server := &reader{}
	c, err := Plan{After: time.Second, Cycles: 1, Server: server}.Begin(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	server.path = c.path
	p := store.Purchase{CustomerID: 1, Items: make([]store.Item, 2), Total: 1099}
	for order := range int64(3) { // less than the buffer holds
		c.Bought(0, order, &p)
	}
	c.InDoubt(0, &p)
	c.Registered(0, 7, []byte("user7"))
	users := &held{}
	if _, err := c.cut(t.Context(), Target{Users: users, Log: slog.New(slog.DiscardHandler)}); !errors.Is(err, errKill) || !errors.Is(err, errNotKilled) {
		t.Errorf("cut = %v", err)
	}
	if len(of(bought, server.held)) != 3 || len(of(doubtful, server.held)) != 1 || len(of(registered, server.held)) != 1 {
		t.Errorf("when the server was killed the journal held %+v", server.held)
	}
	if len(*users) != 1 || (*users)[0] != "hold" {
		t.Errorf("users were told %v, want to be held", *users)
	}
}
