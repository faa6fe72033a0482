package mailbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/workload"
)

// Plan has the users of runs work on mailbox databases.
type Plan struct {
	Request
	Parameters Parameters
	Targets    []Target
}

// Target is a database with its engine, and what was loaded into it.
type Target struct {
	Store   store.Database
	Engine  Engine
	Dataset Dataset
}

// Workload is the mailbox store on the engine of the targets.
func (p *Plan) Workload() workload.Workload {
	first := p.Targets[0]
	return Workload{Engines: map[string]Engine{first.Store.Engine(): first.Engine}}
}

// Size is that of each target.
func (p *Plan) Size() string { return p.Targets[0].Dataset.String() }

// parametersRecord are the workload's parameters in a record.
type parametersRecord struct {
	Size // of each target
	Parameters

	PerMailbox float64 `json:"iops_per_mailbox,omitempty"`
	Headroom   float64 `json:"headroom_percent,omitempty"`
	Target     float64 `json:"target_iops,omitempty"` // over all targets; 0: none
}

// stateRecord is of each target, before and after the run: records, and bytes of them and of their
// index.
type stateRecord struct {
	RecordsBefore []int64 `json:"records_before,omitempty"`
	RecordsAfter  []int64 `json:"records_after,omitempty"`
	BytesBefore   []int64 `json:"bytes_before,omitempty"`
	// unknownBytes where the server did not say
	BytesAfter []int64 `json:"bytes_after,omitempty"`
}

const unknownBytes = -1

// Describe writes the workload's parameters into the record.
func (p *Plan) Describe(a *result.Spec) {
	m := p.Parameters
	target, _ := p.TargetIOPS()
	a.Own = result.NewBlock(parametersRecord{
		Size: p.Targets[0].Dataset.Size, Parameters: m,
		PerMailbox: p.PerMailbox, Headroom: p.Headroom, Target: target,
	})
	percent := func(n int) string { return fmt.Sprintf("%d %%", n) }
	a.InWords = []result.Said{
		{Name: "profile", Value: m.Profile},
		{Name: "insert operations", Value: percent(m.Insert)},
		{Name: "delete operations", Value: percent(m.Delete)},
		{Name: "replace operations", Value: percent(m.Replace)},
		{Name: "read operations", Value: percent(m.Read)},
		{Name: "lazy commits", Value: percent(m.Lazy)},
	}
	if target > 0 {
		wanted := result.Said{Name: "IOPS target", Value: fmt.Sprint(target)}
		a.InWords = append(a.InWords, wanted)
	}
	for _, t := range p.Targets {
		a.DataSeeds = append(a.DataSeeds, t.Dataset.Seed)
	}
}

// Begin begins a run, which leaves in dir which records exist.
func (p *Plan) Begin(dir string) workload.Run {
	return &Run{
		parameters: p.Parameters,
		targets:    p.Targets,
		live:       make([]*Live, len(p.Targets)),
		dir:        dir,
	}
}

// Run is the mailbox store under way: what its users share.
type Run struct {
	parameters Parameters
	targets    []Target
	live       []*Live // of each target
	dir        string
	found      stateRecord
}

// NewUser makes a user, whose records are known from Ready on.
func (r *Run) NewUser(s workload.Seat) workload.User {
	if r.live[s.Target] == nil {
		r.live[s.Target] = NewLive(s.Of)
	}
	return &user{
		run:    r,
		target: uint16(s.Target),
		shape:  r.targets[s.Target].Dataset.makeShape(),
		share:  r.live[s.Target].ShareOf(s.Index),
		random: rand.New(rand.NewPCG(s.Seed, uint64(s.Number))),
	}
}

