package main

import (
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// progressEvery is how often a progress that is not on a terminal writes its line.
var progressEvery = 10 * time.Second

// isTerminal says whether what is written or read is a terminal's.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// startTicking calls show every so often, until stop is called, which returns when show will not be called again. Stop may be
// called twice.
func startTicking(every time.Duration, show func()) (stop func()) {
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				show()
			case <-quit:
				return
			}
		}
	}()
	return sync.OnceFunc(func() { close(quit); <-gone })
}
