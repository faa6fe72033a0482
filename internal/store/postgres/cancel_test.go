package postgres_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/store/postgres"
	"ds2/internal/storetest"
)

// deaf is a proxy through which the first request to end a statement does not come, as the server
// passes over one that comes when the statement is about to begin.
func deaf(t *testing.T, target string) string {
	t.Helper()
	var asked atomic.Bool
	return storetest.Proxy(t, target, func(client, server net.Conn) {
		first := make([]byte, 8) // its length, and what it is
		_, err := io.ReadFull(client, first)
		const cancelRequest = 80877102
		if err != nil || binary.BigEndian.Uint32(first[4:]) == cancelRequest && !asked.Swap(true) {
			return
		}
		go io.Copy(server, io.MultiReader(bytes.NewReader(first), client))
		io.Copy(client, server)
	})
}

// TestCancelIsAskedAgain: a statement ends with its context, also where the first request to end it
// is lost.
func TestCancelIsAskedAgain(t *testing.T) {
	patient := postgres.CancelTime
	postgres.CancelTime = time.Minute
	t.Cleanup(func() { postgres.CancelTime = patient })
	database := pgtest.Database(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	db := open(t, deaf(t, database)).DB()
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
