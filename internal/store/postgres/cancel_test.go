package postgres_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/store/postgres/target"
)

// deaf listens before a server, and gives the address. The first request to end a statement does not come through, as
// the server passes over one that comes when the statement is about to begin.
func deaf(t *testing.T, server string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	var asked atomic.Bool
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer client.Close()
				first := make([]byte, 8) // its length, and what it is
				if _, err := io.ReadFull(client, first); err != nil {
					return
				}
				const cancelRequest = 80877102
				if binary.BigEndian.Uint32(first[4:]) == cancelRequest && !asked.Swap(true) {
					return
				}
				up, err := net.Dial("tcp", server)
				if err != nil {
					return
				}
				defer up.Close()
				go io.Copy(up, io.MultiReader(bytes.NewReader(first), client))
				io.Copy(client, up)
			}()
		}
	}()
	return l.Addr().String()
}

// TestCancelIsAskedAgain: a statement ends with its context, also where the first request to end it is lost.
func TestCancelIsAskedAgain(t *testing.T) {
	patient := target.CancelTime
	target.CancelTime = time.Minute
	t.Cleanup(func() { target.CancelTime = patient })
	database := pgtest.Database(t)
	u, err := url.Parse(database)
	require.NoError(t, err)
	u.Host = deaf(t, u.Host)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	db := open(t, u.String()).DB()
	go func() {
		_, err := db.ExecContext(ctx, "SELECT pg_sleep(3600)")
		ended <- err
	}()
	admin := open(t, database).DB()
	const asleep = "SELECT count(*) > 0 FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(%' AND state = 'active'"
	pgtest.Await(t, admin, asleep)
	cancel()
	require.Error(t, <-ended)
	assert.False(t, pgtest.Value[bool](t, admin, asleep), "the statement goes on")
}
