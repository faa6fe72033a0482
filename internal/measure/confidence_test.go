package measure

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// autoregressive makes a run phase of one-second samples whose long-run mean is level orders a second, with noise of
// 5 % of which phi is left from each second to the next.
func autoregressive(random *rand.Rand, seconds int, phi float64, level func(t float64) float64) Series {
	s := Series{Samples: make([]Sample, seconds)}
	noise := random.NormFloat64()
	for i := range s.Samples {
		noise = phi*noise + math.Sqrt(1-phi*phi)*random.NormFloat64()
		s.Samples[i] = Sample{
			End:    time.Duration(i+1) * time.Second,
			Length: time.Second,
			Phase:  PhaseRun,
			Counts: Counts{Orders: int64(math.Round(level(float64(i)) + 500*noise))},
		}
	}
	return s
}

// TestConfidenceIntervals draws 1,000 runs a case, of which the long-run mean is known: where 95 % intervals are given,
// they must hold it. A run that is too short for its noise must say so, rather than be wrong.
func TestConfidenceIntervals(t *testing.T) {
	if testing.Short() {
		t.Skip("draws runs for half a minute")
	}
	const runs = 1000
	for _, c := range []struct {
		run, window int
		phi         float64
		held        float64 // at least this share of the intervals
		given       float64 // at least this share of the runs has one
		wider       float64 // than 20 batch means of the window without regard of autocorrelation (10 in 60 s), at most
	}{
		{1200, 200, 0, .93, 1, 1.15},
		{1200, 200, .5, .93, 1, 0},
		{1200, 200, .8, .93, 1, 0},
		{1200, 200, .9, .93, 1, 0},
		{1200, 200, .95, .90, .98, 0},
		{1200, 60, 0, .93, 1, 1.15},
		{1200, 60, .9, .93, 1, 0},
		{1200, 60, .95, .90, .98, 0},
		{1200, 1200, 0, .93, 1, 1.15},
		{1200, 1200, .9, .93, 1, 0},
		{1200, 1200, .95, .90, .98, 0},
		{60, 60, 0, .93, 1, 1.15},
		{60, 60, .5, .93, .95, 0},
		{60, 60, .8, 0, 0, 0},
		{60, 60, .9, 0, 0, 0},
		{60, 60, .95, 0, 0, 0},
		{50, 50, .5, 0, 0, 0},
		{50, 50, .8, 0, 0, 0},
		{100, 100, .8, 0, 0, 0},
		{200, 200, .9, 0, 0, 0},
		{200, 200, .95, 0, 0, 0},
		{400, 400, .95, 0, 0, 0},
	} {
		random := rand.New(rand.NewPCG(3, 4))
		given, held, width := 0., 0., 0.
		for range runs {
			s := autoregressive(random, c.run, c.phi, constant(10_000))
			window := s.Samples[c.run-c.window:]
			half, err := s.ci95(window)
			if err != nil {
				if !errors.As(err, new(tooShort)) {
					t.Fatal(err)
				}
				continue
			}
			given++
			width += half
			if math.Abs(opmOf(window)-600_000) <= half {
				held++
			}
		}
		// Twenty (ten) means of independent samples have this width on average.
		plain := 60 * 500 / math.Sqrt(float64(c.window)) * 2.0930 * 0.9869
		if c.window < 200 {
			plain = 60 * 500 / math.Sqrt(float64(c.window)) * 2.2622 * 0.9727
		}
		t.Logf("window of %4d s in %4d s, φ = %.2f: %.3f of the intervals hold the mean, %.3f of the runs have one, width %.2f",
			c.window, c.run, c.phi, held/given, given/runs, width/given/plain)
		if held/given < c.held || given/runs < c.given {
			t.Errorf("want at least %v and %v", c.held, c.given)
		}
		if c.wider > 0 && width/given/plain > c.wider {
			t.Errorf("want at most %v", c.wider)
		}
		if wrong := (given - held) / runs; wrong > .08 {
			t.Errorf("%.3f of the runs have an interval that is wrong, want at most .08", wrong)
		}
	}
}

// TestConfidenceOfACycle: with checkpoints every 300 s that halve the rate for a fifth of the time, the interval of a
// window of 200 s must hold the long-run mean, wherever the window lies in the cycle.
func TestConfidenceOfACycle(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	held := 0
	const runs = 500
	for range runs {
		offset := 300 * random.Float64()
		s := autoregressive(random, 1200, .5, func(t float64) float64 {
			if math.Mod(t+offset, 300) < 60 {
				return 5000
			}
			return 10_000
		})
		window := s.Samples[1000:]
		half, err := s.ci95(window)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(opmOf(window)-60*9000) <= half {
			held++
		}
	}
	if share := float64(held) / runs; share < .93 {
		t.Errorf("%.3f of the intervals hold the mean, want .93", share)
	}
}

func opmOf(samples []Sample) float64 {
	var orders int64
	var length time.Duration
	for _, s := range samples {
		orders += s.Counts.Orders
		length += s.Length
	}
	return OrdersPerMinute(orders, length)
}

func TestNoIntervalOfAFewSeconds(t *testing.T) {
	w, err := synthetic(49, 0, 0.05, constant(1000)).Window("w", Span{0, 49 * time.Second})
	if err != nil || w.CI95 != nil || w.NoCI95 != "too short for a confidence interval: 49 samples, and it takes 50" {
		t.Errorf("interval %v of 49 samples, %q, %v", w.CI95, w.NoCI95, err)
	}
	if w.Trend != nil {
		t.Errorf("49 samples have a trend: %+v", w.Trend)
	}
}
