package driver

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/measure"
	"ds2/internal/workload/ds2"
	"ds2/internal/workload/ds2/calls"
	"ds2/internal/workload/ds2/counts"
)

// instant is a target whose sessions answer at once.
type instant struct{}

func (instant) Connect(context.Context) (calls.Session, error) { return instant{}, nil }

func (instant) Login(context.Context, []byte, []byte) (calls.Login, error) {
	return calls.Login{CustomerID: 1}, nil
}
func (instant) NewCustomer(context.Context, *calls.Customer) (int64, error)        { return 1, nil }
func (instant) BrowseByCategory(context.Context, int, int) (int, error)            { return 0, nil }
func (instant) BrowseByActor(context.Context, int, []byte) (int, error)            { return 0, nil }
func (instant) BrowseByTitle(context.Context, int, []byte) (int, error)            { return 0, nil }
func (instant) Prices(context.Context, []calls.Item) error                         { return nil }
func (instant) Purchase(context.Context, *calls.Purchase) (orderID int64, _ error) { return 1, nil }
func (instant) Close(context.Context) error                                        { return nil }

// TestOrderAllocatesNothing plays orders from the draw to the record, without a store.
func TestOrderAllocatesNothing(t *testing.T) {
	plan := ds2.Plan{
		Config:  ds2.Config{Size: datagen.S, Words: datagen.DefaultWords(), PctNewCustomers: 20, Searches: 3, SearchBatchSize: 5, LineItems: 5},
		Targets: []ds2.Target{instant{}.Connect},
	}
	c := Config{
		Operations: plan.Workload().Operations(), Counts: counts.All, Play: plan.Begin(""), Targets: []string{"instant"}, Threads: 1, RampRate: 1,
		OperationTimeout: time.Minute,
	}
	d := New(c, &series{}, slog.New(slog.DiscardHandler))
	d.ctx = t.Context()
	d.stop, d.halt = context.WithCancelCause(d.ctx)
	u := d.users[0]
	require.NoError(t, u.connect())
	for range 20_000 { // until what it gathers in has grown
		u.play(time.Now())
	}
	d.meter.Sample(time.Second, make([]measure.Users, 1))
	for range 20_000 {
		u.play(time.Now())
	}
	d.meter.Sample(2*time.Second, make([]measure.Users, 1))
	if n := testing.AllocsPerRun(10_000, func() { u.play(time.Now()) }); n != 0 {
		t.Errorf("an order allocates %v times", n)
	}
}
