package sampling

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
		gauges := []kind{{figure: "x", column: "x", how: "gauge"}}
		_, _, s := sample(t, 1, singleSource("x", "", "", "", gauges, read))
		slow = false
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second/2)
		defer cancel()
		var rows []Row
		s.Run(ctx, time.Now(), func(r Row) { rows = append(rows, r) })
		require.Len(t, rows, 1)
		require.Equal(t, []float64{7}, rows[0].Values)
	})
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
	return s.Columns[i].Value(seconds, was, now)
}

// TestSlowSourceHoldsNothingUp: rates stand at whole seconds, and those of one source beside
// another that hangs.
func TestSlowSourceHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// The third read, at 2 s, hangs until 4.3 s: the rows of 2 and 3 s have none of its values,
		// that of 4 s has those of all three seconds, and those of the other source have all.
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
			if second == 2 || second == 3 {
				want = math.NaN()
			}
			covers := map[int]float64{2: 0, 3: 0, 4: 3}
			seconds, late := covers[second]
			if !late {
				seconds = 1
			}
			assert.Equal(t, seconds, r.Covered(0), "slow source at %d s", second)
			assert.Equal(t, 1., r.Covered(2), "other source at %d s", second)
			assert.Equal(t, start.Add(time.Duration(second)*time.Second), r.Time)
			assert.InDelta(t, want, r.Values[0], 1e-9, "slow source at %d s", second)
			assert.Equal(t, 10., r.Values[2], "other source at %d s", second)
		}
		s.Latest(func(f Figure, v float64) { assert.Equal(t, 70., v, "latest %s", f.Name) })
	})
}

// tabled samples sources into a table.
func tabled(t *testing.T, seconds int, sources ...Source) *Table {
	t.Helper()
	rows, _, s := sample(t, seconds, sources...)
	return &Table{s.Columns(), rows}
}

// TestFiguresCoverTheirTime: a mean is over the time whatever the source's answers took, and is
// unknown where they cover less than half of it.
func TestFiguresCoverTheirTime(t *testing.T) {
	for name, c := range map[string]struct {
		read   func(n int) error
		covers float64
		known  bool
		partly bool
	}{
		"at once": {func(int) error { return nil }, 60, true, false},
		"after 1.2 s each": {func(int) error {
			time.Sleep(1200 * time.Millisecond)
			return nil
		}, 60, true, false},
		"a stall of 8 s": {func(n int) error {
			if n == 20 {
				time.Sleep(8 * time.Second)
			}
			return nil
		}, 60, true, false},
		"silent after 40 s": {func(n int) error {
			if n > 41 {
				return errors.New("no answer")
			}
			return nil
		}, 40, true, true},
		"silent after 15 s": {func(n int) error {
			if n > 16 {
				time.Sleep(time.Hour)
			}
			return nil
		}, 15, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				table := tabled(t, 60, counting(c.read))
				end := start.Add(60 * time.Second)
				seen := table.Sampled("things.per_second", start, end)
				assert.InDelta(t, c.covers, seen.Covers, 2, "seconds")
				assert.Equal(t, c.partly, seen.Partly())
				want := 10.
				if !c.known {
					want = math.NaN()
				}
				assert.InDelta(t, want, seen.Value, 1e-6)
				assert.InDelta(t, want, table.Quantile("things.per_second", 1, start, end), 1e-6)
			})
		})
	}
}

// TestStallInCounters: what a server did within a stall of its answers is in the mean, as are the
// seconds in which it did little.
func TestStallInCounters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		done := 0.
		last := start
		src := Source{
			Name:    "server",
			Figures: []Figure{{Name: "syncs_total"}},
			Columns: []Column{{DatabaseLogSyncs, 0, rate(0)}},
		}
		n := 0
		src.Read = func(_ context.Context, values []float64) error {
			perSecond := 100.
			if n++; n == 11 { // from 10 s on, for 10 s, nothing is done
				time.Sleep(10 * time.Second)
				perSecond = 0
			}
			done += perSecond * time.Since(last).Seconds()
			last = time.Now()
			values[0] = done
			return nil
		}
		table := tabled(t, 30, src)
		mean := table.Mean(DatabaseLogSyncs, start, start.Add(30*time.Second))
		assert.InDelta(t, 100*20./30, mean, 4, "syncs a second over 30 s, of which 10 stood still")
	})
}

// TestCounterOfACache: an exporter behind a cache that is refreshed every 15 s shows counters that
// stand still for 14 of 15 s, and the first of them for nobody knows how long.
func TestCounterOfACache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		src := counting(func(int) error { return nil })
		shown := math.NaN()
		src.Read = func(_ context.Context, values []float64) error {
			refreshed := time.Since(start).Truncate(15 * time.Second)
			values[0] = 10 * (refreshed.Seconds() + 100)
			if values[0] == shown {
				return errStandsStill
			}
			shown = values[0]
			return nil
		}
		start = start.Add(-10 * time.Second) // refreshed 10 s before the sampling begins
		table := tabled(t, 65, src)
		seen := table.Sampled("things.per_second", time.Now().Add(-65*time.Second), time.Now())
		assert.InDelta(t, 10, seen.Value, .1)
		assert.InDelta(t, 60, seen.Covers, 1, "all but the first 5 s, whose counters have no date")
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
