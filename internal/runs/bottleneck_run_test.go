package runs

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/diagnose"
	"ds2/internal/monitor"
	"ds2/internal/nightly"
	"ds2/internal/report"
	"ds2/internal/result"
	"ds2/internal/store"
)

// bottleneck makes a run of some seconds and gives what held it back.
func bottleneck(t *testing.T, s store.Database, change func(*Options)) *result.Bottleneck {
	t.Helper()
	o := options(t, s)
	o.Threads = 16
	o.ThinkTime.Duration = 0
	observe(t, &o, monitor.Options{})
	change(&o)
	r := recorded(t, begin(t, o), nil)
	require.NotNil(t, r.Bottleneck, "the run tells no bottleneck")
	if text, err := json.Marshal(r.Bottleneck); err == nil {
		t.Logf("%s", text)
	}
	return r.Bottleneck
}

// held tells whether the run's text, as ds2 drive prints it, names what held it back.
func held(t *testing.T, b *result.Bottleneck, what string) bool {
	t.Helper()
	var text strings.Builder
	r := &result.Record{Summary: result.Summary{Conclusion: result.Conclusion{Bottleneck: b}}}
	require.NoError(t, report.Runs(r).Text(&text, true, 0))
	return strings.Contains(text.String(), "Bottleneck: "+what+".")
}

// crowded says whether other tests took most of the CPUs: a run may then say that, and be right.
func crowded(b *result.Bottleneck) bool {
	f := b.Figures
	return f.CPUBusy != nil && f.CPUDatabase != nil && f.CPUOwn != nil &&
		*f.CPUBusy-*f.CPUDatabase-*f.CPUOwn > 0.5
}

// TestBottlenecks holds real runs back in one way after the other, and has the run say what it was,
// though other tests take the CPUs meanwhile.
func TestBottlenecks(t *testing.T) {
	nightly.Only(t, "drives for more than half a minute")
	f := newFaulty(t)
	t.Run(diagnose.Client, func(t *testing.T) {
		b := bottleneck(t, f.store, func(o *Options) { o.ThinkTime.Duration = 2 * time.Second })
		assert.True(t, held(t, b, diagnose.Client), "users that think for two seconds")
		assert.LessOrEqual(t, *b.Figures.InOperations, 0.5)
	})
	t.Run(diagnose.Network, func(t *testing.T) {
		_, err := f.proxy.Toxics.AddToxicJson(strings.NewReader(
			`{"name": "far", "type": "latency", "stream": "downstream", "attributes": {"latency": 50}}`,
		))
		require.NoError(t, err)
		defer f.proxy.Toxics.RemoveToxic(t.Context(), "far")
		away := func(o *Options) { o.Observer.Local = false }
		b := bottleneck(t, f.store, away)
		for try := 1; crowded(b) && !held(t, b, diagnose.Network) && try < 5; try++ {
			b = bottleneck(t, f.store, away)
		}
		assert.True(t, held(t, b, diagnose.Network), "a server 50 ms away")
		assert.GreaterOrEqual(t, *b.Figures.RoundTrip, 0.05)
	})
	t.Run(diagnose.Locks, func(t *testing.T) {
		// Another program locks the stock of all products, three seconds at a time.
		f.db.SetMaxIdleConns(1) // sessions that rest count too
		ctx, cancel := context.WithCancel(t.Context())
		locked := make(chan error, 1)
		go func() {
			var err error
			for ; err == nil && ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
				_, err = f.db.Exec(
					"DO $$ BEGIN LOCK TABLE inventory IN EXCLUSIVE MODE; PERFORM pg_sleep(3); END $$",
				)
			}
			locked <- err
		}()
		b := bottleneck(t, f.store, func(o *Options) {
			o.WarmupTime.Duration = 4 * time.Second
			o.RunTime.Duration = 12 * time.Second
		})
		cancel()
		require.NoError(t, <-locked)
		assert.True(t, held(t, b, diagnose.Locks), "16 users whose purchases wait for a lock")
	})
}
