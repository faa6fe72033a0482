package measure

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// synthetic makes a series of one-second samples after ramp seconds of PhaseRamp, with rate(t)
// orders in the second t and autocorrelated noise: each second's deviation keeps 70 % of the one
// before, as a loaded database's does.
func synthetic(seconds, ramp int, noise float64, rate func(t float64) float64) Series {
	random := rand.New(rand.NewPCG(1, 2))
	deviation := 0.0
	s := everySecond(seconds, func(second int) float64 {
		deviation = 0.7*deviation + noise*math.Sqrt(1-0.7*0.7)*random.NormFloat64()
		return math.Max(0, rate(float64(second))*(1+deviation))
	})
	for i := range ramp {
		s.Samples[i].Phase = PhaseRamp
	}
	return s
}

func constant(level float64) func(float64) float64 { return step(level, 0, level) }

// step is a rate that is another from a time on.
func step(before, at, after float64) func(float64) float64 {
	return func(t float64) float64 {
		if t < at {
			return before
		}
		return after
	}
}

// TestSteadiness judges the window from 1,000 s to 1,200 s, or the whole run of 1,200 s, of series
// with known answers.
func TestSteadiness(t *testing.T) {
	whole := Span{0, 1200 * time.Second}
	late := Span{1000 * time.Second, 1200 * time.Second}
	for _, c := range []struct {
		name   string
		rate   func(t float64) float64
		span   Span
		steady bool
	}{
		{"constant", constant(1000), late, true},
		{"a ramp before the window", func(t float64) float64 {
			return math.Min(1000, 2*t)
		}, late, true},
		{"a ramp within the window", func(t float64) float64 {
			return math.Min(1000, 2*t)
		}, whole, false},
		{"a drift of 5 % in the window", func(t float64) float64 {
			return 1000 + 50*(t-1000)/200
		}, late, true},
		{"a drift of 20 % in the window", func(t float64) float64 {
			return 1000 + 200*(t-1000)/200
		}, late, false},
		{"a fall of 20 % in the window", func(t float64) float64 {
			return 1000 - 200*(t-1000)/200
		}, late, false},
		{"a step of 3 %", step(1000, 1100, 1030), late, true},
		{"a step of 15 %", step(1000, 1100, 1150), late, false},
		{
			"a dip that comes back", func(t float64) float64 {
				return step(1000, 1080, step(700, 1120, 1000)(t))(t)
			},
			late, false,
		},
		{"checkpoints every 30 s that cost a third for 10 s", sawtooth(30, 10), late, true},
		{"checkpoints every 30 s over the whole run", sawtooth(30, 10), whole, true},
		{"checkpoints so rare that the window sees one", sawtooth(600, 100), late, false},
		{"single seconds without orders", outliers, late, true},
		{"no orders", constant(0), late, false},
	} {
		w, err := synthetic(1200, 0, 0.05, c.rate).Window("w", c.span)
		require.NoError(t, err, c.name)
		assert.Equal(t, c.steady, w.Steady.Verdict, "%s: %+v", c.name, w.Steady)
	}
}

// sawtooth is a rate that falls by a third for the last seconds of every period.
func sawtooth(period, slow float64) func(float64) float64 {
	return func(t float64) float64 {
		if math.Mod(t, period) >= period-slow {
			return 667
		}
		return 1000
	}
}

func outliers(t float64) float64 {
	if int(t)%50 == 49 {
		return 0
	}
	return 1000
}

// TestAuto looks for the steady part of runs of 1,200 s.
func TestAuto(t *testing.T) {
	for _, c := range []struct {
		name     string
		rate     func(t float64) float64
		from, to float64 // bounds of where the steady part begins
		steady   bool    // there is one
	}{
		{"constant from the start", constant(1000), 0, 60, true},
		{"a ramp of 200 s", func(t float64) float64 { return math.Min(1000, 5*t) }, 150, 260, true},
		{
			"a cache that fills, with a time constant of 100 s",
			func(t float64) float64 { return 1000 * (1 - 0.5*math.Exp(-t/100)) }, 100, 500, true,
		},
		{"a step up at 300 s", step(700, 300, 1000), 290, 330, true},
		{"a burst before the throttle sets in at 300 s", step(1500, 300, 1000), 290, 330, true},
		{"a step up at 900 s: too late", step(700, 900, 1000), 0, 0, false},
		{"a drift that never ends", func(t float64) float64 { return 500 + t/2 }, 0, 0, false},
		{"a fall that never ends", func(t float64) float64 { return 1500 - t/2 }, 0, 0, false},
		{"checkpoints every 60 s", sawtooth(60, 20), 0, 120, true},
		{"single seconds without orders", outliers, 0, 120, true},
		{"a stall of 5 s at 900 s", func(t float64) float64 {
			if t >= 900 && t < 905 {
				return 0
			}
			return 1000
		}, 0, 600, true},
	} {
		s := synthetic(1200, 10, 0.05, c.rate)
		span, found := s.Steady()
		require.Equal(t, c.steady, found, "%s: %v", c.name, span)
		if found {
			middle := (c.from + c.to) / 2
			assert.InDelta(t, middle, span.From.Seconds(), c.to-middle, c.name)
			assert.Equal(t, 1200*time.Second, span.To, c.name)
		}
		w, err := s.Compute(WindowSpec{Name: "auto", Auto: true})
		require.NoError(t, err, c.name)
		assert.Equal(t, c.steady, w.Steady.Verdict, "%s: %+v", c.name, w.Steady)
	}
	span, ok := synthetic(40, 0, 0.05, constant(1000)).Steady()
	assert.False(t, ok, "Steady = %v of 40 s, which is too short to tell", span)
}

// TestSteadyCycles: the steady part of runs with checkpoint cycles, whose rate falls by half in the
// second half of each, begins at once, or within a cycle of the end of a start-up of a minute; by
// the rates as they are three of four such runs never become steady.
func TestSteadyCycles(t *testing.T) {
	never := 0
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 4))
		offset := random.IntN(300)
		var s Series
		for i := range 1200 {
			if (i+offset)%300 == 0 {
				s.Cycles = append(s.Cycles, time.Duration(i)*time.Second)
			}
			rate := 10_000 * (1 + .05*random.NormFloat64())
			if (i+offset)%300 >= 150 {
				rate /= 2
			}
			if i < 60 && seed%2 == 1 {
				rate /= 3
			}
			s.Samples = append(s.Samples, Sample{
				End: time.Duration(i+1) * time.Second, Length: time.Second, Phase: PhaseRun,
				Counts: Counts{Orders: int64(rate)},
			})
		}
		span, ok := s.Steady()
		switch {
		case !ok:
			never++
		case seed%2 == 1:
			assert.True(t, span.From >= 40*time.Second && span.From <= 360*time.Second,
				"seed %d: from %v", seed, span.From)
		}
	}
	assert.LessOrEqual(t, never, 4, "never steady")
}
