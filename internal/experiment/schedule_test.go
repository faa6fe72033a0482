package experiment

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ds2/internal/result"
)

// TestSchedule follows a bench whose restores and audits take their time, and expects its end within 30 % once both are known, and
// within what they take before.
func TestSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const restore, idleAndRun, audit = 5 * time.Minute, 23 * time.Minute, 2 * time.Minute
		s := newScript(outcome{opm: 100}, outcome{opm: 101}, outcome{opm: 102}) // each run takes 20 minutes
		b := s.bench(t.TempDir())
		b.Schedule = &Schedule{Settle: 8 * time.Minute, Length: idleAndRun}
		b.Restore = func(context.Context) error { time.Sleep(restore); return nil }
		run := b.Run
		b.Run = func(ctx context.Context, dir string, number int) (result.Summary, []string, error) {
			time.Sleep(idleAndRun - 20*time.Minute + audit)
			return run(ctx, dir, number)
		}
		const whole = 3 * (restore + 8*time.Minute + idleAndRun + audit)
		start := time.Now()
		var told []string
		judge := func() {
			want := whole - time.Since(start)
			left, known := b.Schedule.Left()
			missing := want - left
			if known && (missing < -want*3/10 || missing > want*3/10) || !known && (missing < 0 || missing > 3*(restore+audit)) {
				t.Errorf("after %s %s are said to be left (all known: %t), and it is %s", time.Since(start), left, known, want)
			}
		}
		b.Told = func(format string, args ...any) {
			if len(args) == 2 {
				if text, ok := args[1].(string); ok {
					told = append(told, text)
					judge()
				}
			}
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			if _, err := b.Do(t.Context(), nil, result.Bench{Setup: result.Setup{Runs: 3, Settle: 480}}); err != nil {
				t.Error(err)
			}
		}()
		for tick := time.NewTicker(90 * time.Second); ; {
			select {
			case <-done:
				tick.Stop()
				if time.Since(start) != whole {
					t.Errorf("it took %s, want %s", time.Since(start), whole)
				}
				const first = "restoring the database (run 1 of 3; the bench ends in about 1h33m0s and what restoring and auditing take, at "
				const last = "running (run 3 of 3; the bench ends in about 25m0s, at "
				if len(told) != 9 || !strings.HasPrefix(told[0], first) || !strings.HasPrefix(told[8], last) {
					t.Errorf("told %q", told)
				}
				return
			case <-tick.C:
				judge()
			}
		}
	})
}
