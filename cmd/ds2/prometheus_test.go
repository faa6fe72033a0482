package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/nightly"
	"ds2/internal/promtest"
	"ds2/internal/result"
)

const prometheusScripts = "../../scripts/prometheus"

// TestPrometheusScripts has promtool judge the configuration and try the rules on made-up series.
func TestPrometheusScripts(t *testing.T) {
	promtool := promtest.Command(t, "promtool")
	for _, args := range [][]string{
		{"check", "config", "prometheus.yml"},
		{"check", "rules", "--lint-fatal", "ds2.rules.yml"},
		{"test", "rules", "ds2.rules_test.yml"},
	} {
		cmd := exec.Command(promtool, args...)
		cmd.Dir = prometheusScripts
		out, err := cmd.CombinedOutput()
		assert.NoError(t, err, "promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// TestPrometheusAgrees has a real Prometheus, with the rules of scripts/, scrape a real run of each
// workload: every number of orders that it was told is one that the record has at the end of a
// sample, and every query of the Grafana dashboard has an answer, as has what the rules read.
func TestPrometheusAgrees(t *testing.T) {
	nightly.Long(t, "drives for 15 s")
	t.Parallel()
	rules, err := filepath.Abs(prometheusScripts + "/ds2.rules.yml")
	require.NoError(t, err)
	metric := regexp.MustCompile(`[^:\w](ds2_\w+(\{[^}]*\})?)`)
	for _, c := range []struct {
		workload, load, drive string
		positive              []string // what gives one value, of more than 0
		// what has no series of this workload, or as long as nothing fails
		none       string
		operations int // on the dashboard
	}{
		{"ds2", "--size 1MB", "--rate 10/s", []string{
			"target:ds2_opm:rate1m",
			"target:ds2_order_duration_seconds:p95_1m",
		}, "ds2_errors_total|ds2_mailbox", 0},
		{"mailbox", "--mailboxes 10 --mailbox-size 2MB", "--rate 50/s", []string{
			"ds2_iops",
			"sum(ds2_mailbox_operations_total)",
		}, "ds2_errors_total|ds2_rollbacks_total", 4},
	} {
		t.Run(c.workload, func(t *testing.T) {
			t.Parallel()
			page := startRelay(t)
			prometheus := promtest.Start(t, []string{page.Address}, rules)
			target := pgtest.Database(t)
			must(
				t,
				words("load --target %s --workload %s %s --quiet", target, c.workload, c.load)...)
			p := begin(
				t,
				quick(
					"drive",
					target,
					"--threads 4 --spacing even --warmup-time 2s --run-time 13s "+
						"--metrics-addr 127.0.0.1:0 --out out %s",
					c.drive,
				)...)
			page.To(p.page(t))
			p.ends(t, exitDone)
			record := recordOf(t, p.out)
			scraped := scrapedOrders(t, prometheus, page, record)
			require.GreaterOrEqual(
				t,
				len(slices.Compact(scraped)),
				3,
				"Prometheus was told of %v orders",
				scraped,
			)
			// The last second of the run in which it had the page's answer: a busy machine misses
			// some.
			seconds := query(
				t,
				prometheus,
				fmt.Sprintf("max_over_time(timestamp(up{instance=%q} == 1)[1h:1s])",
					page.Address),
				record.Start.Add(13*time.Second),
			)
			require.Len(t, seconds, 1)
			at := time.Unix(int64(seconds[0]), 0)
			for _, expr := range c.positive {
				values := query(t, prometheus, expr, at)
				assert.True(t, len(values) == 1 && values[0] > 0, "%s gives %v", expr, values)
			}
			// A phase that has just begun has none of before, a machine without physical drives
			// none of theirs.
			none := regexp.MustCompile("unless|ds2_host_disk|" + c.none)
			shown := 0
			for _, expr := range dashboardQueries(t) {
				values := query(t, prometheus, expr, at)
				assert.True(
					t,
					len(values) != 0 || none.MatchString(expr),
					"the dashboard's %s gives nothing",
					expr,
				)
				if strings.Contains(expr, "ds2_mailbox") {
					shown += len(values)
				}
			}
			assert.Equal(t, c.operations, shown, "operations of mailboxes on the dashboard")
			// Alerts give nothing while all is well. Each metric that they read has to be there.
			for _, match := range metric.FindAllStringSubmatch(read(t, rules), -1) {
				values := query(t, prometheus, "count("+match[1]+")", at)
				assert.True(
					t,
					len(values) != 0 || none.MatchString(match[1]),
					"Prometheus has none of %s",
					match[1],
				)
			}
		})
	}
}

// scrapedOrders are the numbers of orders that a Prometheus was told at a page: each is one that
// the record has at the end of a sample.
func scrapedOrders(
	t *testing.T,
	prometheus string,
	page *relay,
	record *result.Record,
) []float64 {
	t.Helper()
	told := map[float64]bool{0: true}
	orders := 0.
	for _, sample := range record.Series.Samples {
		orders += float64(sample.Counts.Orders)
		told[orders] = true
	}
	scraped := query(
		t,
		prometheus,
		fmt.Sprintf("ds2_orders_total{instance=%q}[1h]", page.Address),
		time.Now(),
	)
	assert.Subset(
		t,
		slices.Collect(maps.Keys(told)),
		scraped,
		"orders at the ends of samples, and told to Prometheus",
	)
	return scraped
}

// dashboardQueries are the queries of the Grafana dashboard, with its variables filled in.
func dashboardQueries(t *testing.T) []string {
	t.Helper()
	text := read(t, "../../scripts/grafana/dashboards/ds2.json")
	type expression struct{ Expr string }
	var dashboard struct {
		Panels      []struct{ Targets []expression }
		Annotations struct{ List []expression }
	}
	require.NoError(t, json.Unmarshal([]byte(text), &dashboard))
	all := dashboard.Annotations.List
	for _, p := range dashboard.Panels {
		all = append(all, p.Targets...)
	}
	variables := strings.NewReplacer("$target", ".*", "$__rate_interval", "10s")
	var queries []string
	for _, e := range all {
		queries = append(queries, variables.Replace(e.Expr))
	}
	require.GreaterOrEqual(t, len(queries), 20, "only")
	return queries
}

// query asks a Prometheus for the values of an instant vector.
func query(t *testing.T, server, expr string, at time.Time) []float64 {
	t.Helper()
	form := url.Values{"query": {expr}, "time": {fmt.Sprint(at.Unix())}}
	response, err := http.Get(server + "/api/v1/query?" + form.Encode())
	require.NoError(t, err)
	defer response.Body.Close()
	var answer struct {
		Error string
		Data  struct {
			Result []struct {
				Value  [2]any   // of a moment
				Values [][2]any // of a time
			}
		}
	}
	require.NoError(t, json.NewDecoder(response.Body).Decode(&answer))
	require.Equal(t, "", answer.Error, "query %s", expr)
	var values []float64
	for _, r := range answer.Data.Result {
		if r.Values == nil {
			r.Values = append(r.Values, r.Value)
		}
		for _, value := range r.Values {
			v, err := strconv.ParseFloat(value[1].(string), 64)
			require.NoError(t, err)
			values = append(values, v)
		}
	}
	return values
}
