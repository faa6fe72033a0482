package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
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
	"ds2/internal/measure"
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

// TestPrometheusAgrees has a real Prometheus, with the rules of scripts/, scrape a real run: every number of orders
// that it was told is one that the record has at the end of a sample, and every query of the Grafana dashboard has an
// answer, as has what the rules read.
func TestPrometheusAgrees(t *testing.T) {
	nightly.Long(t, "drives for 20 s")
	t.Parallel()
	rules := prometheusRules(t)
	page := promtest.StartRelay(t)
	prometheus := promtest.Start(t, []string{page.Address}, rules)
	p := relayed(t, page, quick("drive", loaded(t), "--threads 4 --rate 10/s --spacing even "+
		"--warmup-time 2s --run-time 15s --metrics-addr 127.0.0.1:0 --out out")...)
	record := recordOf(t, p.out)

	scraped := slices.Compact(scrapedOrders(t, prometheus, page, record))
	require.GreaterOrEqual(t, len(scraped), 3, "Prometheus was told of %v orders", scraped)
	for i, until := range scraped[2:] { // between every second pair of scrapes
		windowOfScrapes(t, record, p.out, scraped[i], until)
	}
	at := scrapedAt(t, prometheus, page, record.Start.Add(15*time.Second))
	for _, name := range []string{"target:ds2_opm:rate1m", "target:ds2_order_duration_seconds:p95_1m"} {
		requirePositive(t, prometheus, name, at)
	}
	// Alerts give nothing while all is well. What they compare has to be there: each metric that the rules read, but
	// errors, which have no series as long as nothing fails.
	text, err := os.ReadFile(rules)
	require.NoError(t, err)
	for _, match := range regexp.MustCompile(`[^:\w](ds2_\w+(\{[^}]*\})?)`).FindAllStringSubmatch(string(text), -1) {
		if selector := match[1]; !strings.Contains(selector, "ds2_errors_total") {
			values := query(t, prometheus, "count("+selector+")", at)
			assert.NotEmpty(t, values, "the rules read %s, and Prometheus has none", selector)
		}
	}

	for _, expr := range dashboardQueries(t) {
		if !optional(expr) && !strings.Contains(expr, "ds2_mailbox") {
			assert.NotEmpty(t, query(t, prometheus, expr, at), "the dashboard's query %s gives nothing", expr)
		}
	}
}

// requirePositive finds one value of an expression, which is more than 0.
func requirePositive(t *testing.T, prometheus, expr string, at time.Time) {
	t.Helper()
	values := query(t, prometheus, expr, at)
	assert.True(t, len(values) == 1 && values[0] > 0, "%s gives %v", expr, values)
}

// scrapedOrders are the numbers of orders that a Prometheus was told at a page: each is one that the record has at the
// end of a sample.
func scrapedOrders(t *testing.T, prometheus string, page *promtest.Relay, record *result.Record) []float64 {
	t.Helper()
	told, orders := map[float64]bool{0: true}, 0.
	for _, sample := range record.Series.Samples {
		orders += float64(sample.Counts.Orders)
		told[orders] = true
	}
	scraped := query(t, prometheus, fmt.Sprintf("ds2_orders_total{instance=%q}[1h]", page.Address), time.Now())
	assert.Subset(t, slices.Collect(maps.Keys(told)), scraped, "orders at the ends of samples, and told to Prometheus")
	return scraped
}

// windowOfScrapes reports a window that begins and ends with the samples whose totals Prometheus was told: it has the
// orders that the counter grew by. A scrape tells what the last sample before it ended with, so the times of scrapes
// are late by up to a second.
func windowOfScrapes(t *testing.T, record *result.Record, dir string, from, until float64) {
	t.Helper()
	ends, orders := map[float64]time.Duration{}, 0.
	for _, sample := range record.Series.Samples {
		orders += float64(sample.Counts.Orders)
		ends[orders] = sample.End
	}
	window := fmt.Sprintf("%s-%s", ends[from], ends[until])
	reported := decoded[[]struct{ Windows []measure.Window }](t, "report", "--output", "json", "--window", window, dir)
	w := reported[0].Windows[0]
	require.EqualValues(t, until-from, w.Counts.Orders,
		"the counter grew from %v, the record's window %s has %+v", from, window, w)
}

