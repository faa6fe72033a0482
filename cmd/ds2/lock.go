package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ds2/internal/outside"
	"ds2/internal/progress"
	"ds2/internal/store"
)

// openLocked opens the targets of a command, and keeps every other ds2 from them until they are
// released.
func (f targetFlags) openLocked(
	i *interrupts,
	cmd *cobra.Command,
) ([]store.Database, func(), error) {
	stores, err := f.open()
	if err != nil {
		return nil, nil, err
	}
	// The holder's name for others, such as snapshot of ds2 snapshot create.
	unlock, err := i.lockStores(strings.Fields(cmd.CommandPath())[1], "", stores)
	if err != nil {
		closeStores(stores)
		return nil, nil, err
	}
	return stores, func() { unlock(); closeStores(stores) }, nil
}

// lockStores keeps every other ds2 from the databases until unlock, or those of other runs where
// the run has an id: no audit could tell the rows of two from each other. The locks are waited for
// as long as soft lasts, and held through both stages of a stop.
func (i *interrupts) lockStores(command, run string, stores []store.Database) (func(), error) {
	host, _ := os.Hostname()
	host = cmp.Or(host, "an unknown host")
	lock := store.Lock{
		Holder: store.Holder{Command: command, PID: os.Getpid(), Host: host, Since: time.Now()},
		Run:    run,
		Lost: func(err error) {
			i.lost(fmt.Errorf("the database's lock was lost with its connection, and another ds2 has it now, so the results of this one are invalid: %w", err))
		},
	}
	unlock := watchWaits(stores, i.driving.Load, i.stderr)
	for _, s := range stores {
		ctx, cancel := context.WithCancel(i.Hard)
		stop := context.AfterFunc(i.Soft, cancel)
		var one func()
		err := store.AwaitStart(
			func(d time.Duration) bool { return progress.Pause(i.Soft, d) },
			func(err error) {
				say(i.stderr, note, ": waiting until the server accepts connections: %v", err)
			},
			func() (err error) { one, err = s.Lock(ctx, lock); return err },
		)
		// The first Ctrl-C came while the lock was given: it is given back.
		if !stop() && err == nil {
			one()
			err = i.Soft.Err()
		}
		if err != nil {
			cancel()
			unlock()
			if _, ok := errors.AsType[*store.LockedError](err); ok && run != "" {
				err = fmt.Errorf("%w; driver machines of one run have the same --run-id", err)
			}
			return func() {}, err
		}
		before := unlock
		unlock = func() { before(); one(); cancel() }
	}
	return unlock, nil
}

// watchWaits says, once each, what servers keep a command waiting for, until stop. While users work
// it asks nothing.
func watchWaits(stores []store.Database, quiet func() bool, w io.Writer) (stop func()) {
	stop = func() {}
	for _, s := range stores {
		said := map[string]bool{}
		silent := false
		look := func(ctx context.Context) bool {
			if quiet() {
				return true
			}
			ctx, cancel := outside.Within(ctx, outside.Patience)
			defer cancel()
			waits, err := waitsOf(ctx, s)
			// A question that the end of the watch cut short says nothing of the server.
			gone := store.Classify(err) == store.Connection &&
				context.Cause(ctx) != context.Canceled
			if gone && !silent && !quiet() {
				say(w, note, ": waiting for %s, which does not answer: %v", s.Label(),
					outside.Err(ctx, err))
			}
			silent = gone
			for what, text := range waits {
				if !said[what] {
					say(w, note, ": waiting for %s: %s", s.Label(), text)
				}
				said[what] = true
			}
			return true
		}
		before := stop
		end := progress.Watch(context.Background(), outside.Patience/2, look)
		stop = func() { before(); end() }
	}
	return stop
}

// waiter is an engine that says what statements of this process wait for since a while, by what
// holds them up, such as a process.
type waiter interface {
	Waits(ctx context.Context, since time.Duration) (map[string]string, error)
}

// waitsOf is what a server keeps statements waiting for; of one that cannot say, whether it
// answers.
func waitsOf(ctx context.Context, s store.Database) (map[string]string, error) {
	if engine, ok := s.(waiter); ok {
		return engine.Waits(ctx, outside.Patience/2)
	}
	return nil, s.Wrap("connect to "+s.Label(), s.DB().PingContext(ctx))
}
