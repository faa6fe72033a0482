package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"

	"ds2/internal/progress"
)

// CancelTime is how long a server has to take the request to end a statement.
var CancelTime = 300 * time.Millisecond // tests on busy machines give it more

// cancelInterval is the time between two requests to end a statement. The server passes over one
// that comes as the statement begins, and before 14 does not look for clients that have gone: a
// statement that waits for a lock would stay.
const cancelInterval = 50 * time.Millisecond

// cancelStatement has the server end the statement of a context that ends, before ds2 is gone: an
// audit's would otherwise go on for minutes. A server that does not answer is not waited for.
func cancelStatement(conn *pgconn.PgConn) ctxwatch.Handler {
	return &canceller{
		handler: &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: CancelTime},
	}
}

// canceller asks until the statement has ended, for CancelTime at most. The connection is not used
// again.
type canceller struct {
	handler *pgconn.CancelRequestContextWatcherHandler
	stop    context.CancelFunc
	asking  sync.WaitGroup
}

// cancelled names the note with a connection that the server was asked to end a statement of it.
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
