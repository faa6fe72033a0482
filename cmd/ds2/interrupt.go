package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// stopSignals ask ds2 to end: Ctrl-C, SIGTERM, and a terminal that was closed, unless nohup had that ignored.
func stopSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// interrupts are the two stages of a stop. The first Ctrl-C, or other of stopSignals, ends soft: nothing new begins, and what is under
// way ends. The second ends hard, and with it all work.
type interrupts struct {
	soft, hard context.Context
}

// listenForInterrupts listens until release is called. It tells w what the first Ctrl-C does and what a second would do.
func listenForInterrupts(ctx context.Context, w io.Writer) (i interrupts, release func()) {
	hard, leave := context.WithCancel(ctx)
	soft, stop := context.WithCancel(hard)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, stopSignals()...)
	released := make(chan struct{})
	go func() {
		for _, act := range []func(){
			func() {
				fmt.Fprintln(w, "stopping: orders under way end, then the record is written; Ctrl-C again leaves at once")
				stop()
			},
			leave,
		} {
			select {
			case <-signals:
				act()
			case <-released:
				return
			}
		}
	}()
	return interrupts{soft, hard}, func() {
		signal.Stop(signals)
		close(released)
		leave()
	}
}
