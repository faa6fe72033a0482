package durability

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// reader is a server that looks into the journal when it is to be killed, and then is not.
type reader struct {
	path string
	held []byte
}

var errNotKilled = errors.New("not killed")

func (r *reader) Kill(context.Context) (err error) {
	r.held, err = Read(r.path, twos{}, 0)
	return errors.Join(err, errNotKilled)
}

func (r *reader) Start(context.Context) error { return nil }

// held are users that note what is asked of them.
type held []string

func (h *held) Hold()                 { *h = append(*h, "hold") }
func (h *held) Abort(context.Context) { *h = append(*h, "abort") }
func (h *held) Release()              { *h = append(*h, "release") }

// TestJournalBeforeTheCut has everything acknowledged written to the file before the server is killed, with the users
// held.
func TestJournalBeforeTheCut(t *testing.T) {
	server := &reader{}
	c, err := Plan{After: time.Second, Cycles: 1, Server: server}.Begin(t.TempDir(), twos{})
	require.NoError(t, err)
	defer c.Close()
	server.path = c.path
	for range 3 { // less than the buffer holds
		c.Note([]byte("12"))
	}
	users := &held{}
	if _, err := c.cut(t.Context(), Target{Users: users, Log: slog.New(slog.DiscardHandler)}); !errors.Is(err, errKill) || !errors.Is(err, errNotKilled) {
		t.Errorf("cut = %v", err)
	}
	if string(server.held) != "121212" {
		t.Errorf("when the server was killed the journal held %q", server.held)
	}
	if len(*users) != 1 || (*users)[0] != "hold" {
		t.Errorf("users were told %v, want to be held", *users)
	}
}
