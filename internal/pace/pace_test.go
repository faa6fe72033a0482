package pace_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	"ds2/internal/pace"
)

// piece is work of a kind of which a unit really takes some time; every is how many units are done when the job says so, 0: it
// never says.
type piece struct {
	kind  pace.Kind
	units float64
	unit  time.Duration
	every float64
}

// TestLeft follows simulated jobs, and expects the time left within 30 % from a tenth of the time on.
func TestLeft(t *testing.T) {
	read, check := pace.Kind{Name: "read", Prior: 1}, pace.Kind{Name: "check", Prior: 3}
	for _, c := range []struct {
		why    string
		pieces []piece
	}{
		{"one kind", []piece{{read, 1000, time.Second, 1}}},
		{"two kinds, as their priors say", []piece{{read, 1000, time.Second, 1}, {check, 1000, 3 * time.Second, 1}}},
		{"a machine a hundred times faster", []piece{{read, 1000, 10 * time.Millisecond, 1}, {check, 1000, 30 * time.Millisecond, 1}}},
		{"another kind is slower than its prior", []piece{{read, 1000, time.Second, 1}, {check, 1000, 4 * time.Second, 1}}},
		{"the kinds by turns, nothing like their priors", []piece{
			{read, 10, time.Second, 1}, {check, 10, 30 * time.Second, 1}, {read, 1000, time.Second, 1}, {check, 1000, 30 * time.Second, 1},
		}},
		{"statements that say nothing before they end", []piece{
			{read, 100, time.Second, 0}, {check, 100, 3 * time.Second, 0}, {check, 500, 3 * time.Second, 0}, {check, 500, 3 * time.Second, 0}, {read, 1000, time.Second, 0},
		}},
	} {
		synctest.Test(t, func(t *testing.T) {
			var e pace.Estimate
			var whole time.Duration
			for _, p := range c.pieces {
				e.Plan(p.kind, p.units)
				whole += time.Duration(p.units * float64(p.unit))
			}
			start := time.Now()
			judge := func() {
				share, left := e.Left()
				past := time.Since(start)
				want := whole - past
				if past < whole/10 || want < whole/100 { // the last moments count for nobody
					return
				}
				if off := left.Seconds()/want.Seconds() - 1; left < 0 || off < -0.3 || off > 0.3 {
					t.Fatalf("%s: after %s of %s, %s left were estimated: %.0f %% off", c.why, past, whole, left, 100*off)
				}
				if real := past.Seconds() / whole.Seconds(); share < 0.7*real || share > 1.3*real {
					t.Fatalf("%s: after %.2f of the time, %.2f were said to be done", c.why, real, share)
				}
			}
			for _, p := range c.pieces {
				e.Begin(p.kind, p.units)
				for range int(p.units) {
					time.Sleep(p.unit)
					if p.every > 0 {
						e.Did(p.every)
					}
					judge()
				}
			}
			e.End()
			if share, left := e.Left(); share != 1 || left != 0 {
				t.Errorf("%s: at the end %v is done, %s left", c.why, share, left)
			}
		})
	}
}

