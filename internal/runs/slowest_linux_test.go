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
)

// TestSlowestOrders: orders that a drive held up by slow flushes of the log are laid to flushes. It makes a traced run
// during which flushes are slow again and again, and counts those of the slowest orders that they held up, by the cause
// that the run's conclusion gives them.
func TestSlowestOrders(t *testing.T) {
	nightly.Only(t, "asks what was slow of an idle machine; TestSlowest of conclude judges recorded orders")
	t.Parallel()
	drive := devicetest.MountSlow(t, "ext4", "/dev/shm", 500<<20)
	_, s := loaded(t, localpg.Options{DataDir: filepath.Join(drive.Dir, "data"), Settings: map[string]string{
		"max_wal_size": "1GB", "checkpoint_timeout": "1h", "bgwriter_lru_maxpages": "0", "autovacuum": "off",
	}}, datagen.S)
	pgtest.Exec(t, s.DB(), "CHECKPOINT")
	o := options(t, s)
	o.Driver.Threads, o.Driver.Think, o.Driver.Run = 40, 500*time.Millisecond, 9*time.Second
	trace(t, &o)
	run := begin(t, o)
	const slow = 400 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	var holds [][2]time.Time // of which the effects last a flush longer
	done := make(chan struct{})
	go func() {
		defer close(done)
		moreOrders(t, run, 1)
		for progress.Pause(ctx, 800*time.Millisecond) {
			begin := time.Now()
			drive.Delay(0, slow)
			progress.Pause(ctx, slow)
			drive.Delay(0, 0)
			holds = append(holds, [2]time.Time{begin, time.Now().Add(slow)})
		}
	}()
	sum := recorded(t, run, nil)
	cancel()
	<-done
	require.Len(t, sum.Slowest.Orders, measure.MostSlow)
	causes, all := map[string]int{}, 0
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
	t.Logf("of %d: %+v", all, causes)
	all -= causes[result.CauseProcessors] // of a machine that does something else, too
	require.GreaterOrEqual(t, all, 50)
	require.GreaterOrEqual(t, causes[result.CauseLogFlush], all*95/100, "of %d", all)
}
