package tpcbtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
	"ds2/internal/workload"
)

// Plan has users of runs work on banks.
type Plan struct {
	targets []store.Database
	dataset Dataset
}

// NewPlan makes a plan for targets of which ds2_info says infos.
func NewPlan(targets []store.Database, infos []store.Info) (*Plan, error) {
	p := &Plan{targets: targets}
	for i, target := range targets {
		d, err := readDataset(infos[i])
		if err != nil {
			return nil, fmt.Errorf("look at %s: %w", target.Label(), err)
		}
		if i > 0 && d != p.dataset {
			return nil, fmt.Errorf("%s holds %s and %s %s: targets driven together must be alike",
				targets[0].Label(), p.dataset, target.Label(), d)
		}
		p.dataset = d
	}
	return p, nil
}

func (p *Plan) Workload() workload.Workload { return Workload{} }
func (p *Plan) Size() string                { return p.dataset.String() }

func (p *Plan) Describe(a *result.Spec) {
	a.Own = result.NewBlock(p.dataset)
	a.InWords = []result.Said{{Name: "branches", Value: fmt.Sprint(p.dataset.Branches)}}
}

// Begin begins a run, which keeps no files.
func (p *Plan) Begin(string) workload.Run { return &run{p} }

type run struct{ *Plan }

func (r *run) NewUser(s workload.Seat) workload.User {
	return &user{
		branches: r.dataset.Branches, target: r.targets[s.Target].(*postgres.Store),
		tally: s.Tally, random: rand.New(rand.NewPCG(s.Seed, uint64(s.Number))),
	}
}

func (*run) Ready(context.Context) error { return nil }

// End has nothing to keep: the marks say what a run added.
func (*run) End() error { return nil }

type user struct {
	branches int
	target   *postgres.Store
	tally    *measure.Order
	random   *rand.Rand
	conn     *postgres.Conn

	account, teller, branch, delta int32 // of the transfer under way
}

var transfer = postgres.Statement{Name: operations[post].Name, SQL: "SELECT tpcb_post($1, $2, $3, $4)"}

func (u *user) Connect(ctx context.Context) (err error) {
	u.conn, err = u.target.ConnectUser(ctx, transfer)
	return err
}

func (u *user) Close(ctx context.Context) error { return u.conn.Close(ctx) }

// mostDelta is the most that a transfer adds or takes away.
const mostDelta = 999_999

// Play draws a transfer and carries it out: of a teller, and of an account which is one of its branch 17 times in 20.
func (u *user) Play(p workload.Player) error {
	n := u.branches
	teller := u.random.IntN(n * tellersOfBranch)
	branch := teller / tellersOfBranch
	of := branch
	if n > 1 && u.random.IntN(20) >= 17 {
		of = (branch + 1 + u.random.IntN(n-1)) % n
	}
	account := of*accountsOfBranch + u.random.IntN(accountsOfBranch)
	u.account, u.teller, u.branch = int32(account+1), int32(teller+1), int32(branch+1)
	u.delta = u.random.Int32N(2*mostDelta+1) - mostDelta
	if err := p.Do(post); err != nil {
		return err
	}
	if d := int64(u.delta); d < 0 {
		u.tally.Own[withdrawals]++
		u.tally.Own[paidOut] -= d
	} else {
		u.tally.Own[paidIn] += d
	}
	return nil
}

// Call carries out the transfer once, by the function that is the transaction and gives the account's new balance.
func (u *user) Call(ctx context.Context, _ workload.Op) error {
	u.conn.Call(&transfer)
	u.conn.Int32(u.account)
	u.conn.Int32(u.teller)
	u.conn.Int32(u.branch)
	u.conn.Int32(u.delta)
	return u.conn.Each(ctx, true, func(row [][]byte) bool { return len(row) == 1 && len(row[0]) == 8 })
}

// InDoubt gives a transfer up: done again, it might be there twice.
func (u *user) InDoubt(workload.Op) (again bool) {
	u.tally.Own[inDoubt]++
	return false
}

func (u *user) Think(mean time.Duration) time.Duration { return workload.Think(u.random, mean) }
