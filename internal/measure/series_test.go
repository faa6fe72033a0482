package measure

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/fuzztest"
)

const s = time.Second

func TestParseWindow(t *testing.T) {
	for _, c := range []struct {
		text string
		want WindowSpec
		bad  string // part of the error
	}{
		{
			text: "1000s-1200s",
			want: WindowSpec{Name: "1000s-1200s", Span: Span{1000 * s, 1200 * s}},
		},
		{text: "1000-1200", bad: `"1000" is not a time with a unit`},
		{text: "10m-1h", want: WindowSpec{Name: "10m-1h", Span: Span{600 * s, 3600 * s}}},
		{
			text: "report=1000s-1200s",
			want: WindowSpec{Name: "report", Span: Span{1000 * s, 1200 * s}},
		},
		{text: "0-90s", want: WindowSpec{Name: "0-90s", Span: Span{0, 90 * s}}},
		{
			text: "run+1000s-1200s",
			want: WindowSpec{Name: "run+1000s-1200s", OfRun: true, Span: Span{1000 * s, 1200 * s}},
		},
		{
			text: "report=run+5s-9s",
			want: WindowSpec{Name: "report", OfRun: true, Span: Span{5 * s, 9 * s}},
		},
		{text: "auto", want: WindowSpec{Name: "auto", Auto: true}},
		{text: "steady=auto", want: WindowSpec{Name: "steady", Auto: true}},
		{text: "checkpoints=2", want: WindowSpec{Name: "checkpoints", Cycles: 2}},
		{text: "cycles = checkpoints=10", want: WindowSpec{Name: "cycles", Cycles: 10}},
		{text: "checkpoints=0", bad: `"0" is not a number of checkpoint cycles`},
		{text: "checkpoints=many", bad: `"many" is not a number of checkpoint cycles`},
		{text: "", bad: "empty name"},
		{text: "=auto", bad: "empty name"},
		{text: "1000s", bad: "use auto, checkpoints=2, or a span"},
		{text: "1200s-1000s", bad: "ends before it begins"},
		{text: "5s-5s", bad: "ends before it begins"},
		{text: "-5s-10s", bad: `"" is not a time`},
		{text: "1s-2s-3s", bad: `"2s-3s" is not a time`},
	} {
		got, err := ParseWindow(c.text)
		if c.bad != "" {
			assert.ErrorContains(t, err, c.bad)
			continue
		}
		assert.True(
			t,
			err == nil && got == c.want,
			"ParseWindow(%q) = %+v, %v; want %+v",
			c.text,
			got,
			err,
			c.want,
		)
		again, err := ParseWindow(got.String())
		assert.True(
			t,
			err == nil && again == got,
			"%q is read as %+v, %v; want %+v",
			got.String(),
			again,
			err,
			got,
		)
	}
}

func FuzzParseWindow(f *testing.F) {
	fuzztest.Run(f, func(t testing.TB, text string) {
		w, err := ParseWindow(text)
		sound := w.Name != "" && (!w.Known() || w.From >= 0 && w.To > w.From)
		assert.True(t, err != nil || sound, "ParseWindow(%q) = %+v without an error", text, w)
	}, "1000s-1200s", "auto", "a=1-2", "=-", "1h-2h3m", "checkpoints=2", "steady=auto", "run+1s-2s")
}

// steps is a run of a ramp of 10 s, a warm-up of 20 s and a run of 30 s, with 1, 2 and 3 orders a
// second.
func steps() Series {
	series := everySecond(60, func(int) float64 { return 3 })
	for i := range series.Samples[:30] {
		sample := &series.Samples[i]
		sample.Phase = PhaseWarmup
		sample.Counts.Orders = 2
		if i < 10 {
			sample.Phase = PhaseRamp
			sample.Counts.Orders = 1
		}
	}
	return series
}

func TestWindow(t *testing.T) {
	for _, c := range []struct {
		span         Span
		opm, running float64
		why          string
	}{
		{Span{30 * s, 60 * s}, 180, 180, "the run phase"},
		{Span{0, 10 * s}, 60, 60, "the ramp counts from the first orders on"},
		{Span{0, 60 * s}, 60 * 140. / 60, 129.3398112, "phases in between belong to a window"},
		{
			Span{29 * s, 31 * s},
			150, (60.*50/30 + 180) / 2,
			"the figures are set back within the window",
		},
	} {
		w, err := steps().Window("w", c.span)
		require.NoError(t, err)
		assert.Equal(t, c.opm, w.OPM, "%s: OPM", c.why)
		assert.InDelta(t, c.running, w.RunningAverageOPM, 1e-6, "%s: running average", c.why)
	}
}

