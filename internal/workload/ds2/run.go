package ds2

import (
	"context"

	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/workload"
	"ds2/internal/workload/ds2/books"
	"ds2/internal/workload/ds2/calls"
)

var (
	_ workload.Plan   = (*Plan)(nil)
	_ workload.Run    = (*Run)(nil)
	_ workload.Keeper = (*Run)(nil)
)

// Plan has the users of runs order on its targets.
type Plan struct {
	Config  Config // has passed Check
	Targets []Target
	Engines calls.Engines
	Seeds   []uint64 // of the rows of the targets; nil: unknown
}

// Workload is DS2.
func (p *Plan) Workload() workload.Workload {
	return Workload{Size: &p.Config.Size, Engines: p.Engines}
}

// Size is that of the dataset.
func (p *Plan) Size() string { return p.Config.Size.String() }

// Describe adds the size and DS2's parameters.
func (p *Plan) Describe(s *result.Summary) {
	c := p.Config
	s.Size, s.DataSeeds = c.Size.String(), p.Seeds
	s.Customers, s.OrdersPerMonth, s.Products = int64(c.Size.Customers), int64(c.Size.OrdersPerMonth), int64(c.Size.Products)
	s.Parameters.PctNewCustomers = c.PctNewCustomers
	s.Parameters.Searches = c.Searches
	s.Parameters.SearchBatchSize = c.SearchBatchSize
	s.Parameters.LineItems = c.LineItems
	s.Parameters.Words = c.Words.Sum()
}

// What an order makes a database grow by, and how many a user may make a second where nothing holds it back.
const (
	orderBytes   = 2_000
	ordersOfUser = 20
)

// Growth is that by new orders.
func (p *Plan) Growth(users int) float64 { return float64(users) * ordersOfUser * orderBytes }

// Begin begins a run, which keeps no files.
func (p *Plan) Begin(string) workload.Run { return &Run{config: p.Config, targets: p.Targets} }

// Run is one run of a plan.
type Run struct {
	config  Config
	targets []Target
	books   *books.Books // nil: nobody keeps them
}

// Keep has the users note what the targets acknowledge.
func (r *Run) Keep(j workload.Journal) { r.books = books.New(j) }

// Cuts compares what they noted with what the first target holds after each cut of its server.
func (r *Run) Cuts(ctx context.Context, target store.Store, before result.Marks) (workload.Cuts, error) {
	return books.NewCuts(ctx, r.books, target, r.config.Size.Products, before)
}

// Target is a database that users order from.
type Target interface {
	Connect(ctx context.Context) (calls.Session, error)
}

// bound is a store with the calls on its engine.
type bound struct {
	store  store.Store
	engine calls.Engine
}

// Bind makes a target of a store by the calls on its engine.
func Bind(s store.Store, engine calls.Engine) Target { return bound{s, engine} }

func (b bound) Connect(ctx context.Context) (calls.Session, error) {
	return b.engine.Connect(ctx, b.store)
}

// NewUser makes a customer.
func (r *Run) NewUser(s workload.Seat) workload.User {
	return &User{run: r, target: s.Target, tally: s.Tally, draws: NewDraws(r.config, s.Seed, uint64(s.Number))}
}

// Ready has nothing to do: the databases are as they were loaded, but for what runs have added.
func (r *Run) Ready(context.Context) error { return nil }

// End has nothing to keep: the marks say what a run added.
func (r *Run) End() error { return nil }

// Targets are the targets that stores are.
func Targets[T Target](stores []T) []Target {
	targets := make([]Target, len(stores))
	for i, s := range stores {
		targets[i] = s
	}
	return targets
}
