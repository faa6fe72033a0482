package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
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
	ds2 := func(want int, line string) (stdout, stderr string) {
		t.Helper()
		return ends(t, want, words("%s", strings.NewReplacer("TARGET", target, "DIR", dir).Replace(line))...)
	}
	script, _ := ds2(exitDone, "schema --workload tpcb")
	texttest.Contains(t, script, "CREATE TABLE tpcb_history", "CREATE TABLE ds2_info")
	ds2(exitDone, "load --target TARGET --workload tpcb -q")
	ds2(exitDone, "load --target TARGET --workload tpcb --drop -q")

	const (
		users = " --threads 2"
		run   = " --target TARGET --ramp-rate 100 --warmup-time 0 --run-time 2s --metrics-addr '' --quiet"
	)
	_, refusal := ds2(exitUsage, "drive --limit 'purchase p95 < 1s'"+users+run)
	texttest.Contains(t, refusal, "the database is one of workload tpcb, whose operations are post, transfer")
	_, refusal = ds2(exitUsage, "drive --batch 2"+users+run)
	texttest.Contains(t, refusal, "--batch")

	pushed := gateway(t)
	stdout, _ := ds2(exitVerdict, "drive --limit 'transfer p95 < 10m' --limit 'post max < 1us' --verify audit "+
		"--details --pushgateway "+pushed.url+" --out DIR/run"+users+run)
	texttest.Contains(t, stdout, "FAIL: post max < 1us", "TPM", "transfers")
	ownWords(t, "the run", stdout)
	record := recordOf(t, at("run"))
	assert.True(t, len(record.Limits) == 2 && record.Limits[0].OK && !record.Limits[1].OK, "limits %+v", record.Limits)
	a := record.Audit
	assert.True(t, a != nil && len(a.Checks) == 6 && a.Passed, "audit %+v", a)
	withdrawals, transfers := record.Counts.Of("withdrawals"), record.Counts.Orders
	assert.True(t, withdrawals > 0 && withdrawals < transfers, "%d withdrawals of %d transfers", withdrawals, transfers)
	assert.EqualValues(t, transfers, pushed.counter(t, "ds2_tpcb_operations_total"))
	assert.EqualValues(t, withdrawals, pushed.counter(t, "ds2_tpcb_withdrawals_total"))

	text, _ := ds2(exitDone, "report --output text --details DIR/run")
	texttest.Contains(t, text, "TPM", "The audit passed: 6 checks", "post max < 1us")
	ownWords(t, "the report", text)
	page, _ := ds2(exitDone, "report --output html --out - DIR/run")
	texttest.Contains(t, page, "Transfers per minute", "post max &lt; 1us")
	json, _ := ds2(exitDone, "report --output json --window 0s-2s DIR/run")
	texttest.Contains(t, json, `"unit": "TPM"`, `"workload": "tpcb"`, `"post"`)
	samples, _ := ds2(exitDone, "report --output csv DIR/run")
	texttest.Contains(t, samples, "withdrawals")

	stdout, _ = ds2(exitDone, "bench --runs 2 --out DIR/bench"+noPauses+users+run)
	texttest.Contains(t, stdout, "TPM")
	ownWords(t, "the bench", stdout)
	compared, _ := ds2(exitDone, "compare --details a=DIR/bench b=DIR/run")
	texttest.Contains(t, compared, "TPM", "post")
	ownWords(t, "the comparison", compared)

	ds2(exitDone, "verify --target TARGET --record DIR/bench/run-2 -q")

	plan := "target: " + target + "\nseed: 28\nruns: 2\nrun-time: 2s\nkeep-faulty: true\nlimit: 'post p95 < " +
		"10m'\nfactors: {threads: [1, 2]}\n" + noPausesYAML
	stdout, told := ds2(exitDone, "experiment --out DIR/experiment --details "+textFile(t, "branches.yaml", plan))
	texttest.Contains(t, stdout, "TPM of threads 2", "Pass: every limit holds")
	ownWords(t, "the experiment", stdout+told)
	again, _ := ds2(exitDone, "report --output text --details --window 0s-2s DIR/experiment")
	texttest.Contains(t, again, "TPM of threads 2")
	ownWords(t, "the experiment's report", again)

	stdout, told = ds2(exitDone, "tune --restore none --start-threads 1 --max-threads 2 --limit 'transfer p95 < 10m' "+
		"--out DIR/search --details"+run)
	texttest.Contains(t, stdout, "TPM with", "transfer p95 ms")
	ownWords(t, "the search", stdout+told)

	// Two machines, one after the other here: their clocks are put together in the records.
	var machines []*result.Record
	for i, name := range []string{"machine1", "machine2"} {
		ds2(exitDone, fmt.Sprintf("drive --run-id both --seed 7 --verify none --out DIR/%s --user-offset %d", name,
			2*i)+users+run)
		record := recordOf(t, at(name))
		machines = append(machines, record)
		record.Start = machines[0].Start
		require.NoError(t, result.SaveSummary(at(name), record.Summary))
	}
	merged, _ := ds2(exitDone, "report --merge --output text --details DIR/machine1 DIR/machine2")
	texttest.Contains(t, merged, "4 users", "TPM", "transfers")
	ownWords(t, "the merged report", merged)
	stdout, _ = ds2(exitDone, "verify --target TARGET --record DIR/machine1 --record DIR/machine2 -q")
	total := machines[0].Counts.Orders + machines[1].Counts.Orders
	texttest.Contains(t, stdout, fmt.Sprintf("transfers of the run: expected %d, found %[1]d", total))

	pgtest.Exec(t, openDB(t, target), "UPDATE tpcb_accounts SET balance = balance + 1 WHERE aid = 7",
		"ALTER TABLE tpcb_history ADD CHECK (delta = 0) NOT VALID")
	stdout, _ = ds2(exitVerdict, "verify --target TARGET -q")
	texttest.Contains(t, stdout, "balances of tpcb_accounts")
	_, failure := ds2(exitFailed, "drive --out DIR/failed"+users+run+" --run-time 1h")
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
	require.Contains(t, g.families, name, "what was pushed")
	for _, m := range g.families[name].Metric {
		sum += m.GetCounter().GetValue()
	}
	return sum
}
