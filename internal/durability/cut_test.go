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
	_, err = c.cut(t.Context(), Target{Users: users, Log: slog.New(slog.DiscardHandler)})
	require.ErrorIs(t, err, errKill)
	require.ErrorIs(t, err, errNotKilled)
	require.Equal(t, "121212", string(server.held), "when the server was killed the journal held")
	require.Equal(t, held{"hold"}, *users)
}