// scrapedAt is the last second before a time in which a Prometheus had a page's answer: a busy machine misses some.
func scrapedAt(t *testing.T, prometheus string, page *promtest.Relay, before time.Time) time.Time {
	t.Helper()
	seconds := query(t, prometheus, fmt.Sprintf("max_over_time(timestamp(up{instance=%q} == 1)[1h:1s])", page.Address),
		before)
	require.Len(t, seconds, 1)
	return time.Unix(int64(seconds[0]), 0)
}

// relayed runs a program to its good end, with its page behind a relay.
func relayed(t *testing.T, page *promtest.Relay, args ...string) *program {
	t.Helper()
	p := begin(t, args...)
	page.To(p.page(t))
	p.ends(t, exitDone)
	return p
}

// prometheusRules is the file of the rules that the kit ships.
func prometheusRules(t *testing.T) string {
	t.Helper()
	rules, err := filepath.Abs(filepath.Join(prometheusScripts, "ds2.rules.yml"))
	require.NoError(t, err)
	return rules
}

// optional says that a query of the dashboard may have no answer: failures have no series as long as nothing fails, a
// phase that has just begun none of before, and a machine without drives of its own none of theirs.
func optional(expr string) bool {
	return strings.Contains(expr, "ds2_errors_total") || strings.Contains(expr, "unless") ||
		strings.Contains(expr, "ds2_host_disk")
}

// TestPrometheusOfMailboxes has a real Prometheus, with the rules of scripts/, scrape a run on mailboxes: its
// operations and its IOPS are there, and every query of the Grafana dashboard has an answer.
func TestPrometheusOfMailboxes(t *testing.T) {
	nightly.Long(t, "drives for 15 s")
	t.Parallel()
	page := promtest.StartRelay(t)
	prometheus := promtest.Start(t, []string{page.Address}, prometheusRules(t))
	target := pgtest.Database(t)
	must(t, words("load --target %s --workload mailbox --mailboxes 10 --mailbox-size 2MB -q", target)...)
	p := relayed(t, page, quick("drive", target,
		"--rate 50/s --spacing even --warmup-time 2s --run-time 12s --metrics-addr 127.0.0.1:0 --out out")...)
	record := recordOf(t, p.out)
	at := scrapedAt(t, prometheus, page, record.Start.Add(12*time.Second))
	requirePositive(t, prometheus, "sum(ds2_mailbox_operations_total)", at)
	requirePositive(t, prometheus, "ds2_iops", at)
	found := false
	for _, expr := range dashboardQueries(t) {
		got := query(t, prometheus, expr, at)
		t.Logf("%s: %v", expr, got)
		if strings.Contains(expr, "ds2_mailbox") {
			found = true
			assert.Len(t, got, 4, expr) // a transaction of several is none: what it consists of is counted
		}
		ofOrders := strings.Contains(expr, "ds2_rollbacks_total")
		assert.True(t, len(got) != 0 || ofOrders || optional(expr), "the dashboard's query %s gives nothing", expr)
	}
	assert.True(t, found, "the dashboard does not show the operations")
}

// dashboardQueries are the queries of the Grafana dashboard, with its variables filled in.
func dashboardQueries(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../scripts/grafana/dashboards/ds2.json")
	require.NoError(t, err)
	type expression struct{ Expr string }
	var dashboard struct {
		Panels      []struct{ Targets []expression }
		Annotations struct{ List []expression }
	}
	require.NoError(t, json.Unmarshal(text, &dashboard))
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