// TestTasks follows jobs of tasks, some at once, that say nothing before they end, or that a half is done after a quarter of their time.
func TestTasks(t *testing.T) {
	read, build := pace.Kind{Name: "read", Prior: 1}, pace.Kind{Name: "build", Prior: 2}
	for _, c := range []struct {
		why   string
		units []float64 // of tasks
		unit  time.Duration
		half  bool
	}{
		{"many of one size", slices.Repeat([]float64{10}, 80), 2 * time.Second, false},
		{"many, and slower than their prior", slices.Repeat([]float64{10}, 80), 5 * time.Second, false},
		{"some of several sizes", []float64{200, 180, 120, 120, 60, 30, 30, 20, 10, 10, 10, 10}, 2 * time.Second, false},
		{"of several sizes, that say a little", []float64{200, 180, 120, 120, 60, 30, 30, 20, 10, 10, 10, 10}, 2 * time.Second, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			const lanes = 4
			var e pace.Estimate
			e.Plan(read, 100)
			all := 0.0
			for _, u := range c.units {
				all += u
			}
			e.Plan(build, all)
			start := time.Now()
			e.Begin(read, 100)
			time.Sleep(100 * time.Second)
			e.Begin(build, all)
			var group errgroup.Group
			group.SetLimit(lanes)
			end := make(chan time.Duration, 1)
			go func() {
				for _, u := range c.units {
					group.Go(func() error {
						task := e.Start(u)
						takes := time.Duration(u * lanes * float64(c.unit))
						if c.half {
							time.Sleep(takes / 4)
							task.Reach(0.5)
							takes -= takes / 4
						}
						time.Sleep(takes)
						task.End()
						return nil
					})
				}
				group.Wait()
				end <- time.Since(start)
			}()
			var at, left []time.Duration
			var whole time.Duration
			for whole == 0 {
				select {
				case whole = <-end:
				case <-time.After(time.Second):
					_, l := e.Left()
					at, left = append(at, time.Since(start)), append(left, l)
				}
			}
			within, readings := 0, 0
			for i := range at {
				if at[i] < whole/10 {
					continue
				}
				readings++
				if off := left[i].Seconds()/(whole-at[i]).Seconds() - 1; -0.3 <= off && off <= 0.3 {
					within++
				}
			}
			if share := float64(within) / float64(readings); share < 0.9 {
				t.Errorf("%s: %.0f %% of %d readings are within 30 %%", c.why, 100*share, readings)
			}
		})
	}
}

// TestLeftOut takes back what need not be done, before it begins and in the middle of it.
func TestLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kind := pace.Kind{Name: "copy", Prior: 1}
		var e pace.Estimate
		e.Plan(kind, 100)
		e.Skip(kind, 20)
		other := pace.Kind{Name: "vacuum", Prior: 1} // which is left out whole
		e.Plan(other, 50)
		e.Skip(other, 50)
		e.Begin(kind, 80)
		e.Skip(kind, 40)
		if _, left := e.Left(); left >= 0 {
			t.Errorf("%s left before anything is done", left)
		}
		time.Sleep(10 * time.Second)
		e.Did(10)
		if share, left := e.Left(); share != 0.25 || left != 30*time.Second {
			t.Errorf("%v done, %s left", share, left)
		}
	})
}

// TestPriorsInSeconds asks before anything is measured: where the priors are seconds they say what is left, until the job says more.
func TestPriorsInSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		drop, copy := pace.Kind{Name: "drop", Prior: 0.5}, pace.Kind{Name: "copy", Prior: 2}
		e := pace.Estimate{Seconds: true}
		e.Plan(drop, 10)
		e.Plan(copy, 10)
		e.Begin(drop, 10)
		time.Sleep(time.Second)
		if share, left := e.Left(); share != 0.04 || left != 24*time.Second {
			t.Errorf("%v done, %s left", share, left)
		}
		time.Sleep(9 * time.Second) // twice as long as expected
		e.Begin(copy, 10)
		if _, left := e.Left(); left != 40*time.Second {
			t.Errorf("after half: %s left", left)
		}
	})
}

// TestKnown has a copy that stands still for a third of its time, as it did before: what it took before says more than its speed.
func TestKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		copy := pace.Kind{Name: "copy", Prior: 3, Known: true, Even: true}
		e := pace.Estimate{Seconds: true}
		e.Plan(copy, 100)
		e.Begin(copy, 100)
		const whole = 300 * time.Second
		start := time.Now()
		for unit := range 100 {
			if unit == 1 {
				time.Sleep(102 * time.Second)
			}
			time.Sleep(2 * time.Second)
			e.Did(1)
			if want := whole + 2*time.Second - time.Since(start); want > whole/20 {
				if _, left := e.Left(); left < 7*want/10 || left > 13*want/10 {
					t.Errorf("%d done: %s left, want %s", unit+1, left, want)
				}
			}
		}
	})
}
