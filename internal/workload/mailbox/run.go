package mailbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/workload"
)

var (
	_ workload.Plan     = (*Plan)(nil)
	_ workload.Targeted = (*Plan)(nil)
	_ workload.Run      = (*Run)(nil)
)

// Plan has the users of runs work on mailbox databases.
type Plan struct {
	Parameters Parameters // have passed Check
	Targets    []Target

	PerMailbox float64 // IOPS; 0: there is no target
	Headroom   float64 // percent by which the target is higher
	Closed     bool    // users work as fast as they can, also where there is a target

	last *Run // that was begun
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

// Target is the IOPS that all mailboxes take together; 0: none were named.
func (p *Plan) Target() float64 {
	return p.PerMailbox * (1 + p.Headroom/100) * float64(p.Targets[0].Dataset.Size.Mailboxes*len(p.Targets))
}

// TargetIOPS is the target of a run that is paced.
func (p *Plan) TargetIOPS() float64 {
	if p.Closed {
		return 0
	}
	return p.Target()
}

// Describe adds the parameters.
func (p *Plan) Describe(s *result.Summary) {
	s.Workload, s.Size = Name, p.Size()
	d, x := p.Targets[0].Dataset, p.Parameters
	s.Mailbox = &result.Mailbox{
		Mailboxes: d.Size.Mailboxes, MailboxBytes: d.Size.MailboxBytes,
		Profile: x.Profile, Insert: x.Mix.Insert, Delete: x.Mix.Delete, Replace: x.Mix.Replace, Read: x.Mix.Read, Lazy: x.Mix.Lazy, Batch: x.Batch,
		PerMailbox: p.PerMailbox, Headroom: p.Headroom, Target: p.Target(),
	}
	for _, t := range p.Targets {
		s.DataSeeds = append(s.DataSeeds, t.Dataset.Seed)
	}
}

// operationsOfUser is how many operations a user may carry out a second: one waits some 10 ms for its drive.
const operationsOfUser = 100

// Growth is that by the records that are inserted and not deleted. The pages of others are used again.
func (p *Plan) Growth(users int) float64 {
	operations := float64(users) * operationsOfUser
	if target := p.TargetIOPS(); target > 0 {
		operations = target / float64(len(p.Targets)) // one takes an I/O or more
	}
	return operations * float64(max(p.Parameters.Mix.Insert-p.Parameters.Mix.Delete, 0)) / 100 * recordBytes
}

// Begin begins a run, which leaves in dir which records exist.
func (p *Plan) Begin(dir string) workload.Run {
	p.last = &Run{parameters: p.Parameters, targets: p.Targets, live: make([]*Live, len(p.Targets)), dir: dir}
	return p.last
}

// Run is one run of a plan.
type Run struct {
	parameters Parameters
	targets    []Target
	live       []*Live // of each target
	dir        string
	keeper     *keeper // nil: nobody keeps a journal

	// Of each target: before the run, and after it.
	records, recordsAfter, bytes, bytesAfter []int64
}

// NewUser makes a user, whose records are known from Ready on.
func (r *Run) NewUser(s workload.Seat) workload.User {
	if r.live[s.Target] == nil {
		r.live[s.Target] = NewLive(s.Of)
	}
	t := r.targets[s.Target]
	connect := func(ctx context.Context) (Session, error) { return t.Engine.Connect(ctx, t.Store) }
	u := newUser(r.parameters, t.Dataset.shape(), r.live[s.Target].Share(s.Index), s, connect)
	u.keeper = r.keeper
	return u
}

// Ready reads which records the databases hold.
func (r *Run) Ready(ctx context.Context) error {
	for i, t := range r.targets {
		if err := readLive(ctx, t.Store, t.Dataset, r.live[i]); err != nil {
			return err
		}
		if r.live[i].Records() == 0 {
			return fmt.Errorf("%s holds no record: load it with ds2 load --workload mailbox", t.Store.Label())
		}
		if users := int64(len(r.live[i].shares)); users*int64(r.parameters.Batch) > r.live[i].Records() {
			return fmt.Errorf("%s holds %d records, fewer than %d users with %d operations in a transaction work on at once: take fewer of them, or a larger database",
				t.Store.Label(), r.live[i].Records(), users, r.parameters.Batch)
		}
		bytes, err := t.Engine.Bytes(ctx, t.Store)
		if err != nil {
			return err
		}
		r.records, r.bytes = append(r.records, r.live[i].Records()), append(r.bytes, bytes)
	}
	return nil
}

// endTimeout is how long a server may take to say how large its database is after a run.
const endTimeout = 10 * time.Second

// describe adds what is known of the databases before and after the run.
func (r *Run) describe(m *result.Mailbox) {
	m.RecordsBefore, m.RecordsAfter, m.BytesBefore, m.BytesAfter = r.records, r.recordsAfter, r.bytes, r.bytesAfter
}

// End keeps which records exist now, for the audit.
func (r *Run) End() error {
	ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	var errs error
	for i, l := range r.live {
		l.Settle()
		r.recordsAfter = append(r.recordsAfter, l.Records())
		if bytes, err := r.targets[i].Engine.Bytes(ctx, r.targets[i].Store); err == nil { // a server that is down does not say
			r.bytesAfter = append(r.bytesAfter, bytes)
		}
		if err := l.Save(r.dir, i); err != nil {
			errs = errors.Join(errs, fmt.Errorf("keep the records of the run: %w", err))
		}
	}
	return errs
}
