package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Replayer is a server that can be made to let its log grow, and says how long it took to redo it after a crash: see
// PrepareReplay.
type Replayer interface {
	// CheckReplay refuses what would be in vain, and changes nothing: a server that would not tell of its recovery, in
	// a file of its log on this machine or, where that is empty, by itself; settings that stay as they are; a user who
	// may not change them.
	CheckReplay(ctx context.Context, bytes int64, file string) error

	// ReplaySettings are those that are to be changed so that checkpoints are put off until so many bytes of log stand
	// since the last one.
	ReplaySettings(ctx context.Context, bytes int64) ([]Setting, error)

	// Change sets settings, or back to what they were before, as ds2_info has it, and waits until they are in force.
	Change(ctx context.Context, settings []Setting, back bool) error

	// LogSinceCheckpoint tells how much log stands on the drive since the last checkpoint, which a crash would have the
	// server redo.
	LogSinceCheckpoint(ctx context.Context) (LogStand, error)

	// Redo reads in the server's log how it redid what stood, after it was started again.
	Redo(ctx context.Context, stood LogStand, file string) (Redo, error)
}

// Setting is one that a replay test changes.
type Setting struct {
	Name   string  `json:"name"`
	Value  string  `json:"value"`
	Before *string `json:"before"` // nil: nothing was set
}

// replayNote is what ds2_info keeps of a replay test, under InfoReplay.
type replayNote struct {
	Run      string    `json:"run"`
	Settings []Setting `json:"settings"`
}

func names(settings []Setting) (all []string) {
	for _, s := range settings {
		all = append(all, s.Name)
	}
	return all
}

// PrepareReplay puts checkpoints off until so many bytes of log stand since the last one, and makes a checkpoint. The
// settings that it changes, whose names it gives, are noted in the database first, with the run, so that whatever
// becomes of this ds2, RestoreSettings can set them back.
func PrepareReplay(ctx context.Context, s Database, run string, bytes int64, file string) ([]string, error) {
	r, op := s.Can().Replay, "prepare "+s.Label()+" for a replay test"
	if err := r.CheckReplay(ctx, bytes, file); err != nil {
		return nil, err
	}
	if _, err := RestoreSettings(ctx, s, ""); err != nil { // or what was before would be forgotten
		return nil, err
	}
	settings, err := r.ReplaySettings(ctx, bytes)
	if err != nil {
		return nil, s.Wrap(op, err)
	}
	if len(settings) > 0 {
		text, _ := json.Marshal(replayNote{run, settings}) // nothing but texts
		if err = SetInfo(ctx, s.DB(), InfoReplay, string(text)); err == nil {
			err = r.Change(ctx, settings, false)
		}
		if err != nil {
			_, back := RestoreSettings(context.WithoutCancel(ctx), s, "")
			return nil, errors.Join(s.Wrap(op, err), back)
		}
	}
	return names(settings), s.Can().Checkpoint(ctx)
}

// RestoreSettings sets back what a replay test changed, unless it is of the run except. It tells which settings those
// were; none where there was nothing to be set back, which is no error, or where the user may not see it, which is for
// who asks next to say.
func RestoreSettings(ctx context.Context, s Database, except string) (restored []string, err error) {
	op := "set back the settings of " + s.Label()
	info, err := ReadInfo(ctx, s.DB())
	err = s.Wrap(op, err)
	if e, ok := errors.AsType[*Error](err); ok && e.Code != "" && (e.Class == Config || e.Class == Bug) {
		return nil, nil // no such table, or no right to it
	}
	text, there := info[InfoReplay]
	if err != nil || !there {
		return nil, err
	}
	var note replayNote
	if err := json.Unmarshal([]byte(text), &note); err != nil {
		return nil, s.Wrap(op, fmt.Errorf("what ds2_info has of %s: %w", InfoReplay, err))
	}
	if except != "" && note.Run == except {
		return nil, nil
	}
	if err := s.Can().Replay.Change(ctx, note.Settings, true); err != nil {
		return nil, s.Wrap(op, err)
	}
	return names(note.Settings), s.Wrap(op, SetInfo(ctx, s.DB(), InfoReplay, ""))
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
