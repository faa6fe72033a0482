package store

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"strconv"
	"strings"
	"time"

	"ds2/internal/progress"
)

// Lock is who takes a database's lock, and what for.
type Lock struct {
	Holder
	// id of a run that several driver machines share: each holds the lock; empty: it is not shared
	Run string
	// is told once why a lost lock cannot be taken again, which still is being tried; not nil
	Lost func(error)
}

// Holder is who holds a database's lock.
type Holder struct {
	Command string // of ds2, such as "bench"
	PID     int
	Host    string
	Since   time.Time
}

// holderTime is Since where others read it; it has no blanks.
const holderTime = "20060102T150405Z"

// Text is the holder in one line of at most n bytes, for the name that a connection has at its
// server. The host's name is cut short where it has to be.
func (h Holder) Text(most int) string {
	since := h.Since.UTC().Format(holderTime)
	text := fmt.Sprintf("ds2 %s %d %s %s", h.Command, h.PID, since, h.Host)
	return text[:min(len(text), most)]
}

// ParseHolder reads Text, and whatever an engine adds to it after a blank.
func ParseHolder(text string) (Holder, bool) {
	fields := strings.Fields(text)
	if len(fields) < 5 || fields[0] != "ds2" {
		return Holder{}, false
	}
	pid, err1 := strconv.Atoi(fields[2])
	since, err2 := time.Parse(holderTime, fields[3])
	return Holder{fields[1], pid, fields[4], since}, errors.Join(err1, err2) == nil
}

// sameProcess tells whether two are the same process, as far as Text tells.
func (h Holder) sameProcess(other Holder) bool {
	return h.PID == other.PID && h.Command == other.Command && h.Since.Unix() == other.Since.Unix()
}

// String names the holder in a sentence.
func (h Holder) String() string {
	if h.Command == "" {
		return "another ds2, which the server does not name"
	}
	since := h.Since.UTC().Format("2006-01-02 15:04:05 UTC")
	return fmt.Sprintf("ds2 %s, process %d on %s, since %s", h.Command, h.PID, h.Host, since)
}

// LockedError says that another ds2 is at work on a database.
type LockedError struct {
	Label string // of the store
	By    Holder
}

func (e *LockedError) Error() string {
	if host, _ := os.Hostname(); e.By.PID == os.Getpid() && e.By.Host == host {
		return fmt.Sprintf("%s is named twice, perhaps by another name of its server: name each database once", e.Label)
	}
	return fmt.Sprintf("%s is in use by %s: wait until it ends, or stop it", e.Label, e.By)
}

// LockKey is a number for a lock, the same for the same names on every machine.
func LockKey(names ...string) int64 {
	h := fnv.New64a()
	for _, name := range names {
		h.Write([]byte(name))
		h.Write([]byte{0})
	}
	return int64(h.Sum64())
}

// HeldLock is a lock on the connection that it lives with.
type HeldLock interface {
	// Wait waits until the connection is lost, or ctx ends.
	Wait(ctx context.Context)
	// Close gives the lock back, so that it is free at once, and ends the connection. It takes at
	// most UnlockTime.
	Close()
}

// UnlockTime is how long a server that does not answer may keep a ds2 that gives its lock back: it
// may have been told to leave at once.
const UnlockTime = 250 * time.Millisecond

// lockRetry is the pause between two tries to take a lost lock again.
const lockRetry = time.Second

// KeepLock is what Lock is for every engine: it takes a lock by take, and again whenever it is
// lost.
func KeepLock(
	ctx context.Context, s Database, l Lock, take func(context.Context) (HeldLock, error),
) (unlock func(), err error) {
	held, err := take(ctx)
	if _, locked := errors.AsType[*LockedError](err); err != nil && !locked {
		err = s.Wrap("lock "+s.Label(), err)
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		var err error // KeepLock has returned its own
		told := false
		for {
			// also when ctx has ended: a lock that is not closed is kept until ds2 ends
			if held != nil {
				held.Wait(ctx)
				held.Close()
			}
			if ctx.Err() != nil {
				return
			}
			if held, err = take(ctx); err == nil {
				told = false
				continue
			}
			// A server that is down is not worth a word, nor is one that has not missed the lost
			// connection yet.
			e, locked := errors.AsType[*LockedError](err)
			if locked && !told && !e.By.sameProcess(l.Holder) {
				told = true
				l.Lost(err)
			}
			progress.Pause(ctx, lockRetry)
		}
	}()
	return func() {
		cancel()
		<-done
	}, nil
}
