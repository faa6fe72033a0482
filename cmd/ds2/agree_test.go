package main

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/measure"
	"ds2/internal/metrics"
	"ds2/internal/monitor"
	"ds2/internal/result"
	"ds2/internal/workload"
	"ds2/internal/workload/ds2"
	"ds2/internal/workload/ds2/calls"
)

// measured is a run of 60 s whose samples close late, with so many orders that drain in the 96 ms after it, and the
// record of it. Response times are no whole microseconds, so that a mean taken from the histograms would differ.
func measured(t *testing.T, drained int) (*measure.Meter, string) {
	t.Helper()
	operations := workload.Names(ds2.Workload{}.Operations())
	meter := measure.NewMeter(operations, []string{"host/ds2"}, calls.Counts...)
	user := meter.NewRecorder(0)
	random := rand.New(rand.NewPCG(1, 2))
	dir := t.TempDir()
	s := result.Summary{
		Spec: result.Spec{RunID: "agree", Workload: ds2.Name, Words: ds2.Workload{}.Words(), Engine: "postgres",
			Targets: []string{"host/ds2"}, Size: "S", Threads: 1},
		Happened: result.Happened{Status: result.Done},
	}
	w, err := result.Create(dir, s, calls.Counts...)
	require.NoError(t, err)
	sample := func(end time.Duration, orders int) {
		for range orders {
			var o measure.Order
			var all, ds2 time.Duration
			for op := range calls.NumOps {
				d := time.Duration(1_000_000 + random.IntN(40_000_000))
				o.AddLatency(int(op), d)
				all += d
				if op != calls.OpPrices {
					ds2 += d
				}
			}
			o.Own[calls.NewCustomers]++
			o.Complete(0, all, ds2)
			user.Record(&o)
		}
		require.NoError(t, w.Sample(meter.Sample(end, []measure.Users{{measure.UserRunning: 1}})))
	}
	meter.Enter(measure.PhaseRun)
	for second := 1; second <= 60; second++ {
		sample(time.Duration(second)*time.Second+time.Duration(second%7)*time.Millisecond, 20+random.IntN(10))
	}
	require.NoError(t, w.Interval(meter.Interval(60_004*time.Millisecond)))
	if drained > 0 {
		meter.Enter(measure.PhaseDrain)
		sample(60_096*time.Millisecond, drained)
		require.NoError(t, w.Interval(meter.Interval(60_096*time.Millisecond)))
	}
	concluded(t, dir, w, s, monitor.Table{})
	return meter, dir
}

// reports are a run's as text, as a page and as CSV.
func reports(t *testing.T, dir string) (text, page, samples string) {
	t.Helper()
	return must(t, "report", "--details", "-o", "text", dir), must(t, "report", "-o", "html", "--out", "-", dir),
		must(t, "report", "-o", "csv", dir)
}

// scraped is the run as Prometheus sees it: the value of every series, and of a histogram its sum and count.
func scraped(t *testing.T, meter *measure.Meter) map[string]float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(metrics.NewCollector(metrics.Run{ID: "agree"}, meter))
	families, err := registry.Gather()
	require.NoError(t, err)
	values := map[string]float64{}
	for _, family := range families {
		for _, m := range family.Metric {
			name := family.GetName()
			for _, l := range m.Label {
				if l.GetName() == "operation" || l.GetName() == "window" {
					name += " " + l.GetValue()
				}
			}
			values[name] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
			values[name+" sum"] = m.GetHistogram().GetSampleSum()
			values[name+" count"] = float64(m.GetHistogram().GetSampleCount())
		}
	}
	return values
}

// row is the cells of the row of a text report that begins with name.
func row(t *testing.T, text, name string) []string {
	t.Helper()
	for line := range strings.Lines(text) {
		if cells := regexp.MustCompile(`\s{2,}`).Split(strings.TrimSpace(line), -1); cells[0] == name {
			return cells
		}
	}
	t.Fatalf("no row %q in\n%s", name, text)
	return nil
}

func parse(t *testing.T, cell string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(strings.NewReplacer(",", "", " s", "").Replace(cell), 64)
	require.NoError(t, err)
	return f
}

