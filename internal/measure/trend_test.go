package measure

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// TestMannKendall checks against figures worked out by hand: of ten values in order all 45 pairs rise, the variance is
// 125, and z is 44 over its root.
func TestMannKendall(t *testing.T) {
	for _, c := range []struct {
		why    string
		values []float64
		want   float64
	}{
		{"rising", []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 8.303e-05},
		{"falling is the same", []float64{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, 8.303e-05},
		{"an outlier weighs no more than any other", []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 1000}, 8.303e-05},
		{"all the same", []float64{5, 5, 5, 5, 5, 5, 5, 5, 5, 5}, 1},
		{"up and down", []float64{1, 2, 1, 2, 1, 2, 1, 2, 1, 2}, 0.6761},
	} {
		if got := mannKendall(c.values); math.Abs(got-c.want) > 0.01*c.want {
			t.Errorf("%s: p = %v, want %v", c.why, got, c.want)
		}
	}
}

func TestSenSlope(t *testing.T) {
	if got := senSlope([]float64{10, 12, 14, 900, 18, 20, 22}); got != 2 {
		t.Errorf("slope %v, want 2 in spite of the outlier", got)
	}
}

// TestTrend: seconds that resemble their neighbours (an autoregressive series) must seldom pass for a trend, and a loss
// of 6 % in an hour must be seen.
func TestTrend(t *testing.T) {
	series := func(seed uint64, drift float64) []Sample {
		random := rand.New(rand.NewPCG(seed, 1))
		samples := make([]Sample, 3600)
		noise := 0.0
		for i := range samples {
			noise = 0.9*noise + 0.02*random.NormFloat64()
			rate := 1000 * (1 + noise + drift*float64(i)/3600)
			samples[i] = Sample{Length: time.Second, Counts: Counts{Orders: int64(rate)}}
		}
		return samples
	}
	const runs = 200
	false0, found := 0, 0
	for seed := range uint64(runs) {
		if trend(series(seed, 0), Steadiness{}).Found {
			false0++
		}
		if got := trend(series(seed, -0.06), Steadiness{}); got.Found && got.Percent < -3 && got.Percent > -9 {
			found++
		}
	}
	if false0 > runs/20 {
		t.Errorf("%d of %d series without a trend have one", false0, runs)
	}
	if found < runs*19/20 {
		t.Errorf("found %d of %d trends", found, runs)
	}
	if trend(make([]Sample, 19), Steadiness{}) != nil {
		t.Error("19 seconds have a trend")
	}
}

// TestTrendAndSteadiness: what a report says of the two must not contradict itself.
func TestTrendAndSteadiness(t *testing.T) {
	for _, c := range []struct {
		why           string
		rate          func(second int) float64
		steady, trend string
	}{
		{"level", func(s int) float64 { return 1000 + float64(s*7919%13) }, "steady: ", "no trend in OPM was found ("},
		{"a small loss, second by second", func(s int) float64 { return 1000 - float64(s)/20 }, "steady: ", "OPM has a trend of -5.9 % over the window ("},
		{"a large one", func(s int) float64 { return 1000 - float64(s)/5 }, "not steady: OPM drifts by -2", "OPM has a trend of -2"},
		{"the last fifth alone is higher", func(s int) float64 {
			if s >= 960 {
				return 1250
			}
			return 1000 + float64(s*7919%13) - float64(s)/100
		}, "not steady: OPM drifts by +1", "whether the drift goes on cannot be said from this window ("},
	} {
		samples := make([]Sample, 1200)
		for i := range samples {
			samples[i] = Sample{End: time.Duration(i+1) * time.Second, Length: time.Second, Counts: Counts{Orders: int64(c.rate(i))}}
		}
		steady := judge(samples)
		trend := trend(samples, steady)
		if !strings.HasSuffix(trend.Why, "significant at 0.01)") {
			t.Errorf("%s: %q does not say at which level", c.why, trend.Why)
		}
		if !strings.HasPrefix(steady.Why, c.steady) || !strings.HasPrefix(trend.Why, c.trend) {
			t.Errorf("%s: %q and %q, want %q and %q", c.why, steady.Why, trend.Why, c.steady, c.trend)
		}
	}
}

func TestSignificance(t *testing.T) {
	for p, want := range map[float64]string{
		0.0104:  "p = 0.01, not significant at 0.01",
		0.00998: "p = 0.00998, significant at 0.01",
		0.0001:  "p = 0.0001, significant at 0.01",
		0.0097:  "p = 0.0097, significant at 0.01",
		1:       "p = 1, not significant at 0.01",
	} {
		if got := Significance(p, 0.01); got != want {
			t.Errorf("Significance(%v) = %q, want %q", p, got, want)
		}
	}
}

// TestSteadinessNamesEveryRule: a window that fails both of SNIA's rules says so of both.
func TestSteadinessNamesEveryRule(t *testing.T) {
	samples := make([]Sample, 100)
	for i := range samples {
		samples[i] = Sample{Length: time.Second, Counts: Counts{Orders: int64(100 + 2*i)}}
	}
	why := judge(samples).Why
	if !strings.Contains(why, "OPM drifts by +") || !strings.Contains(why, ", and fifths of the window differ by ") {
		t.Errorf("verdict %q, want both rules", why)
	}
}
