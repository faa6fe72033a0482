package main

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

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

// TestThirdWorkload: a workload that is a separate room and a line in the map of workloads is loaded, driven, limited,
// reported, compared, run in a bench and an experiment, searched for its best number of users, merged, audited and
// shown to Prometheus, in its own words. It runs beside no other test, which would see its line.
func TestThirdWorkload(t *testing.T) {
	nightly.Long(t, "drives a dozen times")
	guests = map[string]tenant{tpcbtest.Name: bank}
	t.Cleanup(func() { guests = nil })
	target, dir := pgtest.Database(t), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	ds2 := func(code int, line string, says ...string) (said string) {
		t.Helper()
		names := strings.NewReplacer("TARGET", target, "DIR", dir)
		stdout, stderr := ends(t, code, words("%s", names.Replace(line))...)
		texttest.Contains(t, stdout+stderr, says...)
		return stdout + stderr
	}
	ds2(exitDone, "schema --workload tpcb", "CREATE TABLE tpcb_history", "CREATE TABLE ds2_info")
	ds2(exitDone, "load --target TARGET --workload tpcb -q")
	ds2(exitDone, "load --target TARGET --workload tpcb --drop -q")

	const (
		users = " --threads 2"
		run   = " --target TARGET --ramp-rate 100 --warmup-time 0 --run-time 2s --metrics-addr '' --quiet"
	)
	ds2(exitUsage, "drive --limit 'purchase p95 < 1s'"+users+run,
		"the database is one of workload tpcb, whose operations are post, transfer")
	ds2(exitUsage, "drive --lazy 2"+users+run, "--lazy")

	ownWords(t, ds2(exitVerdict, "drive --limit 'transfer p95 < 10m' --limit 'post max < 1us' --verify audit "+
		"--details --out DIR/run"+users+run, "FAIL: post max < 1us", "TPM", "transfers"))
	record := recordOf(t, at("run"))
	assert.True(t, len(record.Limits) == 2 && record.Limits[0].OK && !record.Limits[1].OK, "limits %+v", record.Limits)
	a := record.Audit
	assert.True(t, a != nil && len(a.Checks) == 6 && a.Passed, "audit %+v", a)
	withdrawals, transfers := record.Counts.Of("withdrawals"), record.Counts.Orders
	assert.True(t, withdrawals > 0 && withdrawals < transfers, "%d withdrawals of %d transfers", withdrawals, transfers)
	ownWords(t, ds2(exitDone, "report --output text --details DIR/run", "TPM",
		"The audit of what this run wrote passed: 6 checks",
		"post max < 1us"))
	ds2(exitDone, "report --output html --out - DIR/run", "Transfers per minute", "post max &lt; 1us")
	ds2(exitDone, "report --output json --window 0s-2s DIR/run", `"unit": "TPM"`, `"workload": "tpcb"`, `"post"`)
	ds2(exitDone, "report --output csv DIR/run", "withdrawals")

	ownWords(t, ds2(exitDone, "bench --runs 2 --out DIR/bench"+noPauses+users+run, "TPM"))
	ownWords(t, ds2(exitDone, "compare --details a=DIR/bench b=DIR/run", "TPM", "post"))
	ds2(exitDone, "verify --target TARGET --record DIR/bench/run-2 -q")

	plan := "target: " + target + "\nseed: 28\nruns: 2\nrun-time: 2s\nlimit: 'post p95 < " +
		"10m'\nfactors: {threads: [1, 2]}\n" + noPausesYAML
	ownWords(t, ds2(exitDone, "experiment --out DIR/experiment --details "+textFile(t, "branches.yaml", plan),
		"TPM of threads 2", "Pass: every limit holds"))
	ownWords(t, ds2(exitDone, "report --output text --details --window 0s-2s DIR/experiment", "TPM of threads 2"))
	ownWords(t, ds2(exitDone, "tune --restore none --start-threads 1 --max-threads 2 --limit 'transfer p95 < 10m' "+
		"--out DIR/search --details"+run, "TPM with", "transfer p95 ms"))

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
	ownWords(t, ds2(exitDone, "report --merge --output text --details DIR/machine1 DIR/machine2", "4 users", "TPM",
		"transfers"))
	ds2(exitDone, "verify --target TARGET --record DIR/machine1 --record DIR/machine2 -q", fmt.Sprintf(
		"transfers of the run: expected %d, found %[1]d", machines[0].Counts.Orders+machines[1].Counts.Orders))

	pgtest.Exec(t, pgtest.DB(t, target), "UPDATE tpcb_accounts SET balance = balance + 1 WHERE aid = 7",
		"ALTER TABLE tpcb_history ADD CHECK (delta = 0) NOT VALID")
	ds2(exitVerdict, "verify --target TARGET -q", "balances of tpcb_accounts")
	ownWords(t, ds2(exitFailed, "drive --out DIR/failed"+users+run+" --run-time 1h",
		"give up after 101 transfers that could not be completed"))
}

// ownWords finds fault with words of other workloads.
func ownWords(t *testing.T, text string) {
	t.Helper()
	others := regexp.MustCompile(`(?i)\b(OPM|orders?|purchases?|rollbacks?|customers?|mailbox(es)?)\b`)
	text = strings.ReplaceAll(text, "in a random order of seed", "") // of blocks
	for line := range strings.Lines(text) {
		assert.False(t, others.MatchString(line), "words of another workload: %s", line)
	}
}
