package experiment

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"ds2/internal/measure"
	"ds2/internal/monitor"
	"ds2/internal/store"
)

// countedStore is a store that counts how often its buffers are counted, which never are enough.
type countedStore struct {
	store.Store
	looks int
}

func (s *countedStore) Can() store.Capabilities {
	return store.Capabilities{Buffers: func(context.Context) (store.Buffers, error) {
		s.looks++
		return store.Buffers{Share: 0.1}, nil
	}}
}

// TestWarmIsDecided has a store that does not get warm: nobody looks at it any more when the run has begun.
func TestWarmIsDecided(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &countedStore{}
		w := &warm{most: time.Minute, decided: make(chan struct{})}
		done := make(chan struct{})
		go func() {
			defer close(done)
			w.watch(t.Context(), &observation{sampler: monitor.NewSampler(slog.New(slog.DiscardHandler))}, nil, []store.Store{s})
		}()
		time.Sleep(5 * time.Second)
		synctest.Wait()
		w.sample(measure.Sample{Phase: measure.PhaseWarmup})
		before := s.looks
		w.sample(measure.Sample{Phase: measure.PhaseRun})
		w.sample(measure.Sample{Phase: measure.PhaseRun})
		<-done
		if before < 2 || s.looks != before {
			t.Errorf("the buffers were counted %d times in the warm-up, and %d times in all", before, s.looks)
		}
	})
}
