package mailbox

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"ds2/internal/measure"
	"ds2/internal/workload"
)

// Parameters are what shapes the operations of a run.
type Parameters struct {
	Profile string `json:"profile"` // the name of the one that Mix was taken from
	Mix
	Batch int `json:"operations_per_transaction"`
}

// MaxBatch is the most operations that a transaction may have: each holds a record of its own in memory.
const MaxBatch = 1000

// user is one virtual user. A cycle of it is a transaction.
type user struct {
	run     *Run
	target  uint16 // its index
	shape   Shape
	share   *Share
	session Session
	random  *rand.Rand
	tally   *measure.Order

	steps   []Step // of the transaction under way
	lazy    bool
	inDoubt bool // the transaction may have been committed by an earlier try
}

func (u *user) Connect(ctx context.Context) (err error) {
	t := u.run.targets[u.target]
	u.session, err = t.Engine.Connect(ctx, t.Store)
	return err
}

func (u *user) Close(ctx context.Context) error { return u.session.Close(ctx) }

// Play draws a transaction and has it carried out. A user waits for the operations of a larger one together, so each of
// them takes as long as their transaction.
func (u *user) Play(p workload.Player) error {
	u.draw()
	op, began := Batch, time.Time{}
	if u.run.parameters.Batch == 1 {
		op = u.steps[0].Op
	} else {
		began = time.Now()
	}
	if err := p.Do(op); err != nil {
		if u.inDoubt {
			u.doubt()
		}
		return err
	}
	if op == Batch {
		took := time.Since(began)
		for i := range u.steps {
			u.tally.AddLatency(int(u.steps[i].Op), took)
		}
	}
	return u.note()
}

func (u *user) draw() {
	u.steps, u.inDoubt = u.steps[:0], false
	fresh, parameters := u.share.Fresh(), &u.run.parameters
	for len(u.steps) < parameters.Batch {
		u.steps = u.steps[:len(u.steps)+1] // what was there keeps its buffers
		s := &u.steps[len(u.steps)-1]
		s.Op, s.Found = parameters.Mix.Draw(u.random), false
		if s.Op != Insert && !u.pick(s) {
			s.Op = Insert // there is nothing left that could be read
		}
		if s.Op == Insert {
			s.Number = fresh
			fresh += u.share.step
		}
		if s.Op == Insert || s.Op == Replace {
			u.shape.Fill(&s.Record, s.Number, u.random.Uint32())
		} else {
			s.Record.Key = u.shape.Key(s.Number)
		}
	}
	u.lazy = parameters.Mix.DrawLazy(u.random)
}

// pick draws a record that the transaction does not touch yet.
func (u *user) pick(s *Step) bool {
	for range tries {
		n, ok := u.share.Pick(u.random)
		if !ok {
			return false
		}
		s.Number = n
		if !slices.ContainsFunc(u.steps[:len(u.steps)-1], func(other Step) bool { return other.Number == n }) {
			return true
		}
	}
	return false
}

func (u *user) Call(ctx context.Context, _ workload.Op) error {
	return u.session.Transact(ctx, u.steps, u.lazy)
}

// InDoubt has a transaction tried again whose end is not known: done twice, it has the effect of once.
func (u *user) InDoubt(workload.Op) bool {
	u.inDoubt = true
	return true
}

// note notes what an acknowledged transaction did, and finds fault with answers that cannot be right.
func (u *user) note() (fault error) {
	for i := range u.steps {
		s := &u.steps[i]
		switch s.Op {
		case Insert:
			u.share.Insert(s.Number)
		case Delete:
			u.share.Delete(s.Number)
		case Replace:
			u.share.Replace(s.Number)
		}
		switch repeated := u.inDoubt && (s.Op == Insert || s.Op == Delete); {
		case !s.Found && !repeated && s.Op == Insert:
			fault = fmt.Errorf("insert record %d: the database has it already: somebody else works on it", s.Number)
		case !s.Found && !repeated:
			fault = fmt.Errorf("%s record %d: the database has lost it", operations[s.Op].Name, s.Number)
		case s.Op == Read:
			if err := s.Record.Check(); err != nil {
				fault = fmt.Errorf("read record %d: %w", s.Number, err)
			}
		}
	}
	return fault
}

// doubt notes that a transaction was given up that may have been committed.
func (u *user) doubt() {
	for i := range u.steps {
		switch s := &u.steps[i]; s.Op {
		case Insert, Delete:
			u.share.Doubt(s.Number)
		case Replace:
			u.share.Replace(s.Number)
		}
	}
}

func (u *user) Think(mean time.Duration) time.Duration { return workload.Think(u.random, mean) }
