package mailbox

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"ds2/internal/workload"
)

// Parameters are what shapes the operations of a run.
type Parameters struct {
	Profile string `json:"profile"` // the name of the one that Mix was taken from
	Mix
}

// user is one virtual user. A cycle of it is a transaction.
type user struct {
	run     *Run
	target  uint16 // its index
	shape   Shape
	share   *Share
	session Session
	random  *rand.Rand

	step    Step // the operation in flight, one transaction
	lazy    bool
	inDoubt bool // the transaction may have been committed by an earlier try
}

// Connect opens the connection of the user, or another one after it was lost. What share it has of
// the records stays.
func (u *user) Connect(ctx context.Context) (err error) {
	t := u.run.targets[u.target]
	u.session, err = t.Engine.ConnectUser(ctx, t.Store)
	return err
}

func (u *user) Close(ctx context.Context) error { return u.session.Close(ctx) }

// Play draws an operation and has it carried out.
func (u *user) Play(p workload.Player) error {
	u.drawStep()
	if err := p.Do(u.step.Op); err != nil {
		if u.inDoubt {
			u.noteDoubt()
		}
		return err
	}
	return u.noteDone()
}

// drawStep draws the next transaction by the mix: an operation, a record of the user's own share,
// and whether it commits lazily. Where a share has run empty it inserts.
func (u *user) drawStep() {
	s := &u.step
	mix := &u.run.parameters.Mix
	u.inDoubt = false
	s.Op = mix.DrawOperation(u.random)
	if s.Op != Insert {
		var ok bool
		if s.Number, ok = u.share.PickRecord(u.random); !ok {
			s.Op = Insert // there is nothing left that could be read
		}
	}
	if s.Op == Insert {
		s.Number = u.share.FreshNumber()
	}
	if s.Op == Insert || s.Op == Replace {
		u.shape.FillRecord(&s.Record, s.Number, u.random.Uint32())
	} else {
		s.Record.Key = u.shape.KeyOf(s.Number)
	}
	u.lazy = mix.DrawLazy(u.random)
}

// Call carries the transaction out once, again with the same record where it is tried again.
func (u *user) Call(ctx context.Context, _ workload.Op) error {
	return u.session.Transact(ctx, &u.step, u.lazy)
}

// InDoubt has a transaction tried again whose end is not known: done twice, it has the effect of
// once.
func (u *user) InDoubt(workload.Op) bool {
	u.inDoubt = true
	return true
}

// noteDone notes what an acknowledged transaction did, and finds fault with answers that cannot be
// right.
func (u *user) noteDone() error {
	s := &u.step
	switch s.Op {
	case Insert:
		u.share.NoteInsert(s.Number)
	case Delete:
		u.share.NoteDelete(s.Number)
	case Replace:
		u.share.NoteReplace(s.Number)
	}
	switch repeated := u.inDoubt && (s.Op == Insert || s.Op == Delete); {
	case !s.Found && !repeated && s.Op == Insert:
		return fmt.Errorf("insert record %d: the database has it already: another program writes to it",
			s.Number)
	case !s.Found && !repeated:
		return fmt.Errorf("%s record %d: the database has lost it", operations[s.Op].Name, s.Number)
	case s.Op == Read:
		if err := s.Record.CheckSum(); err != nil {
			return fmt.Errorf("read record %d: %w", s.Number, err)
		}
	}
	return nil
}

// noteDoubt notes that a transaction was given up that may have been committed.
func (u *user) noteDoubt() {
	switch s := &u.step; s.Op {
	case Insert, Delete:
		u.share.NoteDoubt(s.Number)
	case Replace:
		u.share.NoteReplace(s.Number)
	}
}

// Think draws the pause after a transaction.
func (u *user) Think(mean time.Duration) time.Duration { return workload.Think(u.random, mean) }