// Ready finds out which records the databases hold.
func (r *Run) Ready(ctx context.Context) error {
	for i, t := range r.targets {
		if err := r.findRecords(ctx, t, r.live[i]); err != nil {
			return err
		}
		records := r.live[i].CountRecords()
		users := len(r.live[i].shares)
		if records == 0 {
			return fmt.Errorf("%s holds no record: load it with ds2 load --workload mailbox",
				t.Store.Label())
		}
		if int64(users) > records {
			return fmt.Errorf("%s holds %d records, fewer than the %d users that work on them: use fewer users, or a larger database",
				t.Store.Label(), records, users)
		}
		bytes, err := t.Engine.TableBytes(ctx, t.Store)
		if err != nil {
			return err
		}
		r.found.RecordsBefore = append(r.found.RecordsBefore, records)
		r.found.BytesBefore = append(r.found.BytesBefore, bytes)
	}
	return nil
}

// infoRecords is the name in ds2_info of the note of which records there are, which comes and goes
// with the contents of a snapshot. None: those of the load. It is the target's place in a run and
// the directory of that run's record, once an audit found just its records, or recordsUnknown from
// the beginning of a run that inserts or deletes.
const (
	infoRecords    = "records"
	recordsUnknown = "unknown"
)

// findRecords adds the records of a target. Those that a load left, or a run whose record is at
// hand, are known: reading their keys just before a run would fill the server's memory, on SQL
// Server with the records themselves.
func (r *Run) findRecords(ctx context.Context, t Target, live *Live) error {
	counted, err := t.Engine.CountRecords(ctx, t.Store)
	if err != nil {
		return err
	}
	info, err := store.ReadInfo(ctx, t.Store.DB())
	if err != nil {
		return t.Store.Wrap("look at "+t.Store.Label(), err)
	}
	known, err := knownRecords(ctx, t, info[infoRecords])
	if err != nil {
		return err
	}
	if known != nil && (counted == UnknownRecords || counted == known.CountRecords()) {
		for n := range known.EndOfNumbers() {
			if known.HasRecord(n) {
				live.AddRecord(n)
			}
		}
	} else if err := readLive(ctx, t.Store, t.Dataset, live); err != nil {
		return err
	}
	if r.parameters.Mix.Insert+r.parameters.Mix.Delete == 0 {
		return nil
	}
	err = store.SetInfo(ctx, t.Store.DB(), infoRecords, recordsUnknown)
	return t.Store.Wrap("note in ds2_info that a run changes records", err)
}

// knownRecords are the records of a target as the note in ds2_info has them; nil: they are not
// known.
func knownRecords(ctx context.Context, t Target, note string) (*Live, error) {
	if note == "" {
		live := NewLive(1)
		for n := range uint64(t.Dataset.Size.CountRecords()) {
			live.AddRecord(n)
		}
		return live, nil
	}
	place, dir, _ := strings.Cut(note, " ")
	target, err := strconv.Atoi(place)
	if err != nil {
		return nil, nil // recordsUnknown
	}
	live, err := LoadLive(dir, target)
	if err != nil {
		return nil, nil // the record is on another machine, or gone
	}
	doubt := maps.Keys(live.ShareOf(0).doubt)
	there := func(n uint64, _ *Record) { live.AddRecord(n) }
	err = eachOf(ctx, t, doubt, there)
	return live, t.Store.Wrap("look for records in doubt", err)
}

// endTimeout is how long a server may take to say how large its database is after a run.
const endTimeout = 10 * time.Second

// Found is what is known of the databases before and after the run.
func (r *Run) Found() json.RawMessage { return result.NewBlock(r.found) }

// End keeps which records exist now, for the audit.
func (r *Run) End() error {
	ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	var errs error
	for i, l := range r.live {
		r.found.RecordsAfter = append(r.found.RecordsAfter, l.CountRecords())
		bytes, err := r.targets[i].Engine.TableBytes(ctx, r.targets[i].Store)
		if err != nil {
			bytes = unknownBytes // a server that is down does not say
		}
		r.found.BytesAfter = append(r.found.BytesAfter, bytes)
		if err := l.SaveRecords(r.dir, i); err != nil {
			errs = errors.Join(errs, fmt.Errorf("keep the records of the run: %w", err))
		}
	}
	return errs
}
