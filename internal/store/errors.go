package store

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"time"

	"ds2/internal/datatable"
)

// Class says what kind of failure an error is, and so what a user of the store can do about it.
type Class string

// The classes. Engines decide by SQLSTATE or error number, never by message text.
const (
	Deadlock      Class = "deadlock"      // chosen as a deadlock's victim: try again
	Serialization Class = "serialization" // could not serialize: try again
	Timeout       Class = "timeout"       // lock or statement timeout: try again
	// connection lost or refused, server restarting: connect again
	Connection Class = "connection"
	// disk full, out of memory, too many connections: wait, then try again
	Resource Class = "resource"
	// wrong password, no such database, table or procedure, no right: give up
	Config Class = "config"
	Bug    Class = "bug" // anything else
)

// Classes are all of them.
var Classes = []Class{Deadlock, Serialization, Timeout, Connection, Resource, Config, Bug}

// Error is a failed operation of a store.
type Error struct {
	Op    string // what failed, as a bare verb phrase: "purchase", "connect", "copy customers"
	Class Class
	Code  string // SQLSTATE or SQL Server error number; empty where the server sent none
	Hint  string // what a user can do about it; may be empty
	// the server is starting, such as recovering after a crash, and takes no sessions until then
	NotYet bool
	// the connection was lost after a commit may have been sent: the work is there whole, or not at
	// all
	InDoubt bool
	Err     error
}

// Cause is what the code of a server's error says, and what a user can do about it.
type Cause struct {
	Class Class
	Hint  string
}

// Causes are those of an engine, by codes.
type Causes map[string]Cause

// ReadCauses reads a table of classes, codes and hints. A code stands once, or the program is
// wrong.
func ReadCauses(table string) Causes {
	causes := Causes{}
	for _, row := range datatable.Rows(table, 3) {
		for code := range strings.FieldsSeq(row[1]) {
			if _, twice := causes[code]; twice {
				panic("two causes of error " + code)
			}
			causes[code] = Cause{Class(row[0]), row[2]}
		}
	}
	return causes
}

// Find gives the cause of a code; of an SQLSTATE that the table has not, that of its class, which
// is its first two characters.
func (c Causes) Find(code string) Cause {
	cause, known := c[code]
	if !known {
		cause = c[code[:min(2, len(code))]]
	}
	return Cause{cmp.Or(cause.Class, Bug), cause.Hint}
}

// FindDialError is why no connection to a server could be made, and what a user can do about it;
// nil where the network does not say.
func FindDialError(err error) (hint string, why error) {
	if name, ok := errors.AsType[*net.DNSError](err); ok {
		return "correct the host of the target", name
	}
	dial, ok := errors.AsType[*net.OpError](err)
	switch {
	case !ok || dial.Op != "dial":
		return "", nil
	case errors.Is(dial, syscall.EMFILE):
		return "let this process open more files: ulimit -n, or LimitNOFILE of a service", dial
	}
	return "start the server, or correct the host and port of the target", dial
}

// maxCause is how much of a cause is told, in bytes: a server may say megabytes, and logs and
// terminals are for people.
const maxCause = 4 << 10

// Error gives the operation, the cause, its code and the hint.
func (e *Error) Error() string {
	cause := fmt.Sprint(e.Err)
	if len(cause) > maxCause {
		cause = fmt.Sprintf("%s… (%d bytes in all)",
			strings.ToValidUTF8(cause[:maxCause], ""), len(cause))
	}
	s := e.Op + ": " + cause
	if e.Code != "" {
		s += " (" + e.Code + ")"
	}
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// Unwrap gives the engine's own error.
func (e *Error) Unwrap() error { return e.Err }

// AwaitStart makes a try of something that takes a session, again each second while the server
// takes none yet. say is told once why it waits. Where a pause is cut short the error is that of
// the last try.
func AwaitStart(pause func(time.Duration) bool, say func(error), try func() error) error {
	err := try()
	starting := func() bool {
		e, ok := errors.AsType[*Error](err)
		return ok && e.NotYet
	}
	if starting() {
		say(err)
	}
	for starting() && pause(time.Second) {
		err = try()
	}
	return err
}

// Classify is the class of an error that a Database or Session returned; Bug where it is none of
// theirs.
func Classify(err error) Class {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Class
	}
	return Bug
}

// Fail is an error of the class that ds2 itself finds: what failed, what a user can do about it,
// and why.
func (c Class) Fail(op, hint, why string, args ...any) error {
	return &Error{Op: op, Class: c, Hint: hint, Err: fmt.Errorf(why, args...)}
}

// Refuse is an error of class Config: what cannot be done as it was asked for, what a user can do
// instead, and why.
func Refuse(op, hint, why string, args ...any) error { return Config.Fail(op, hint, why, args...) }
