package ds2

import (
	"context"
	"fmt"

	"ds2/datagen"
	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/workload"
	"ds2/internal/workload/ds2/audit"
	"ds2/internal/workload/ds2/books"
	"ds2/internal/workload/ds2/calls"
)

// Plan has the users of runs order on its targets.
type Plan struct {
	Config  Config // has passed Check
	Targets []Target
	Engines calls.Engines
	Seeds   []uint64 // of the rows of the targets; nil: unknown
}

// Workload is DVD Store 2 with the size of the plan.
func (p *Plan) Workload() workload.Workload {
	return Workload{Size: &p.Config.Size, Engines: p.Engines}
}

// Size is that of each target, such as W.
func (p *Plan) Size() string { return p.Config.Size.String() }

// parameters are DS2's in a record.
type parameters struct {
	Config
	Words string `json:"words_sha256"`
}

// Describe writes the workload's parameters into the record.
func (p *Plan) Describe(a *result.Spec) {
	c := p.Config
	size := p.Config.Size
	words := p.Config.Words.Sum()
	a.DataSeeds = p.Seeds
	a.Own = result.NewBlock(parameters{c, words})
	a.InWords = []result.Said{
		{Name: "customers", Follows: "size", Value: fmt.Sprint(size.Customers)},
		{Name: "orders a month", Follows: "size", Value: fmt.Sprint(size.OrdersPerMonth)},
		{Name: "products", Follows: "size", Value: fmt.Sprint(size.Products)},
		{Name: "new customers", Value: fmt.Sprintf("%d %%", c.PctNewCustomers)},
		{Name: "browses per order", Value: fmt.Sprint(c.Searches)},
		{Name: "products per browse", Value: fmt.Sprint(c.SearchBatchSize)},
		{Name: "items per order", Value: fmt.Sprint(c.LineItems)},
		{Name: "word lists", Value: "SHA-256 " + words},
	}
}

// Added is how many orders a target holds beyond those of its load.
func (p *Plan) Added(ctx context.Context, target store.Database) (int64, error) {
	_, last, err := audit.Highest(ctx, target)
	return max(0, last-int64(p.Config.Size.OrdersPerMonth)*datagen.Months), err
}

// Begin begins a run, which keeps no files.
func (p *Plan) Begin(string) workload.Run { return &Run{config: p.Config, targets: p.Targets} }

// Target opens a connection for one user of a target.
type Target = func(context.Context) (calls.Session, error)

// Run is the DVD Store 2 under way: what its users share.
type Run struct {
	config  Config
	targets []Target
	books   *books.Books // nil: none are kept
}

// Keep has acknowledged purchases written into a journal.
func (r *Run) Keep(j workload.Journal) { r.books = books.New(j) }

// NewUser makes the user of a seat.
func (r *Run) NewUser(s workload.Seat) workload.User {
	return &User{
		run:    r,
		target: s.Target,
		tally:  s.Tally,
		draws:  NewDraws(r.config, s.Seed, uint64(s.Number)),
	}
}

// Ready has nothing to do: the databases are as they were loaded, but for what runs have added.
func (r *Run) Ready(context.Context) error { return nil }

// End has nothing to keep: the marks say what a run added.
func (r *Run) End() error { return nil }

// Look makes a plan for targets that were loaded to the end: all of one size, the one asked for
// where one is, and made of the words in c, whose size is filled in.
func Look(
	targets []store.Database,
	infos []store.Info,
	engines calls.Engines,
	want *datagen.Size,
	c Config,
) (*Plan, error) {
	p := &Plan{Config: c, Engines: engines}
	for i, target := range targets {
		label := target.Label()
		connect, ok := engines[target.Engine()]
		if !ok {
			return nil, fmt.Errorf("look at %s: ds2 has no calls of DVD Store 2 on %s",
				label, target.Engine())
		}
		p.Targets = append(p.Targets, func(ctx context.Context) (calls.Session, error) {
			return connect(ctx, target)
		})
		size, seed, err := audit.Loaded(infos[i])
		if err != nil {
			return nil, err
		}
		if want != nil && *want != size {
			return nil, fmt.Errorf("look at %s: it holds a dataset of size %s, not %s; leave out the size, or load the one you want with ds2 load", label, size, *want)
		}
		if sum, ok := infos[i][audit.InfoWords]; ok && sum != p.Config.Words.Sum() {
			return nil, fmt.Errorf("look at %s: its titles and actors were made from other words; name the file that it was loaded with by --words", label)
		}
		if i > 0 && size != p.Config.Size {
			const format = "%s holds a dataset of size %s and %s one of size %s: targets driven together must be alike"
			return nil, fmt.Errorf(format, targets[0].Label(), p.Config.Size, label, size)
		}
		p.Config.Size = size
		p.Seeds = append(p.Seeds, seed)
	}
	return p, nil
}
