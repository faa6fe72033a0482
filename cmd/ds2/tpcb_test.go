package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/nightly"
	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/texttest"
	"ds2/internal/tpcbtest"
	"ds2/internal/workload"
)

// bank is workload tpcb as the map of workloads would have it.
var bank = tenant{
	Workload: tpcbtest.Workload{},
	dataset:  func(*loadFlags) (workload.Dataset, error) { return tpcbtest.Dataset{Branches: 2}, nil },
	plan: func(_ *driveFlags, _ context.Context, targets []store.Database, infos []store.Info) (workload.Plan, error) {
		return tpcbtest.NewPlan(targets, infos)
	},
}

// TestThirdWorkload: a workload that is a room of its own and a line in the map of workloads is loaded, driven,
// limited, reported, compared, run in a bench and an experiment, searched for its best number of users, merged, audited
// and shown to Prometheus, in its own words. It runs beside no other test, which would see its line.
func TestThirdWorkload(t *testing.T) {
	nightly.Long(t, "drives a dozen times")
	guests = map[string]tenant{tpcbtest.Name: bank}
	t.Cleanup(func() { guests = nil })
	target, dir := pgtest.Database(t), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	succeed := func(want int, args ...string) (stdout, stderr string) {
		t.Helper()
		code, stdout, stderr := execute(t, args...)
		require.Equal(t, want, code, "ds2 %s\n%s\n%s", strings.Join(args, " "), stdout, stderr)
		return stdout, stderr
	}
	script, _ := succeed(exitDone, "schema", "--workload", "tpcb")
	texttest.Contains(t, script, "CREATE TABLE tpcb_history", "CREATE TABLE ds2_info")
	succeed(exitDone, "load", "--target", target, "--workload", "tpcb", "-q")
	succeed(exitDone, "load", "--target", target, "--workload", "tpcb", "--drop", "-q")

	drive := []string{"--target", target, "--threads", "2", "--ramp-rate", "100", "--warmup-time", "0", "--run-time", "2s", "--metrics-addr", "", "--quiet"}
	_, refusal := succeed(exitUsage, append([]string{"drive", "--limit", "purchase p95 < 1s"}, drive...)...)
	texttest.Contains(t, refusal, "the database is one of workload tpcb, whose operations are post, transfer")
	_, refusal = succeed(exitUsage, append([]string{"drive", "--batch", "2"}, drive...)...)
	texttest.Contains(t, refusal, "--batch")

	pushed := gateway(t)
	limits := []string{"--limit", "transfer p95 < 10m", "--limit", "post max < 1us", "--verify", "audit", "--details", "--pushgateway", pushed.url, "--out", at("run")}
	stdout, _ := succeed(exitVerdict, append(append([]string{"drive"}, limits...), drive...)...)
	texttest.Contains(t, stdout, "FAIL: post max < 1us", "TPM", "transfers")
	ownWords(t, "the run", stdout)
	record := recordOf(t, at("run"))
	assert.True(t, len(record.Limits) == 2 && record.Limits[0].OK && !record.Limits[1].OK, "limits %+v", record.Limits)
	a := record.Audit
	assert.True(t, a != nil && len(a.Checks) == 6 && a.Passed, "audit %+v", a)
	withdrawals := record.Counts.Of("withdrawals")
	assert.True(t, withdrawals > 0 && withdrawals < record.Counts.Orders, "%d withdrawals of %d transfers", withdrawals, record.Counts.Orders)
	for name, want := range map[string]int64{"ds2_tpcb_operations_total": record.Counts.Orders, "ds2_tpcb_withdrawals_total": withdrawals} {
		got := pushed.counter(t, name)
		assert.True(t, got == float64(want), "Prometheus has %s %v instead of %d", name, got, want)
	}

	text, _ := succeed(exitDone, "report", "--output", "text", "--details", at("run"))
	texttest.Contains(t, text, "TPM", "The audit passed: 6 checks", "post max < 1us")
	ownWords(t, "the report", text)
	succeed(exitDone, "report", "--output", "html", "--out", at("run.html"), at("run"))
	page, err := os.ReadFile(at("run.html"))
	require.NoError(t, err)
	texttest.Contains(t, string(page), "Transfers per minute", "post max &lt; 1us")
	json, _ := succeed(exitDone, "report", "--output", "json", "--window", "0s-2s", at("run"))
	texttest.Contains(t, json, `"unit": "TPM"`, `"workload": "tpcb"`, `"post"`)
	samples, _ := succeed(exitDone, "report", "--output", "csv", at("run"))
	texttest.Contains(t, samples, "withdrawals")

	pause := []string{"--runs", "2", "--restore", "none", "--settle", "0", "--idle", "0", "--cooldown", "0"}
	stdout, _ = succeed(exitDone, append(append([]string{"bench", "--out", at("bench")}, pause...), drive...)...)
	texttest.Contains(t, stdout, "TPM")
	ownWords(t, "the bench", stdout)
	compared, _ := succeed(exitDone, "compare", "--details", "a="+at("bench"), "b="+at("run"))
	texttest.Contains(t, compared, "TPM", "post")
	ownWords(t, "the comparison", compared)

	succeed(exitDone, "verify", "--target", target, "--record", at("bench/run-2"), "-q")

	file := at("branches.yaml")
	plan := strings.Join([]string{"target: " + target, "seed: 28", "runs: 2", "practice: 0", "restore: none", "settle: 0", "idle: 0", "cooldown: 0",
		"warmup-time: 0", "run-time: 2s", "think-time: 20ms", "ramp-rate: 100", "keep-faulty: true", "metrics-addr: ''", "limit: 'post p95 < 10m'", "factors: {threads: [1, 2]}"}, "\n")
	require.NoError(t, os.WriteFile(file, []byte(plan), 0o644))
	stdout, told := succeed(exitDone, "experiment", file, "--out", at("experiment"), "--details")
	texttest.Contains(t, stdout, "TPM of threads 2", "Pass: every limit holds")
	ownWords(t, "the experiment", stdout+told)
	again, _ := succeed(exitDone, "report", "--output", "text", "--details", "--window", "0s-2s", at("experiment"))
	texttest.Contains(t, again, "TPM of threads 2")
	ownWords(t, "the experiment's report", again)

	search := []string{"--restore", "none", "--start-threads", "1", "--max-threads", "2", "--limit", "transfer p95 < 10m", "--out", at("search"), "--details"}
	of := slices.DeleteFunc(slices.Clone(drive), func(flag string) bool { return flag == "--threads" || flag == "2" })
	stdout, told = succeed(exitDone, append(append([]string{"tune"}, search...), of...)...)
	texttest.Contains(t, stdout, "TPM with", "transfer p95 ms")
	ownWords(t, "the search", stdout+told)

	// Two machines, one after the other here: their clocks are put together in the records.
	var machines []*result.Record
	for i, dir := range []string{at("machine1"), at("machine2")} {
		succeed(exitDone, append(append([]string{"drive", "--run-id", "both", "--seed", "7", "--verify", "none", "--out", dir},
			"--user-offset", strconv.Itoa(2*i)), drive...)...)
		record := recordOf(t, dir)
		machines = append(machines, record)
		record.Start = machines[0].Start
		require.NoError(t, result.SaveSummary(dir, record.Summary))
	}
	merged, _ := succeed(exitDone, "report", "--merge", "--output", "text", "--details", at("machine1"), at("machine2"))
	texttest.Contains(t, merged, "4 users", "TPM", "transfers")
	ownWords(t, "the merged report", merged)
	stdout, _ = succeed(exitDone, "verify", "--target", target, "--record", at("machine1"), "--record", at("machine2"), "-q")
	total := machines[0].Counts.Orders + machines[1].Counts.Orders
	texttest.Contains(t, stdout, fmt.Sprintf("transfers of the run: expected %d, found %[1]d", total))

	db := openDB(t, target)
	pgtest.Exec(t, db, "UPDATE tpcb_accounts SET balance = balance + 1 WHERE aid = 7; ALTER TABLE tpcb_history ADD CHECK (delta = 0) NOT VALID")
	stdout, _ = succeed(exitVerdict, "verify", "--target", target, "-q")
	texttest.Contains(t, stdout, "balances of tpcb_accounts")
	_, failure := succeed(exitFailed, append(append([]string{"drive", "--out", at("failed")}, drive...), "--run-time", "1h")...)
	texttest.Contains(t, failure, "give up after 101 transfers that could not be completed")
	ownWords(t, "the failure", failure)
}

