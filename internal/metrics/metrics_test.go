package metrics

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"os/exec"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"ds2/internal/measure"
	"ds2/internal/promtest"
	"ds2/internal/result"
	"ds2/internal/sampling"
	"ds2/internal/texttest"
	"ds2/internal/workload"
)

// keptAlive are the connections of clients that http keeps for the next request.
var keptAlive = []goleak.Option{
	goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
	goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"),
}

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, keptAlive...)
}

// own are counters of a workload's own.
var own = []workload.Counter{
	{Name: "rollbacks_total", Help: "Purchases that were rolled back.", Count: "rollbacks"},
	{Name: "in_doubt_total", Help: "Operations in doubt.", By: map[string]string{
		"purchase":     "in_doubt_purchases",
		"new_customer": "in_doubt_customers",
	}},
}

// meter has two targets with a hundred orders of 30 ms and fifty of 60 ms in three seconds of the
// run phase.
func meter() *measure.Meter {
	m := measure.NewMeter(
		[]string{"login", "purchase"},
		[]string{"a:5432/ds2", "b:5432/ds2"},
		"rollbacks",
		"in_doubt_purchases",
		"in_doubt_customers",
	)
	for target, user := range []*measure.Recorder{m.NewRecorder(0), m.NewRecorder(1)} {
		for range 100 / (target + 1) {
			var o measure.Order
			d := time.Duration(target+1) * 30 * time.Millisecond
			o.AddLatency(1, d)
			o.Complete(0, d, d)
			user.Record(&o)
		}
		var o measure.Order
		o.Own[0]++
		o.Fail(measure.Failure{Operation: "purchase", Class: "deadlock"})
		o.Retry(measure.Failure{Operation: "purchase", Class: "deadlock"})
		user.Record(&o)
	}
	m.Enter(measure.PhaseRun)
	working := []measure.Users{{measure.UserRunning: 1}, {measure.UserThinking: 1}}
	for second := time.Second; second <= 3*time.Second; second += time.Second {
		m.Sample(second, working)
	}
	return m
}

// start serves what collectors show.
func start(t *testing.T, collectors ...prometheus.Collector) *Server {
	t.Helper()
	s, err := Serve("127.0.0.1:0", http.NotFound, http.NotFound)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	s.Show(collectors...)
	return s
}

// run is one of which all is known.
func run(t *testing.T) Run {
	return Run{
		Version:       "v1",
		Engine:        "postgres",
		Size:          "S",
		ID:            "k3f9",
		Threads:       1,
		Configuration: "ssd",
		Block:         3,
		Counters:      own,
		Meter:         meter(),
		Sampler:       sampler(t),
		IOPS:          func() float64 { return 250.5 },
		Verdicts: func() result.Verdicts {
			opm := result.Verdict{Limit: "opm > 60000"}
			return result.Verdicts{{Limit: "order p95 < 500ms", OK: true}, opm, opm}
		},
		IO: func() ([]measure.Distribution, error) {
			times := maps.All(map[int64]uint64{2000: 2})
			return []measure.Distribution{
				measure.Counted("sda log flush", 4*time.Millisecond, times),
			}, nil
		},
	}
}

func scrape(t *testing.T) []byte {
	loaded := NewLoadCollector(func(f func(string, int64, int64)) { f("orders", 600, 24000) })
	return get(t, start(t, NewCollector(run(t)), loaded).URL())
}

func get(t *testing.T, url string) []byte {
	t.Helper()
	response, err := http.Get(url)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode, "%s", body)
	return body
}

func TestNamesAndValues(t *testing.T) {
	text := string(scrape(t))
	for _, line := range []string{
		`ds2_orders_total{target="a:5432/ds2"} 100`,
		`ds2_orders_total{target="b:5432/ds2"} 50`,
		`ds2_rollbacks_total{target="a:5432/ds2"} 1`,
		`ds2_retries_total{operation="purchase",reason="deadlock",target="a:5432/ds2"} 1`,
		`ds2_errors_total{class="deadlock",operation="purchase",target="b:5432/ds2"} 1`,
		`ds2_errors_total{class="connection",operation="connect",target="a:5432/ds2"} 0`,
		`ds2_reconnects_total{target="a:5432/ds2"} 0`,
		`ds2_in_doubt_total{operation="new_customer",target="a:5432/ds2"} 0`,
		`ds2_operation_duration_seconds_count{operation="purchase",target="a:5432/ds2"} 100`,
		`ds2_operation_duration_seconds_count{operation="login",target="a:5432/ds2"} 0`,
		`ds2_order_duration_seconds_sum{target="a:5432/ds2"} 3`,
		`ds2_order_duration_seconds_bucket{target="a:5432/ds2",le="0.02"} 0`,
		`ds2_order_duration_seconds_bucket{target="a:5432/ds2",le="0.05"} 100`,
		`ds2_order_duration_seconds_bucket{target="a:5432/ds2",le="+Inf"} 100`,
		`ds2_opm{target="a:5432/ds2",window="cumulative"} 2000`,
		`ds2_opm{target="a:5432/ds2",window="10s"} 2000`,
		`ds2_users{state="running",target="a:5432/ds2"} 1`,
		`ds2_users{state="thinking",target="b:5432/ds2"} 1`,
		`ds2_limit_ok{limit="order p95 < 500ms"} 1`,
		`ds2_limit_ok{limit="opm > 60000"} 0`,
		"ds2_iops 250.5",
		`ds2_load_rows_total{table="orders"} 600`,
		`ds2_load_bytes_total{table="orders"} 24000`,
		`ds2_host_io_duration_seconds_sum{device="sda",io="log flush"} 0.004`,
		`ds2_host_io_duration_seconds_bucket{device="sda",io="log flush",le="0.001"} 0`,
		`ds2_host_io_duration_seconds_bucket{device="sda",io="log flush",le="0.005"} 2`,
		`ds2_run_phase{phase="run"} 1`,
		`ds2_run_phase{phase="warmup"} 0`,
		`ds2_run_info{block="3",configuration="ssd",engine="postgres",` +
			`run_id="k3f9",size="S",threads="1",version="v1"} 1`,
		"# TYPE ds2_host_disk_reads_total counter",
		`ds2_host_disk_reads_total{device="sda"} 100`,
		`ds2_host_disk_reads_total{device="sdb"} 200`,
		"# TYPE ds2_host_memory_available_bytes gauge",
		"ds2_host_memory_available_bytes 4096",
	} {
		assert.Contains(t, text, "\n"+line+"\n", "no line %s in", line)
	}
	assert.NotContains(t, text, "ds2_host_power_watts", "a figure without a value is shown")
}

