package ds2

import (
	"context"
	"fmt"

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

// parameters are DS2's in a record.
type parameters struct {
	Customers       int    `json:"customers"` // the three numbers of the size
	OrdersPerMonth  int    `json:"orders_per_month"`
	Products        int    `json:"products"`
	PctNewCustomers int    `json:"pct_newcustomers"`
	Searches        int    `json:"n_searches"`
	SearchBatchSize int    `json:"search_batch_size"`
	LineItems       int    `json:"n_line_items"`
	Words           string `json:"words_sha256"`
}

// Describe adds DS2's parameters.
func (p *Plan) Describe(a *result.Asked) {
	c, size, words := p.Config, p.Config.Size, p.Config.Words.Sum()
	a.DataSeeds, a.Parameters.Own = p.Seeds, result.NewBlock(parameters{
		size.Customers, size.OrdersPerMonth, size.Products,
		c.PctNewCustomers, c.Searches, c.SearchBatchSize, c.LineItems, words,
	})
	a.Parameters.InWords = []result.Said{
		{Name: "customers", Value: fmt.Sprint(size.Customers)},
		{Name: "orders a month", Value: fmt.Sprint(size.OrdersPerMonth)},
		{Name: "products", Value: fmt.Sprint(size.Products)},
		{Name: "new customers", Value: fmt.Sprintf("%d %%", c.PctNewCustomers)},
		{Name: "browses an order", Value: fmt.Sprint(c.Searches)},
		{Name: "products a browse", Value: fmt.Sprint(c.SearchBatchSize)},
		{Name: "items an order", Value: fmt.Sprint(c.LineItems)},
		{Name: "word lists", Value: "SHA-256 " + words},
	}
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

// Target opens a connection for one user of a target.
type Target = func(context.Context) (calls.Session, error)

// Run is one run of a plan.
type Run struct {
	config  Config
	targets []Target
	books   *books.Books // nil: nobody keeps them
}

// Keep has the users note what the targets acknowledge.
func (r *Run) Keep(j workload.Journal) { r.books = books.New(j) }

// Cuts compares what they noted with what the first target holds after each cut of its server.
func (r *Run) Cuts(ctx context.Context, target store.Database, before result.Marks) (workload.Cuts, error) {
	return books.NewCuts(ctx, r.books, target, r.config.Size.Products, before)
}

// NewUser makes a customer.
func (r *Run) NewUser(s workload.Seat) workload.User {
	return &User{run: r, target: s.Target, tally: s.Tally, draws: NewDraws(r.config, s.Seed, uint64(s.Number))}
}

// Ready has nothing to do: the databases are as they were loaded, but for what runs have added.
func (r *Run) Ready(context.Context) error { return nil }

// End has nothing to keep: the marks say what a run added.
func (r *Run) End() error { return nil }
