// Package outside says how long ds2 waits for what is not ds2: servers, exporters, drives, and
// commands that users give. Each wait has a limit from here. What may rightly take hours, such as a
// statement, has none: after Patience it is said what it waits for. What is read from there has a
// bound on its length, too.
package outside

import (
	"context"
	"fmt"
	"time"
)

// The limits.
const (
	// of a connection to a server with its login, where the target gives no connect_timeout
	Connect = 30 * time.Second
	Answer  = 10 * time.Second // of a gateway that figures are pushed to, and of a drive
	Scrape  = 5 * time.Second  // of an exporter
	// of a command that prints a password or a figure, or puts something right after a run
	Command = 30 * time.Second
)

// Patience is how long anything is waited for before it is said.
var Patience = 10 * time.Second // tests have less

// Within bounds a wait. What ends because of that has the limit as the cause of its context.
func Within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, limit, fmt.Errorf("no answer within %s", limit))
}

// Err is why something ended, where ctx is that of Within: the limit itself rather than what ended
// because of it.
func Err(ctx context.Context, err error) error {
	if err != nil && context.Cause(ctx) != nil && context.Cause(ctx) != context.Canceled {
		return context.Cause(ctx)
	}
	return err
}