// sampler has read two counters of an item each and one gauge that has no value just now.
func sampler(t *testing.T) *sampling.Sampler {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := sampling.NewSampler(slog.New(slog.DiscardHandler), sampling.Source{
		Figures: []sampling.Figure{
			{Name: "disk_reads_total", Help: "Reads.", Label: "device", Item: "sda"},
			{Name: "disk_reads_total", Help: "Reads.", Label: "device", Item: "sdb"},
			{Name: "power_watts", Help: "Power."},
			{Name: "memory_available_bytes", Help: "Memory."},
		},
		Read: func(_ context.Context, values []float64) error {
			copy(values, []float64{100, 200, math.NaN(), 4096})
			return nil
		},
	})
	s.Run(ctx, time.Now(), func(sampling.Row) { cancel() })
	return s
}

func TestPush(t *testing.T) {
	url := promtest.StartPushgateway(t)
	require.NoError(t, Push(t.Context(), url, "k3f9", NewCollector(run(t))))
	texttest.Contains(t, string(get(t, url+"/metrics")),
		`ds2_orders_total{instance="",job="ds2",run="k3f9",target="a:5432/ds2"} 100`+"\n",
		`ds2_host_disk_reads_total{device="sda",instance="",job="ds2",run="k3f9"} 100`+"\n",
		`ds2_operation_duration_seconds_count{instance="",job="ds2",`+
			`operation="purchase",run="k3f9",target="a:5432/ds2"} 100`+"\n")
}

func TestPromtoolIsSilent(t *testing.T) {
	check := exec.CommandContext(t.Context(), promtest.Command(t, "promtool"), "check", "metrics")
	check.Stdin = bytes.NewReader(scrape(t))
	said, err := check.CombinedOutput()
	assert.NoError(t, err)
	assert.Empty(t, string(said))
}

// gather has a collector's metrics.
func gather(t *testing.T, c prometheus.Collector) map[string][]*dto.Metric {
	t.Helper()
	r := prometheus.NewPedanticRegistry()
	require.NoError(t, r.Register(c))
	families, err := r.Gather()
	require.NoError(t, err)
	metrics := map[string][]*dto.Metric{}
	for _, f := range families {
		metrics[f.GetName()] = f.Metric
	}
	return metrics
}

func TestNativeHistograms(t *testing.T) {
	h := gather(t, NewCollector(Run{Meter: meter()}))["ds2_order_duration_seconds"][0].Histogram
	require.EqualValues(t, 100, h.GetSampleCount())
	require.Len(t, h.PositiveSpan, 1)
	require.Equal(t, []int64{100}, h.PositiveDelta, "all in one bucket")
	upper := math.Exp2(float64(h.PositiveSpan[0].GetOffset()) / 8)
	assert.GreaterOrEqual(t, upper, .030, "the end of the bucket")
	assert.LessOrEqual(t, upper/math.Exp2(1./8), .0302, "its begin")
	assert.Len(t, h.Bucket, len(classicBounds))
}

func TestUnreachable(t *testing.T) {
	_, err := Serve("127.0.0.1:99999", nil, nil)
	assert.ErrorContains(t, err, "99999")
	assert.ErrorContains(
		t,
		Push(t.Context(), "http://127.0.0.1:1", "k3f9", asked(func(sink) {})),
		"push metrics: ",
	)
}

// TestOperationCounter has a workload that has its operations counted apart.
func TestOperationCounter(t *testing.T) {
	own := workload.Counter{Name: "other_operations_total", Help: "Operations."}
	metrics := gather(t, NewCollector(Run{Counters: []workload.Counter{own}, Meter: meter()}))
	var counted []string
	for _, m := range metrics["ds2_other_operations_total"] {
		counted = append(counted, m.Label[0].GetValue()) // operation, target
	}
	require.ElementsMatch(
		t,
		[]string{"login", "purchase", "login", "purchase"},
		counted,
	) // of two targets
}
