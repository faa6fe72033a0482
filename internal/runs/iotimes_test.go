package runs

import (
	"context"
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ds2/internal/localpg"
	"ds2/internal/measure"
	"ds2/internal/store"
)

// timing is a database whose server tells, each time, of two writes of the log, and not of reads.
type timing struct {
	store.Database
	refuses error
	ended   bool
}

func (d *timing) Can() store.Capabilities {
	can := d.Database.Can()
	can.TimeIO = func(context.Context) (store.IOTimes, error) { return d, d.refuses }
	return can
}

func (d *timing) Read(context.Context) ([]measure.Distribution, error) {
	writes := measure.Counted("log write", 8*time.Millisecond, maps.All(map[int64]uint64{4000: 2}))
	return []measure.Distribution{writes}, errors.New("data read: the histogram is full")
}

func (d *timing) End(context.Context) (store.IOTimed, error) {
	d.ended = true
	return store.IOTimed{Unit: "ms", Ratio: new(1.1), Events: 80, IOs: 100}, nil
}

// TestIOTimes: times of I/Os that a server tells are those of the run's windows, and limits hold for them; what is left
// out, and that events miss I/Os, is warned of. The timing ends with the run, and where another server refuses it.
func TestIOTimes(t *testing.T) {
	t.Parallel()
	_, o := ready(t, localpg.Options{})
	s := o.Targets[0]
	d := &timing{Database: s}
	o.Targets, o.IOEvents = []store.Database{d}, true
	o.Limits = limits(t, "log write p99 < 1ms")
	r := recorded(t, begin(t, o), nil)
	require.True(t, d.ended)
	require.InEpsilon(t, 4, r.Windows[0].IO[s.Label()+" log write"].P50, .02)
	require.InEpsilon(t, .004, *r.Limits[0].Measured, .02)
	require.InEpsilon(t, 1.1, *r.IOEvents[0].Ratio, 1e-9)
	contains(t, r.Warnings, "intervals, of the last one since: data read: the histogram is full",
		"events told of 80 I/Os of "+s.Label()+", and the server counted 100: percentiles of their times are in doubt")

	d.ended = false
	refusing := &timing{Database: s, refuses: errors.New("no")}
	run := &Run{options: Options{Targets: []store.Database{d, refusing}, IOEvents: true}}
	run.stop, run.halt = context.WithCancelCause(t.Context())
	_, outcome := run.drive(t.Context(), t.Context())
	require.EqualError(t, outcome.Err, "no")
	require.True(t, d.ended)
}
