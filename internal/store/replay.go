package store

import (
	"context"
	"time"
)

// Replayer is a server that can be made to let its log grow, and says how long it took to redo it after a crash.
type Replayer interface {
	// CheckReplay refuses what PrepareReplay would refuse, and changes nothing: a server that would not tell of its recovery, in a file of its
	// log on this machine or, where that is empty, by itself; settings that stay as they are; a user who may not change them.
	CheckReplay(ctx context.Context, bytes int64, file string) error

	// PrepareReplay puts checkpoints off until so many bytes of log stand since the last one. What it changes is noted in the database first, with
	// the run, so that whatever becomes of this ds2, RestoreSettings can set it back. It makes a checkpoint.
	PrepareReplay(ctx context.Context, run string, bytes int64, file string) (changed []string, err error)

	// RestoreSettings sets back what a replay test changed, unless it is of the run except. It tells which settings those were; none where there
	// was nothing to be set back, which is no error.
	RestoreSettings(ctx context.Context, except string) (restored []string, err error)

	// LogSinceCheckpoint tells how much log stands on the drive since the last checkpoint, which a crash would have the server redo.
	LogSinceCheckpoint(ctx context.Context) (LogStand, error)

	// Redo reads in the server's log how it redid what stood, after it was started again.
	Redo(ctx context.Context, stood LogStand, file string) (Redo, error)
}

// LogStand is what stands in the log since the last checkpoint.
type LogStand struct {
	From  string // where redo begins, in the server's words
	Bytes int64
	At    time.Time // by the server's clock; zero where Redo finds the recovery by From
}

// Redo is what a server told of its recovery.
type Redo struct {
	Bytes   int64   `json:"bytes"`
	Seconds float64 `json:"seconds"`
	From    string  `json:"from"`
	To      string  `json:"to"` // empty where the server does not tell

	// What came before and after redo, where the server tells of it.
	Analysis *float64 `json:"analysis_s,omitempty"` // of the log
	Undo     *float64 `json:"undo_s,omitempty"`     // of transactions that were under way
}
