package runs

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/device/devicetest"
	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/measure"
	"ds2/internal/nightly"
	"ds2/internal/progress"
	"ds2/internal/result"
	"ds2/internal/store"
)

// TestSlowestOrders: orders that a drive held up by slow flushes of the log are laid to flushes, and orders that a lock
// held up are not.
func TestSlowestOrders(t *testing.T) {
	nightly.Only(t, "asks what was slow of an idle machine; TestSlowest of conclude judges recorded orders")
	t.Parallel()
	drive := devicetest.MountSlow(t, "ext4", "/dev/shm", 500<<20)
	_, s := loaded(t, localpg.Options{DataDir: filepath.Join(drive.Dir, "data"), Settings: map[string]string{
		"max_wal_size": "1GB", "checkpoint_timeout": "1h", "bgwriter_lru_maxpages": "0", "autovacuum": "off",
	}}, datagen.S)
	pgtest.Exec(t, s.DB(), "CHECKPOINT")
	const slow, held = 400 * time.Millisecond, 2200 * time.Millisecond

	flushed, of := slowed(t, s, 9*time.Second, slow, func(ctx context.Context) {
		drive.Delay(0, slow)
		progress.Pause(ctx, slow)
		drive.Delay(0, 0)
	})
	t.Logf("flushes: %+v", flushed)
	of -= flushed[result.CauseProcessors] // of a machine that does something else, too
	require.GreaterOrEqual(t, of, 50)
	require.GreaterOrEqual(t, flushed[result.CauseLogFlush], of*95/100, "of %d", of)

	locked, of := slowed(t, s, 18*time.Second, 0, func(ctx context.Context) {
		tx, err := s.DB().BeginTx(ctx, nil)
		if err != nil {
			return // the run is over
		}
		_, _ = tx.ExecContext(ctx, "LOCK TABLE orders IN ACCESS EXCLUSIVE MODE")
		progress.Pause(ctx, held)
		_ = tx.Rollback()
	})
	t.Logf("a lock: %+v", locked)
	require.GreaterOrEqual(t, of, 50)
	require.Zero(t, locked[result.CauseLogFlush])
	require.Positive(t, locked[result.CauseLock]) // as many as the server's samples, once a second, saw to wait
}

// slowed makes a traced run during which something holds orders up again and again, and its effects last a time longer
// than itself. It counts those of the slowest orders that were held up, by the cause that the run's conclusion gives
// them, and says how many there are.
func slowed(
	t *testing.T, s store.Database, length, lasts time.Duration, hold func(context.Context),
) (causes map[string]int, all int) {
	t.Helper()
	o := options(t, s)
	o.Driver.Threads, o.Driver.Think, o.Driver.Run = 40, 500*time.Millisecond, length
	trace(t, &o)
	run := begin(t, o)
	ctx, cancel := context.WithCancel(t.Context())
	var holds [][2]time.Time
	done := make(chan struct{})
	go func() {
		defer close(done)
		moreOrders(t, run, 1)
		for progress.Pause(ctx, 800*time.Millisecond) {
			begin := time.Now()
			hold(ctx)
			holds = append(holds, [2]time.Time{begin, time.Now().Add(lasts)})
		}
	}()
	sum := recorded(t, run, nil)
	cancel()
	<-done
	require.Len(t, sum.Slowest.Orders, measure.MostSlow)
	causes = map[string]int{}
	for _, order := range sum.Slowest.Orders {
		at := func(s float64) time.Time { return sum.Start.Add(measure.Seconds(s)) }
		from, to := at(order.OperationFrom), at(order.OperationTo)
		for _, h := range holds {
			both := min(to.Sub(h[0]), h[1].Sub(from), h[1].Sub(h[0]))
			if h[0].Before(to) && h[1].After(from) && both >= to.Sub(from)/2 {
				causes[order.Cause]++
				all++
				break
			}
		}
	}
	return causes, all
}
