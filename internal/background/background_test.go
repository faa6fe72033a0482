package background

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/store"
)

// simulated is a server that reads at a speed, and breaks at times.
type simulated struct {
	store.Database
	request time.Duration // that each takes
	broken  func(at time.Duration) error
	start   time.Time
	open    int
}

func (s *simulated) Label() string { return "simulated" }

func (s *simulated) OpenScrub(context.Context) (store.Reader, error) {
	if err := s.broken(time.Since(s.start)); err != nil {
		return nil, err
	}
	s.open++
	return (*simulatedReader)(s), nil
}

type simulatedReader simulated

func (s *simulatedReader) Read(context.Context) (store.Read, error) {
	time.Sleep(s.request)
	read := store.Read{Bytes: store.ScrubRequest, Device: store.ScrubRequest / 2}
	return read, s.broken(time.Since(s.start))
}

func (s *simulatedReader) Close() { s.open-- }

var errBroken = &store.Error{
	Op:    "read",
	Class: store.Connection,
	Err:   errors.New("the server closed the connection"),
}

func TestPace(t *testing.T) {
	const rate, slow = 1e6, 1e4
	never := func(time.Duration) error { return nil }
	between := func(from, to time.Duration, err error) func(time.Duration) error {
		return func(at time.Duration) error {
			if at >= from && at < to {
				return err
			}
			return nil
		}
	}
	for _, c := range []struct {
		why      string
		rate     float64
		request  time.Duration
		broken   func(time.Duration) error
		seconds  float64 // in which it reads at the rate, of 60
		failures int
	}{
		{"requests are spread evenly", rate, 5 * time.Millisecond, never, 60, 0},
		{"a request takes more than a second's bytes", slow, 5 * time.Millisecond, never, 60, 0},
		{
			"drives that are too slow are read as fast as they are",
			rate, time.Second, never, 60 * store.ScrubRequest / rate, 0,
		},
		{
			"a server that is gone for 20 s is connected to again, and what was missed is not made up for",
			rate, 5 * time.Millisecond, between(20*time.Second, 40*time.Second, errBroken), 40, 20,
		},
		{
			"after a request that failed it goes on",
			rate, 5 * time.Millisecond, between(20*time.Second, 21*time.Second, errors.New("bad block")), 60, 1,
		},
	} {
		t.Run(c.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &simulated{request: c.request, broken: c.broken, start: time.Now()}
				scrubs, err := NewScrubs([]store.Database{s}, c.rate, slog.New(slog.DiscardHandler))
				require.NoError(t, err)
				scrubs.Start()
				time.Sleep(time.Minute)
				scrubs.Close()
				require.Len(t, scrubs.Results(), 1)
				x := scrubs.Results()[0]
				near := max(0.03*c.rate*60, store.ScrubRequest)
				assert.InDelta(t, c.seconds*c.rate, x.Bytes, near, "bytes in a minute")
				assert.InDelta(t, 60, x.Seconds, 1.1)
				assert.Equal(t, c.failures, x.Failures)
				assert.Equal(t, c.failures > 0, x.Error != "", x.Error)
				assert.True(
					t,
					x.Device != nil && *x.Device == x.Bytes/2,
					"from drives %v of %d",
					x.Device,
					x.Bytes,
				)
				assert.Equal(t, 0, s.open, "connections are left")
			})
		})
	}
}

func TestEnginesWithout(t *testing.T) {
	_, err := NewScrubs([]store.Database{nothing{}}, 1, nil)
	assert.Equal(t, store.Config, store.Classify(err), "%v", err)
}

type nothing struct{ store.Database }

func (nothing) Label() string  { return "nothing" }
func (nothing) Engine() string { return "nothing" }
