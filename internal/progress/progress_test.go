package progress_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/progress"
)

// TestEstimate follows jobs of 1,000 units second by second.
func TestEstimate(t *testing.T) {
	for _, c := range []struct {
		why  string
		rate func(second int) int64 // units in the second that begins
		// second from which on the time left is right within a quarter or ten seconds
		from int
		wait [2]int // seconds between which it says what it waits for
	}{
		{"an even job", func(int) int64 { return 10 }, 10, [2]int{}},
		{"E8: one much slower near its end, as a load that analyzes tables on a slow drive", func(second int) int64 {
			if second < 99 {
				return 10
			}
			return int64(second % 10 / 9)
		}, 160, [2]int{}},
		{"one that stops for two minutes", func(second int) int64 {
			if second >= 50 && second < 170 {
				return 0
			}
			return 10
		}, 240, [2]int{80, 171}},
	} {
		synctest.Test(t, func(t *testing.T) {
			length := 0
			for done := int64(0); done < 1000; length++ {
				done += c.rate(length)
			}
			e := progress.NewEstimate()
			done := int64(0)
			for second := range length {
				s := e.State()
				waits := second >= c.wait[0] && second < c.wait[1]
				require.Equal(t, waits, s.Waiting > 0, "%s: after %d s: %+v", c.why, second, s)
				require.False(t, waits && s.Left >= 0, "%s: after %d s: %+v", c.why, second, s)
				if left := time.Duration(length-second) * time.Second; second >= c.from {
					near := float64(max(left/4, 10*time.Second))
					require.InDelta(
						t,
						left,
						s.Left,
						near,
						"%s: what is said to be left after %d s",
						c.why,
						second,
					)
				}
				require.True(t, s.Share() < 1, "%s: after %d s all is done", c.why, second)
				time.Sleep(time.Second)
				done += c.rate(second)
				e.Tell("work", done, 1000)
			}
		})
	}
}

func TestText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bytes := func(n int64) string { return time.Duration(n).String() } // some unit
		e := progress.NewEstimate()
		for _, c := range []struct {
			wait        time.Duration
			doing       string
			done, total int64
			text        string
		}{
			{0, "", 0, 0, ""},
			{time.Second, "copy", 0, 100, "0 %, 0s of 100ns: copy"},
			{9 * time.Second, "copy", 50, 100, "50 %, about 10s left, 50ns of 100ns, 5ns/s: copy"},
			// it is not over yet
			{5 * time.Second, "copy", 100, 100, "99 %, 100ns of 100ns, 10ns/s: copy"},
			{time.Minute, "analyze", 100, 100, "99 %, 100ns of 100ns: analyze"},
			{0, "next", 0, 10, "0 %, 0s of 10ns: next"}, // another pass
		} {
			time.Sleep(c.wait)
			if c.total > 0 {
				e.Tell(c.doing, c.done, c.total)
			}
			assert.Equal(t, c.text, e.State().Text(bytes), "%s, %d of %d", c.doing, c.done, c.total)
		}
		time.Sleep(45 * time.Second)
		nameless := progress.State{Waiting: 45 * time.Second}
		assert.Equal(t, "waiting for 45s", nameless.TimeLeft())
		assert.Equal(
			t,
			"0 %, waiting for next for 45s",
			e.State().Text(nil),
			"after 45 s without progress",
		)
	})
}

// TestAdder: a job says what it waits for before any of it is done.
func TestAdder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := progress.NewEstimate()
		add := progress.Tell(e.Tell).Adder("audit", 200)
		time.Sleep(45 * time.Second)
		assert.Equal(t, "0 %, waiting for audit for 45s", e.State().Text(nil))
		add(100)
		assert.Equal(t, "50 %", e.State().Text(nil)[:4])
	})
}

// TestResumed counts what was done before as no progress of this job.
func TestResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := progress.NewEstimate()
		for second := range int64(20) {
			time.Sleep(time.Second)
			e.Tell("indexes", 820+second, 1000)
		}
		assert.Equal(t, "83 %, about 2m40s left, 6 %/min: indexes", e.State().Text(nil))
	})
}

func TestRound(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                               "1s",
		59*time.Second + 400:            "59s",
		62 * time.Second:                "1m",
		95 * time.Second:                "1m40s",
		12*time.Minute + 20*time.Second: "12m",
		3 * time.Hour:                   "3h",
		3*time.Hour + 5*time.Minute:     "3h5m",
	} {
		assert.Equal(t, want, progress.Round(d), "%s", d)
	}
}

func TestRateOfPercents(t *testing.T) {
	for rate, want := range map[float64]string{.01: "10 %, 0.6 %/min", 1: "10 %, 60 %/min", 11: "10 %"} {
		require.Equal(t, want, progress.State{Done: 10, Total: 100, Rate: rate, Left: -1}.Text(nil))
	}
}
