// Package target is what the files of the engine for PostgreSQL have in common: cancelled statements, meters of reads,
// SQLSTATEs. It is not for anybody else.
package target

import (
	"context"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"

	"ds2/internal/progress"
)

// Disconnect ends a connection, also where what it was for has been cut off, and does not wait for a server that does
// not answer.
func Disconnect(conn interface{ Close(context.Context) error }) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	conn.Close(ctx)
}

// CancelTime is how long a server has to take the request to end a statement.
var CancelTime = 300 * time.Millisecond // tests on busy machines give it more

// cancelInterval is the time between two requests to end a statement. The server passes over one that comes as the
// statement begins, and does not look for clients that have gone: a statement that waits for a lock would stay.
const cancelInterval = 50 * time.Millisecond

// CancelStatement has the server end the statement of a context that ends, before ds2 is gone: an audit's would
// otherwise go on for minutes. A server that does not answer is not waited for.
func CancelStatement(conn *pgconn.PgConn) ctxwatch.Handler {
	return &canceller{handler: &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: CancelTime}}
}

// canceller asks until the statement has ended, for CancelTime at most. The connection is not used again.
type canceller struct {
	handler *pgconn.CancelRequestContextWatcherHandler
	stop    context.CancelFunc
	asking  sync.WaitGroup
}

// cancelled is the name of a note with a connection.
const cancelled = "cancelled"

// HandleCancel begins to ask.
func (c *canceller) HandleCancel(ctx context.Context) {
	c.handler.Conn.CustomData()[cancelled] = true
	c.handler.HandleCancel(ctx)
	ctx, c.stop = context.WithTimeout(context.Background(), CancelTime)
	c.asking.Go(func() {
		for progress.Pause(ctx, cancelInterval) {
			c.handler.Conn.CancelRequest(ctx)
		}
	})
}

// HandleUnwatchAfterCancel ends the asking, as the statement has ended.
func (c *canceller) HandleUnwatchAfterCancel() {
	c.stop()
	c.asking.Wait()
	c.handler.HandleUnwatchAfterCancel()
}

// Cancelled says whether CancelStatement has asked the server to end a statement of a connection.
func Cancelled(conn *pgconn.PgConn) bool { return conn.CustomData()[cancelled] != nil }

// Holds says whether a directory of this machine has the files of the cluster, by the first fields of pg_control, which
// are in the byte order of the server's machine. A standby beside its tunnel has the identifier too, and another state.
func Holds(data, system string, standby bool) bool {
	control, err := os.Open(filepath.Join(data, "global", "pg_control"))
	if err != nil {
		return false
	}
	defer control.Close()
	var head [20]byte
	if _, err := io.ReadFull(control, head[:]); err != nil {
		return false
	}
	const inProduction = 6
	state := binary.NativeEndian.Uint32(head[16:])
	return strconv.FormatUint(binary.NativeEndian.Uint64(head[:]), 10) == system && (state == inProduction) != standby
}
