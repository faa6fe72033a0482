package monitor

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// counting is a source whose one counter grows by 10 a second of the fake clock and whose n-th read
// waits for read(n).
func counting(read func(n int) error) Source {
	start := time.Now()
	n := 0
	return Source{
		Name:    "counter",
		Figures: []Figure{{Name: "things_total"}},
		Columns: []Column{{"things.per_second", 0, rate(0)}, {"things.total", 0, gauge(0)}},
		Read: func(_ context.Context, values []float64) error {
			n++
			err := read(n)
			if err == nil {
				values[0] = 10 * time.Since(start).Seconds()
			}
			return err
		},
	}
}

func sample(t *testing.T, seconds int, sources ...Source) (rows []Row, logged string, s *Sampler) {
	t.Helper()
	var log bytes.Buffer
	s = NewSampler(slog.New(slog.NewTextHandler(&log, nil)), sources...)
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(seconds)*time.Second+Interval/2)
	defer cancel()
	s.Run(ctx, time.Now(), func(r Row) { rows = append(rows, r) })
	return rows, log.String(), s
}

// TestSampleAgain: what was being read when one sampling ended is read in the next.
func TestSampleAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := true
		read := func(ctx context.Context) ([]float64, error) {
			if slow {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return []float64{7}, nil
		}
		gauges := []kind{{"x", "", "x", gauge(0)}}
		_, _, s := sample(t, 1, single("x", "", "", "", gauges, read))
		slow = false
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second/2)
		defer cancel()
		var rows []Row
		s.Run(ctx, time.Now(), func(r Row) { rows = append(rows, r) })
		require.Len(t, rows, 1)
		require.Equal(t, []float64{7}, rows[0].Values)
	})
}

// await asks until something is so, and gives up after minutes.
func await(t *testing.T, what string, isSo func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); !isSo(); time.Sleep(10 * time.Millisecond) {
		require.False(t, time.Now().After(deadline), "never: %s", what)
	}
}

// read reads a source once.
func read(t *testing.T, s Source) []float64 {
	t.Helper()
	values := unknown(len(s.Figures))
	require.NoError(t, s.Read(t.Context(), values))
	return values
}

func column(t *testing.T, s Source, name string, seconds float64, was, now []float64) float64 {
	t.Helper()
	i := slices.IndexFunc(s.Columns, func(c Column) bool { return c.Name == name })
	require.GreaterOrEqual(t, i, 0, "no column %s in %v", name, s.Columns)
	return s.Columns[i].value(seconds, was, now)
}

// TestSlowSourceHoldsNothingUp: rates stand at whole seconds, and those of one source beside
// another that hangs.
func TestSlowSourceHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// The third read, at 2 s, hangs until 4.3 s: the rows of 2, 3 and 4 s have none of its
		// values, those of the other source all.
		slow := counting(func(n int) error {
			if n == 3 {
				time.Sleep(2300 * time.Millisecond)
			}
			return nil
		})
		start := time.Now()
		rows, _, s := sample(t, 7, slow, counting(func(int) error { return nil }))
		require.Len(t, rows, 7, "rows in 7 s")
		for i, r := range rows {
			// over the time since its last answer
			second := i + 1
			want := 10.
			if second >= 2 && second <= 4 {
				want = math.NaN()
			}
			assert.Equal(t, start.Add(time.Duration(second)*time.Second), r.Time)
			assert.InDelta(t, want, r.Values[0], 1e-9, "slow source at %d s", second)
			assert.Equal(t, 10., r.Values[2], "other source at %d s", second)
		}
		s.Latest(func(f Figure, v float64) { assert.Equal(t, 70., v, "latest %s", f.Name) })
	})
}

func TestFailingSourceIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failing := counting(func(n int) error {
			if n >= 3 && n <= 5 {
				return errors.New("connection refused")
			}
			return nil
		})
		rows, logged, _ := sample(t, 8, failing)
		assert.Equal(
			t,
			1,
			strings.Count(logged, "connection refused"),
			"times, want once:\n%s",
			logged,
		)
		assert.Contains(t, logged, "sampling again", "nothing says that it works again")
		for i, r := range rows {
			assert.Equal(
				t,
				i+1 >= 2 && i+1 <= 4,
				math.IsNaN(r.Values[0]),
				"row at %d s: %v",
				i+1,
				r.Values[0],
			)
		}
	})
}

func TestCounterThatStartsAgain(t *testing.T) {
	assert.InDelta(t, math.NaN(), rate(0)(1, []float64{1000}, []float64{3}), 0, "rate over a reset")
	assert.InDelta(
		t,
		math.NaN(),
		ratio(0, 1)(1, []float64{1, 50}, []float64{3, 50}),
		0,
		"ratio to nothing",
	)
}