// TestMeansAgree: the record, the reports and Prometheus give one run the same mean response times, to the last digit
// that each shows.
func TestMeansAgree(t *testing.T) {
	meter, dir := measured(t, 0)
	window := recordOf(t, dir).Windows[0]
	text, page, _ := reports(t, dir)
	prometheus := scraped(t, meter)
	for name, l := range window.Latency {
		series := "ds2_operation_duration_seconds " + name
		if name == measure.WholeOrder {
			series = "ds2_order_duration_seconds"
		}
		mean := 1000 * prometheus[series+" sum"] / prometheus[series+" count"]
		assert.InDelta(t, l.Mean, mean, 1e-9, "%s: the means of the record and of Prometheus", name)
		cells := row(t, text, name)
		_, decimals, _ := strings.Cut(cells[2], ".")
		assert.Equal(t, strconv.FormatFloat(l.Mean, 'f', len(decimals), 64), cells[2],
			"%s: the means of record and text", name)
		assert.Contains(t, page, fmt.Sprintf(`<th scope="row">%s</th><td>%s</td><td>%s</td>`, name, cells[1], cells[2]))
	}
	assert.Equal(t, strconv.FormatFloat(*window.OwnMean, 'f', 0, 64), row(t, text, "order as in DS2")[2])
}

// TestOrdersMultiplyOut: wherever an OPM is printed, the orders × 60 / the seconds beside it give it.
func TestOrdersMultiplyOut(t *testing.T) {
	const drained = 44
	meter, dir := measured(t, drained)
	text, page, samples := reports(t, dir)
	shown := func(orders, seconds float64) string { return strconv.FormatFloat(orders*60/seconds, 'f', 1, 64) }

	cells := row(t, text, "run")
	run := regexp.MustCompile(`<th scope="row">run</th>` + strings.Repeat(`<td>(.*?)</td>`, 5))
	opm := shown(parse(t, cells[3]), parse(t, cells[2])-parse(t, cells[1]))
	// With as many digits as the interval carries.
	for what, c := range map[string][]string{"text": cells, "page": run.FindStringSubmatch(page)} {
		exact, half := 60*parse(t, c[3])/(parse(t, c[2])-parse(t, c[1])), parse(t, c[5])
		assert.InDelta(t, exact, parse(t, c[4]), half/10, "%s: %v", what, c[1:])
	}

	s := decoded[[]result.Summary](t, "report", "-o", "json", dir)[0]
	w := s.Windows[0]
	for what, c := range map[string]struct {
		opm     float64
		orders  int64
		seconds float64
	}{
		"the figure that counts": {*s.OPM, w.Counts.Orders, w.To - w.From},
		"the window":             {w.OPM, w.Counts.Orders, w.To - w.From},
		"the cumulative OPM":     {*s.CumulativeOPM, s.CumulativeOf.Orders, s.CumulativeOf.Seconds},
	} {
		assert.InDelta(t, float64(c.orders)*60/c.seconds, c.opm, 1e-6, "JSON: %s", what)
		assert.Equal(t, opm, shown(float64(c.orders), c.seconds), "JSON: %s", what)
	}

	lines, err := csv.NewReader(strings.NewReader(samples)).ReadAll()
	require.NoError(t, err)
	var orders, last float64
	for _, line := range lines[1:] { // run_id, t_s, phase, users, opm, orders
		at, n := parse(t, line[1]), parse(t, line[5])
		assert.Equal(t, shown(n, at-last), line[4], "CSV: %v", line)
		if line[2] == string(measure.PhaseRun) {
			orders, last = orders+n, at
		}
	}
	assert.Equal(t, opm, shown(orders, last), "CSV: %v orders in %v s", orders, last)

	prometheus := scraped(t, meter)
	cumulative := strconv.FormatFloat(prometheus["ds2_opm cumulative"], 'f', 1, 64)
	assert.Equal(t, shown(prometheus["ds2_orders_total"]-drained, w.To-w.From), cumulative, "OPM of Prometheus")
	steady, err := recordOf(t, dir).Series.Compute(measure.WindowSpec{Name: "steady", Auto: true})
	require.NoError(t, err)
	assert.Equal(t, steady.OPM, prometheus["ds2_opm steady"])
	assert.InDelta(t, float64(steady.Counts.Orders)*60/(steady.To-steady.From), steady.OPM, 1e-6, "the steady window")
}