// TestWindowOfRunPhase: one that counts from the run phase on is where that began, and there is
// none of a run that did not get so far.
func TestWindowOfRunPhase(t *testing.T) {
	spec := WindowSpec{Name: "w", OfRun: true, Span: Span{5 * s, 10 * s}}
	w, err := steps().Compute(spec)
	require.NoError(t, err)
	require.Equal(t, []float64{35, 40}, []float64{w.From, w.To})
	short := steps()
	short.Samples = short.Samples[:25]
	_, err = short.Compute(spec)
	require.ErrorContains(t, err, "did not reach its run phase")
}

func TestWindowOutsideTheRun(t *testing.T) {
	for span, series := range map[Span]Series{
		{50 * s, 61 * s}: steps(), {100 * s, 120 * s}: steps(), {0, 10 * s}: {},
	} {
		_, err := series.Window("w", span)
		assert.ErrorContains(t, err, "outside the run", "%v", span)
	}
}

func TestRates(t *testing.T) {
	series := steps()
	assert.Equal(
		t,
		Rates{180, 140, 180, Average{90, 30}, 180},
		series.Progress().Rates,
		"at the end of the run",
	)
	series.Samples = series.Samples[:20]
	assert.Equal(
		t,
		Rates{120, 90, 90, Average{30, 20}, 0},
		series.Progress().Rates,
		"in the warm-up",
	)
	assert.Equal(t, (Rates{}), (Series{}).Progress().Rates, "Rates before the first sample")
}

func TestLatencyIsOfTheIntervalsInTheWindow(t *testing.T) {
	m := newRecording()
	m.Enter(PhaseRun)
	for i := range 30 {
		m.orders(1, time.Duration(i/10+1)*100*time.Millisecond, 0)
		m.sample(time.Duration(i+1) * s)
		if i%10 == 9 {
			m.interval(time.Duration(i+1) * s)
		}
	}
	w, err := m.series.Window("w", Span{5 * s, 30 * s})
	require.NoError(t, err)
	l := w.Latency[WholeOrder]
	assert.EqualValues(t, 20, l.Count)
	assert.InDeltaSlice(
		t,
		[]float64{10, 30, 200, 300},
		[]float64{w.LatencyFrom, w.LatencyTo, l.P50, l.Max},
		3,
	)
}

// TestCountsAsJSON writes and reads counts with some of a workload's own, and adds up those of two
// records that have them in another order.
func TestCountsAsJSON(t *testing.T) {
	c := Counts{
		Orders:  7,
		Dropped: 1,
		Own:     [MaxOwn]int64{5, 3},
		Names:   &[]string{"rollbacks", "cents"},
	}
	text, err := json.Marshal(c)
	require.NoError(t, err)
	want := `{"orders":7,"retries":0,"reconnects":0,"given_up":0,"offered":0,"dropped":1,"rollbacks":5,"cents":3}`
	assert.Equal(t, want, string(text))
	var read Counts
	require.NoError(t, json.Unmarshal(text, &read))
	c.Add(read)
	assert.True(
		t,
		c.Orders == 14 && c.Of("rollbacks") == 10 && c.Of("cents") == 6 && read.Of("orders") == 0,
		"%+v read, %+v in all",
		read,
		c,
	)
	c.Add(Counts{Own: [MaxOwn]int64{1}})                              // of a user
	c.Add(Counts{Own: [MaxOwn]int64{100}, Names: &[]string{"other"}}) // of another workload
	assert.True(t, c.Of("rollbacks") == 11 && c.Of("cents") == 6 && c.Of("other") == 0, "%+v", c)
	read = Counts{Orders: 1}
	require.NoError(t, json.Unmarshal([]byte("null"), &read))
	assert.EqualValues(t, 1, read.Orders)
	require.NoError(t, json.Unmarshal([]byte(`{"orders":2}`), &read))
	assert.Equal(t, Counts{Orders: 2}, read, "no own counts")
	many := `{"c":1`
	for i := range MaxOwn {
		many += fmt.Sprintf(`,"c%d":1`, i)
	}
	for _, bad := range []string{`[]`, `{"orders":"x"}`, `{"cents":1.5}`, many + "}"} {
		assert.Error(t, json.Unmarshal([]byte(bad), new(Counts)), "%s was read", bad)
	}
}

// everySecond is a run phase of one-second samples with the given orders.
func everySecond(seconds int, orders func(second int) float64) Series {
	s := Series{Samples: make([]Sample, seconds)}
	for i := range s.Samples {
		counts := Counts{Orders: int64(orders(i))}
		end := time.Duration(i+1) * time.Second
		s.Samples[i] = Sample{End: end, Length: time.Second, Phase: PhaseRun, Counts: counts}
	}
	return s
}

func TestNoIntervalOfAFewSeconds(t *testing.T) {
	w, err := synthetic(49, 0, 0.05, constant(1000)).Window("w", Span{0, 49 * time.Second})
	require.NoError(t, err)
	assert.Nil(t, w.CI95)
	assert.Equal(t, "too short for a confidence interval: 49 samples, and it takes 50", w.NoCI95)
	assert.Nil(t, w.Trend, "49 samples have a trend")
}
