package runs

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"ds2/internal/measure"
	"ds2/internal/sampling"
	"ds2/internal/store"
)

// countedStore is a store that counts how often its buffers are counted, which never are enough.
type countedStore struct {
	store.Database
	looks int
}

func (s *countedStore) Buffers(context.Context) (store.Buffers, error) {
	s.looks++
	return store.Buffers{Share: 0.1}, nil
}

// TestWarmIsDecided has a store that does not get warm: it is no longer looked at once the run has
// begun.
func TestWarmIsDecided(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &countedStore{}
		w := newWarm(t.Context(), time.Minute, false)
		done := make(chan struct{})
		go func() {
			defer close(done)
			w.watch(
				&observation{sampler: sampling.NewSampler(slog.New(slog.DiscardHandler))},
				[]store.Database{s},
			)
		}()
		time.Sleep(5 * time.Second)
		synctest.Wait()
		w.sample(measure.Sample{Phase: measure.PhaseWarmup})
		before := s.looks
		w.sample(measure.Sample{Phase: measure.PhaseRun})
		w.sample(measure.Sample{Phase: measure.PhaseRun})
		<-done
		assert.GreaterOrEqual(t, before, 2, "times that the buffers were counted in the warm-up")
		assert.Equal(t, before, s.looks, "and in all")
	})
}

// TestWarmRates: a cache that still fills shows in orders that become more and need fewer reads.
func TestWarmRates(t *testing.T) {
	column := sampling.ItemColumn(sampling.DiskReads, "sda")
	for _, tt := range []struct {
		why           string
		orders, reads func(second int) float64
		waits         string
	}{
		{"level", func(int) float64 { return 100 }, func(int) float64 { return 900 }, ""},
		{
			"a cache that fills", func(s int) float64 {
				return 100 + 2*float64(s)
			}, func(int) float64 {
				return 900
			},
			"the rate changed by +22 % in 15 s, reads relative to the rate changed by -18 %",
		},
		{"no reads", func(int) float64 { return 100 }, func(int) float64 { return 0 }, ""},
		{"no orders", func(int) float64 { return 0 }, func(int) float64 { return 900 }, ""},
	} {
		w := &warm{checkpoint: true}
		rows := sampling.Table{Columns: []string{column}}
		for s := range warmSamples + 10 {
			counts := measure.Counts{Orders: int64(tt.orders(s))}
			w.sample(measure.Sample{Phase: measure.PhaseWarmup, Counts: counts})
			if s >= 10 {
				rows.Rows = append(rows.Rows, sampling.Row{Values: []float64{tt.reads(s)}})
			}
		}
		w.record.Checkpoint = true
		w.record.Samples = warmSamples
		w.changes(&w.record, rows)
		assert.Equal(t, tt.waits, w.nameWait(), "%s: waits", tt.why)
	}
}

// TestUncountedCheckpoints: a server that counts no checkpoints is not waited on for one.
func TestUncountedCheckpoints(t *testing.T) {
	for column, waits := range map[string]bool{
		sampling.DatabaseCheckpoints: true, sampling.DatabaseCheckpointPages: false,
	} {
		w := warm{}
		rows := []sampling.Row{{Time: time.Now(), Values: []float64{0}}}
		w.checkpoints(&w.record, sampling.Table{Columns: []string{column}, Rows: rows})
		assert.Equal(t, waits, strings.Contains(w.nameWait(), "no checkpoint"), column)
		assert.False(t, w.record.Checkpoint, column)
	}
}
