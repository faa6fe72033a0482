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

// TestStatementEndsWithItsClient: a statement that works or waits for a lock ends when its client
// has gone without a word, as a ds2 that is killed does. A load that continues would wait for it.
func TestStatementEndsWithItsClient(t *testing.T) {
	database := pgtest.Database(t)
	admin := open(t, database).DB()
	const version = "SELECT current_setting('server_version_num')::integer"
	if pgtest.Value[int](t, admin, version) < 140000 {
		t.Skip("versions before 14 do not look for clients that have gone")
	}
	gone, leave := context.WithCancel(t.Context())
	defer leave()
	db := open(t, storetest.Proxy(t, database, func(client, server net.Conn) {
		go io.Copy(server, client)
		go io.Copy(client, server)
		<-gone.Done()
	})).DB()
	tx, err := admin.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer tx.Rollback()
	pgtest.Exec(t, tx, "SELECT pg_advisory_lock(1)")
	go db.ExecContext(t.Context(), "SELECT pg_sleep(3600)")
	go db.ExecContext(t.Context(), "SELECT pg_advisory_lock(1)")
	const goOn = "(SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid()" +
		" AND query IN ('SELECT pg_sleep(3600)', 'SELECT pg_advisory_lock(1)'))"
	pgtest.Await(t, admin, "SELECT 2 = "+goOn)
	leave()
	pgtest.Await(t, admin, "SELECT 0 = "+goOn)
}
