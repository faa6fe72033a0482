package driver

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"ds2/internal/progress"
	"ds2/internal/store"
	"ds2/internal/workload/ds2/calls"
)

// simulation is a target of known service times, for the clockwork of the driver. It says nothing
// about databases.
type simulation struct {
	service     time.Duration                       // of every operation
	connectTime time.Duration                       // of a connection
	most        int64                               // connections, if not 0: others wait for one
	connectErr  error                               // of every connection
	fail        func(op calls.Op, call int64) error // of a call, by number
	stall       func(op calls.Op, call int64) bool  // until the context ends
	newCustomer func(name string) (id int64, _ error)
	slow        func() time.Duration // added to a call
	noCustomers bool                 // login finds no user

	calls, purchases, open atomic.Int64
}

func (s *simulation) Connect(ctx context.Context) (calls.Session, error) {
	if !progress.Pause(ctx, s.connectTime) {
		return nil, &store.Error{Op: "connect", Class: store.Connection, Err: ctx.Err()}
	}
	if s.most > 0 && s.open.Load() >= s.most {
		<-ctx.Done()
		return nil, &store.Error{Op: "connect", Class: store.Connection, Err: ctx.Err()}
	}
	if s.connectErr != nil {
		return nil, s.connectErr
	}
	if s.fail != nil {
		if err := s.fail(calls.NumOps, 0); err != nil {
			return nil, err
		}
	}
	s.open.Add(1)
	return &simulatedSession{s}, nil
}

type simulatedSession struct{ *simulation }

func (s *simulatedSession) call(ctx context.Context, op calls.Op) error {
	n := s.calls.Add(1)
	if s.stall != nil && s.stall(op, n) {
		<-ctx.Done()
	}
	took := s.service
	if s.slow != nil {
		took += s.slow()
	}
	if !progress.Pause(ctx, took) {
		return &store.Error{Op: calls.Operations[op].Name, Class: store.Bug, Err: ctx.Err()}
	}
	if s.fail != nil {
		return s.fail(op, n)
	}
	return nil
}

func (s *simulatedSession) Login(
	ctx context.Context,
	_, _ []byte,
) (customer int64, titles int, err error) {
	if s.noCustomers {
		return 0, 0, s.call(ctx, calls.OpLogin)
	}
	return 1, 0, s.call(ctx, calls.OpLogin)
}

func (s *simulatedSession) NewCustomer(ctx context.Context, c *calls.Customer) (int64, error) {
	if err := s.call(ctx, calls.OpNewCustomer); err != nil || s.simulation.newCustomer == nil {
		return 1, err
	}
	return s.newCustomer(string(c.Username))
}

func (s *simulatedSession) Browse(ctx context.Context, b *calls.Browse) (int, error) {
	return 0, s.call(ctx, b.Op)
}

func (s *simulatedSession) Prices(ctx context.Context, items []calls.Item) error {
	for i := range items {
		items[i].Price = 1099
	}
	return s.call(ctx, calls.OpPrices)
}

func (s *simulatedSession) Purchase(ctx context.Context, p *calls.Purchase) (int64, error) {
	if p.Total == 0 {
		return 0, &store.Error{
			Op:    "purchase",
			Class: store.Bug,
			Err:   errors.New("the cart has no prices"),
		}
	}
	err := s.call(ctx, calls.OpPurchase)
	if err != nil {
		return 0, err
	}
	return s.purchases.Add(1), nil
}

func (s *simulatedSession) Close(context.Context) error {
	s.open.Add(-1)
	return nil
}