// ownWords finds fault with words of other workloads.
func ownWords(t *testing.T, what, text string) {
	t.Helper()
	others := regexp.MustCompile(`(?i)\b(OPM|orders?|purchases?|rollbacks?|customers?|mailbox(es)?)\b`)
	text = strings.ReplaceAll(text, "in a random order of seed", "") // of blocks
	for line := range strings.Lines(text) {
		assert.False(t, others.MatchString(line), "%s has words of another workload: %s", what, line)
	}
}

// pushgateway is where a run pushes its figures.
type pushgateway struct {
	url      string
	mu       sync.Mutex
	families map[string]*dto.MetricFamily
}

// gateway is a server that keeps what is pushed to it.
func gateway(t *testing.T) *pushgateway {
	g := &pushgateway{families: map[string]*dto.MetricFamily{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		defer g.mu.Unlock()
		decoder := expfmt.NewDecoder(r.Body, expfmt.ResponseFormat(r.Header))
		for {
			var f dto.MetricFamily
			if err := decoder.Decode(&f); err == io.EOF {
				return
			} else if err != nil {
				t.Error(err)
				return
			}
			g.families[f.GetName()] = &f
		}
	}))
	t.Cleanup(server.Close)
	g.url = server.URL
	return g
}

// counter is the sum of a counter's series.
func (g *pushgateway) counter(t *testing.T, name string) (sum float64) {
	t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	f := g.families[name]
	if f == nil {
		t.Errorf("%s was not pushed", name)
		return 0
	}
	for _, m := range f.Metric {
		sum += m.GetCounter().GetValue()
	}
	return sum
}
