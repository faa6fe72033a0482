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

// counting is a source whose one counter grows by 10 a second of the fake clock and whose n-th read takes delay(n).
func counting(delay func(n int) time.Duration) Source {
	start, n := time.Now(), 0
	return Source{
		Name:    "counter",
		Figures: []Figure{{Name: "things_total"}},
		Columns: []Column{{"things.per_second", 0, rate(0)}, {"things.total", 0, gauge(0)}},
		Read: func(ctx context.Context, values []float64) error {
			n++
			select {
			case <-time.After(delay(n)):
			case <-ctx.Done():
				return ctx.Err()
			}
			values[0] = 10 * time.Since(start).Seconds()
			return nil
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

func TestRatesStandAtWholeSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		rows, _, s := sample(t, 5, counting(func(int) time.Duration { return 0 }))
		require.Len(t, rows, 5, "rows in 5 s")
		for i, r := range rows {
			if want := start.Add(time.Duration(i+1) * time.Second); !r.Time.Equal(want) {
				t.Errorf("row %d stands at %v, want %v", i, r.Time, want)
			}
			if r.Values[0] != 10 {
				t.Errorf("row %d has %v a second, want 10", i, r.Values[0])
			}
		}
		s.Latest(func(f Figure, v float64) {
			if v != 50 {
				t.Errorf("latest %s = %v, want 50", f.Name, v)
			}
		})
	})
}

func TestSlowSourceHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// The third read, at 2 s, hangs until 4.3 s: the rows of 2, 3 and 4 s have none of its values, those of the
		// other source all.
		slow := counting(func(n int) time.Duration {
			if n == 3 {
				return 2300 * time.Millisecond
			}
			return 0
		})
		rows, _, _ := sample(t, 7, slow, counting(func(int) time.Duration { return 0 }))
		require.Len(t, rows, 7, "rows in 7 s")
		for i, r := range rows {
			second := i + 1
			if late := second >= 2 && second <= 4; math.IsNaN(r.Values[0]) != late {
				t.Errorf("slow source at %d s: %v", second, r.Values[0])
			}
			if v := r.Values[0]; !math.IsNaN(v) && math.Abs(v-10) > 1e-9 {
				t.Errorf("slow source at %d s has %v a second, want 10 over the time since its last answer", second, v)
			}
			if r.Values[2] != 10 {
				t.Errorf("other source at %d s has %v a second, want 10", second, r.Values[2])
			}
		}
	})
}

func TestFailingSourceIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		failing := Source{Name: "database", Figures: []Figure{{Name: "x_total"}}, Columns: []Column{{"x", 0, rate(0)}},
			Read: func(_ context.Context, values []float64) error {
				n++
				if n >= 3 && n <= 5 {
					return errors.New("connection refused")
				}
				values[0] = float64(n)
				return nil
			}}
		rows, logged, _ := sample(t, 8, failing)
		assert.Equal(t, 1, strings.Count(logged, "connection refused"), "times, want once:\n%s", logged)
		assert.Contains(t, logged, "sampling again", "nothing says that it works again")
		for i, r := range rows {
			failed := i+1 >= 2 && i+1 <= 4
			if math.IsNaN(r.Values[0]) != failed {
				t.Errorf("row at %d s: %v", i+1, r.Values[0])
			}
		}
	})
}

func TestCounterThatStartsAgain(t *testing.T) {
	was, now := []float64{1000, 50}, []float64{3, 50}
	if v := rate(0)(1, was, now); !math.IsNaN(v) {
		t.Errorf("rate over a reset = %v, want none", v)
	}
	if v := ratio(0, 1)(1, []float64{1, 50}, []float64{3, 50}); !math.IsNaN(v) {
		t.Errorf("ratio to nothing = %v, want none", v)
	}
}
