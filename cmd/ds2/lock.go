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

	"ds2/internal/escape"
	"ds2/internal/progress"
	"ds2/internal/store"
)

// openLocked opens the targets of a command, and keeps every other ds2 from them until they are released.
func (f targetFlags) openLocked(i *interrupts, cmd *cobra.Command) ([]store.Database, func(), error) {
	stores, err := f.open()
	if err != nil {
		return nil, nil, err
	}
	unlock, err := i.lockStores(strings.Fields(cmd.CommandPath())[1], "", stores, cmd.ErrOrStderr())
	if err != nil {
		closeStores(stores)
		return nil, nil, err
	}
	return stores, func() { unlock(); closeStores(stores) }, nil
}

// lockStores keeps every other ds2 from the databases until unlock, or those of other runs where the run has an id. The
// locks are waited for as long as soft lasts, and held through both stages of a stop.
func (i *interrupts) lockStores(command, run string, stores []store.Database, stderr io.Writer) (func(), error) {
	host, _ := os.Hostname()
	host = cmp.Or(host, "an unknown host")
	lock := store.Lock{
		Holder: store.Holder{Command: command, PID: os.Getpid(), Host: host, Since: time.Now()},
		Run:    run,
		Lost: func(err error) {
			i.lost(fmt.Errorf("the database's lock was lost with its connection, and another ds2 has it now, "+
				"so the results of this one are invalid: %w", err))
		},
	}
	say := func(text string) { fmt.Fprintln(stderr, "note:", escape.Text(text)) }
	unlocks := []func(){watchWaits(stores, i.driving.Load, say)}
	unlock := func() {
		for _, f := range unlocks {
			f()
		}
	}
	for _, s := range stores {
		ctx, cancel := context.WithCancel(i.hard)
		stop := context.AfterFunc(i.soft, cancel)
		var one func()
		err := store.AwaitStart(
			func(d time.Duration) bool { return progress.Pause(i.soft, d) },
			func(err error) { fmt.Fprintf(stderr, "note: waiting until the server accepts connections: %v\n", err) },
			func() (err error) { one, err = s.Lock(ctx, lock); return err },
		)
		if !stop() && err == nil {
			one()
			err = i.soft.Err()
		}
		if err != nil {
			cancel()
			unlock()
			if _, ok := errors.AsType[*store.LockedError](err); ok && run != "" {
				err = fmt.Errorf("%w; driver machines of one run have the same --run-id", err)
			}
			return nil, err
		}
		unlocks = append(unlocks, func() { one(); cancel() })
	}
	return unlock, nil
}
