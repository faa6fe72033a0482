package mailbox

import (
	"context"
	"errors"
	"fmt"

	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/workload"
)

var (
	_ workload.Plan = (*Plan)(nil)
	_ workload.Run  = (*Run)(nil)
)

// Plan has the users of runs work on mailbox databases.
type Plan struct {
	Parameters Parameters // have passed Check
	Targets    []Target
}

// Target is a mailbox database.
type Target struct {
	Store   store.Store
	Engine  Engine
	Dataset Dataset
}

// Workload is the mailbox store.
func (p *Plan) Workload() workload.Workload { return Workload{} }

// Size is that of each target.
func (p *Plan) Size() string { return p.Targets[0].Dataset.String() }

// Describe adds the parameters.
func (p *Plan) Describe(s *result.Summary) {
	s.Size = p.Size()
	for _, t := range p.Targets {
		s.DataSeeds = append(s.DataSeeds, t.Dataset.Seed)
	}
}

// Begin begins a run, which leaves in dir which records exist.
func (p *Plan) Begin(dir string) workload.Run {
	return &Run{p.Parameters, p.Targets, make([]*Live, len(p.Targets)), dir}
}

// Run is one run of a plan.
type Run struct {
	parameters Parameters
	targets    []Target
	live       []*Live // of each target
	dir        string
}

// NewUser makes a user, whose records are known from Ready on.
func (r *Run) NewUser(s workload.Seat) workload.User {
	if r.live[s.Target] == nil {
		r.live[s.Target] = NewLive(s.Of)
	}
	t := r.targets[s.Target]
	connect := func(ctx context.Context) (Session, error) { return t.Engine.Connect(ctx, t.Store) }
	return newUser(r.parameters, t.Dataset.shape(), r.live[s.Target].Share(s.Index), s, connect)
}

// Ready reads which records the databases hold.
func (r *Run) Ready(ctx context.Context) error {
	for i, t := range r.targets {
		if err := readLive(ctx, t.Store, t.Dataset.shape(), r.live[i]); err != nil {
			return err
		}
		if r.live[i].Records() == 0 {
			return fmt.Errorf("%s holds no record: load it with ds2 load --workload mailbox", t.Store.Label())
		}
	}
	return nil
}

// End keeps which records exist now, for the audit.
func (r *Run) End() error {
	var errs error
	for i, l := range r.live {
		if err := l.Save(r.dir, i); err != nil {
			errs = errors.Join(errs, fmt.Errorf("keep the records of the run: %w", err))
		}
	}
	return errs
}
