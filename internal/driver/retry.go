package driver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ds2/internal/measure"
	"ds2/internal/progress"
	"ds2/internal/store"
	"ds2/internal/workload"
)

// errInDoubt is the end of an order whose last operation may or may not have been committed, and is
// not tried again.
var errInDoubt = errors.New("the connection was lost while a change was being committed")

// attemptOperation carries out an operation and tries it again as far as that helps, waiting longer
// every time. It connects first where there is no connection.
func (u *user) attemptOperation(op workload.Op) error {
	for try := 0; ; try++ {
		failed, err := u.connectAnd(op)
		if err == nil {
			return nil
		}
		if failed == opConnect && u.driver.stop.Err() != nil {
			return err // the stop cut it off
		}
		class := store.Classify(err)
		if u.connected && u.ctx.Err() != nil {
			// It took too long, or the run is over, and its connection is lost, whatever the store
			// made of it.
			class = store.Connection
		}
		if op == opConnect {
			u.driver.delayed.Do(func() { u.driver.config.Delayed(err) })
		}
		failure := measure.Failure{Operation: u.driver.opName(failed), Class: string(class)}
		u.tally.Fail(failure)
		u.recorder.Report(&u.tally)
		u.driver.noteFailure(failure, err)
		if class == store.Connection {
			u.driver.config.Lost(err)
			u.dropConnection()
		}
		if e, ok := errors.AsType[*store.Error](err); ok && e.InDoubt && !u.InDoubt(failed) {
			return fmt.Errorf("%w: %w", errInDoubt, err)
		}
		if class == store.Config || class == store.Bug || u.driver.ctx.Err() != nil {
			return err
		}
		if try == u.driver.config.MaxRetries {
			return fmt.Errorf("give up after %d retries: %w", try, err)
		}
		if !u.waitForRetry(u.retryDelay(class, try)) {
			return err
		}
		u.tally.Retry(failure)
		u.recorder.Report(&u.tally)
	}
}

// waitForRetry waits until the next try, in a separate state; false where the run stops before.
func (u *user) waitForRetry(d time.Duration) bool {
	before := u.state.Swap(uint32(measure.UserRetrying))
	defer u.state.Store(before)
	return progress.Pause(u.driver.stop, d)
}

// connectAnd tries an operation once, after connecting where that is needed, and says which of the
// two failed.
func (u *user) connectAnd(op workload.Op) (failed workload.Op, err error) {
	if !u.connected {
		if err := u.openConnection(); err != nil {
			return opConnect, err
		}
	}
	if op == opConnect {
		return op, nil
	}
	u.began.Store(int64(time.Since(origin)))
	err = u.Call(u.ctx, op)
	u.began.Store(0)
	return op, err
}

// openConnection opens a connection and makes the context of its operations.
func (u *user) openConnection() error {
	if u.opened {
		u.setState(measure.UserReconnecting)
		defer u.setState(measure.UserRunning)
	}
	d := u.driver
	if d.stop.Err() != nil {
		return context.Cause(d.stop)
	}
	ctx, cancel := context.WithTimeout(d.stop, d.config.OperationTimeout.Duration)
	defer cancel()
	if err := u.Connect(ctx); err != nil {
		return err
	}
	u.connected = true
	u.mu.Lock()
	u.ctx, u.abort = context.WithCancel(d.ctx)
	u.mu.Unlock()
	if u.opened {
		u.tally.Reconnects++
		u.recorder.Report(&u.tally)
	}
	u.opened = true
	return nil
}

// dropConnection closes a connection that is no use any more.
func (u *user) dropConnection() {
	if u.connected {
		u.abort()
		_ = u.Close(u.ctx) // the connection is lost: ignore the error of closing it
		u.connected = false
	}
}

// The waits before a retry: a deadlock's other side is gone at once, a server that restarts needs
// seconds.
const (
	firstConflictWait = 2 * time.Millisecond
	maxConflictWait   = 250 * time.Millisecond
	firstServerWait   = 100 * time.Millisecond
	maxServerWait     = 5 * time.Second
)

// retryDelay is how long to wait before the retry after a try: twice as long every time up to a
// limit, drawn from the upper half so that users do not come back all at once.
func (u *user) retryDelay(class store.Class, try int) time.Duration {
	wait := firstConflictWait
	most := maxConflictWait
	if class == store.Connection || class == store.Resource {
		wait = firstServerWait
		most = maxServerWait
	}
	wait = min(wait<<min(try, 20), most)
	return wait/2 + time.Duration(u.jitter.Int64N(int64(wait/2)+1))
}
