package tpcb

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/workload"
)

var (
	_ workload.Plan = (*Plan)(nil)
	_ workload.Run  = (*run)(nil)
	_ workload.User = (*user)(nil)
)

// Connect opens a session of one user on a target.
type Connect func(ctx context.Context, target store.Database) (Session, error)

// Session is the connection of one user.
type Session interface {
	// Post carries out a transfer, and gives the account's new balance.
	Post(ctx context.Context, t Transfer) (balance int64, err error)

	// Close ends the connection.
	Close(ctx context.Context) error
}

// Transfer is one transaction.
type Transfer struct{ Account, Teller, Branch, Delta int32 }

// Plan has users of runs work on banks.
type Plan struct {
	targets []store.Database
	connect Connect
	dataset Dataset
}

// Look makes a plan for targets of which ds2_info says infos, with the calls on their engine.
func Look(targets []store.Database, infos []store.Info, engines map[string]Connect) (*Plan, error) {
	p := &Plan{targets: targets, connect: engines[targets[0].Engine()]}
	if p.connect == nil {
		return nil, fmt.Errorf("look at %s: workload %s does not run on %s", targets[0].Label(), Name, targets[0].Engine())
	}
	for i, target := range targets {
		d, err := readDataset(infos[i])
		if err != nil {
			return nil, fmt.Errorf("look at %s: %w", target.Label(), err)
		}
		if i > 0 && d != p.dataset {
			return nil, fmt.Errorf("%s holds %s and %s %s: targets driven together must be alike", targets[0].Label(), p.dataset, target.Label(), d)
		}
		p.dataset = d
	}
	return p, nil
}

// Workload is TPC-B.
func (p *Plan) Workload() workload.Workload { return Workload{} }

// Size is that of the dataset.
func (p *Plan) Size() string { return p.dataset.String() }

// Describe adds the number of branches.
func (p *Plan) Describe(a *result.Asked) {
	a.Parameters.Own = result.NewBlock(struct {
		Branches int `json:"branches"`
	}{p.dataset.Branches})
	a.Parameters.InWords = []result.Said{{Name: "branches", Value: fmt.Sprint(p.dataset.Branches)}}
}

// What a row of the history takes, and how many a user may add a second.
const (
	historyBytes    = 60
	transfersOfUser = 1000
)

// Growth is that by the history.
func (p *Plan) Growth(users int) float64 { return float64(users) * transfersOfUser * historyBytes }

// Begin begins a run, which keeps no files.
func (p *Plan) Begin(string) workload.Run { return &run{p} }

// run is one run of a plan.
type run struct{ *Plan }

// NewUser makes a user.
func (r *run) NewUser(s workload.Seat) workload.User {
	return &user{plan: r.Plan, target: r.targets[s.Target], tally: s.Tally, random: rand.New(rand.NewPCG(s.Seed, uint64(s.Number)))}
}

// Ready has nothing to do.
func (*run) Ready(context.Context) error { return nil }

// End has nothing to keep: the marks say what a run added.
func (*run) End() error { return nil }

// user is one virtual user.
type user struct {
	plan    *Plan
	target  store.Database
	tally   *measure.Order
	random  *rand.Rand
	session Session

	transfer Transfer // under way
}

// Connect opens the user's session.
func (u *user) Connect(ctx context.Context) (err error) {
	u.session, err = u.plan.connect(ctx, u.target)
	return err
}

// Close ends it.
func (u *user) Close(ctx context.Context) error { return u.session.Close(ctx) }

// mostDelta is the most that a transfer adds or takes away.
const mostDelta = 999_999

// Play draws a transfer and carries it out: of a teller, and of an account which is one of its branch 17 times in 20.
func (u *user) Play(p workload.Player) error {
	n := u.plan.dataset.Branches
	teller := u.random.IntN(n * tellersOfBranch)
	branch := teller / tellersOfBranch
	of := branch
	if n > 1 && u.random.IntN(20) >= 17 {
		of = (branch + 1 + u.random.IntN(n-1)) % n
	}
	account := of*accountsOfBranch + u.random.IntN(accountsOfBranch)
	u.transfer = Transfer{int32(account + 1), int32(teller + 1), int32(branch + 1), u.random.Int32N(2*mostDelta+1) - mostDelta}
	if err := p.Do(post); err != nil {
		return err
	}
	if d := int64(u.transfer.Delta); d < 0 {
		u.tally.Own[withdrawals]++
		u.tally.Own[paidOut] -= d
	} else {
		u.tally.Own[paidIn] += d
	}
	return nil
}

// Call carries out the transfer once.
func (u *user) Call(ctx context.Context, _ workload.Op) error {
	_, err := u.session.Post(ctx, u.transfer)
	return err
}

// InDoubt gives a transfer up: done again, it might be there twice.
func (u *user) InDoubt(workload.Op) (again bool) {
	u.tally.Own[inDoubt]++
	return false
}

// Think draws the pause after a transfer, as likely as any other up to twice the mean.
func (u *user) Think(mean time.Duration) time.Duration {
	return time.Duration(u.random.Int64N(int64(2*max(mean, 0)) + 1))
}
