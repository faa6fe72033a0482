package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"ds2/internal/runs"
)

// After the second signal a command is gone within a second: it has leaveTime to end by itself, and
// what it must not leave behind is removed in cleanupTime.
var (
	leaveTime   = 650 * time.Millisecond
	cleanupTime = 250 * time.Millisecond // tests on busy machines give it more
)

// stopSignals ask ds2 to end: Ctrl-C, SIGTERM, and a terminal that was closed, unless nohup had
// that ignored.
func stopSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// interrupts are the two stages of a stop. The first Ctrl-C, or other of stopSignals, ends Soft:
// nothing new begins, and what is under way ends. The second ends Hard, and with it all work;
// whatever ignores that is left behind, with the process, soon after.
type interrupts struct {
	runs.Stop
	// done when the lock of a database was lost, with the reason as its cause
	locked  context.Context
	lost    context.CancelCauseFunc
	driving atomic.Bool // users are at work
	stderr  io.Writer   // progress and messages
	served  *served     // what is shown of the command; nil: nothing, or not yet

	// atLeave is called before the process leaves with work still under way; nil: nothing is. It
	// may run beside anything else and be cut off.
	atLeave atomic.Pointer[func()]
}

// leave ends the process, whatever is under way: what must not stay behind is removed first, unless
// that takes longer than cleanupTime.
func (i *interrupts) leave() {
	cleaned := make(chan struct{})
	go func() {
		defer close(cleaned)
		if f := i.atLeave.Load(); f != nil {
			(*f)()
		}
	}()
	select {
	case <-cleaned:
	case <-time.After(cleanupTime):
	}
	os.Exit(exitInterrupted)
}

type runE = func(*cobra.Command, []string) error

// interruptible makes RunE of a command that stops in two stages. First says what the first Ctrl-C
// does. An interrupted command exits with exitInterrupted, whatever its error, unless it came to a
// verdict before.
func interruptible(first string, run func(*interrupts, *cobra.Command, []string) error) runE {
	return func(cmd *cobra.Command, args []string) error {
		i, release := listenForInterrupts(cmd.Context(), cmd.ErrOrStderr(), first)
		defer release()
		defer func() { i.served.close() }()
		err := run(i, cmd, args)
		if err == nil {
			err = context.Cause(i.locked)
		}
		if _, ok := errors.AsType[*exitError](err); err != nil && !ok && i.Soft.Err() != nil {
			if errors.Is(err, context.Canceled) { // which says only what was under way
				err = fmt.Errorf("%s was interrupted: %w", cmd.Name(), err)
			}
			return &exitError{exitInterrupted, err}
		}
		return err
	}
}

// listenForInterrupts listens until release is called. It tells w what the first signal does and
// what a second would do.
//
// A reader of the output who has gone ends nothing either: writing to a closed pipe becomes an
// error like any other.
func listenForInterrupts(
	ctx context.Context,
	w io.Writer,
	first string,
) (i *interrupts, release func()) {
	i = &interrupts{stderr: w}
	var stop, cancel context.CancelFunc
	i.Hard, cancel = context.WithCancel(ctx)
	i.Soft, stop = context.WithCancel(i.Hard)
	i.locked, i.lost = context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, stopSignals()...)
	// For good, since an error may still be printed. Not by Ignore, which commands that are started
	// would inherit.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	go func() {
		if _, came := <-signals; !came {
			return
		}
		stop()
		// Beside, as a terminal that was halted by Ctrl-S takes nothing.
		what := first
		if ofRun, ends := firstOfRuns[first]; ends && !i.driving.Load() {
			what = ofRun
		}
		go fmt.Fprintf(w, "stopping: %s; Ctrl-C again leaves at once\n", what)
		if _, came := <-signals; came {
			time.AfterFunc(leaveTime, i.leave) // also where the error is still to be printed
			cancel()
		}
	}()
	return i, func() {
		// else a second signal may come, which must not end the process before its exit code
		if i.Soft.Err() == nil {
			signal.Stop(signals)
			close(signals)
		}
		cancel()
	}
}
