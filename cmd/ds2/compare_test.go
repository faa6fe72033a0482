package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/compare"
	"ds2/internal/result"
	"ds2/internal/texttest"
	"ds2/internal/workload/ds2"
)

// benchOf writes a bench with the runs' OPM and conditions, and the watts that the storage report
// gives: those of the median run.
func benchOf(
	t *testing.T,
	dir string,
	idle, active float64,
	conditions []result.Condition,
	opm ...float64,
) string {
	t.Helper()
	spec := result.Spec{Words: ds2.Workload{}.Words(), Runs: len(opm), Size: "W", Threads: 32}
	b := result.Bench{Spec: spec, Status: result.Done}
	for i, v := range opm {
		headline := result.NewHeadline(&result.Figure{Unit: result.OPM, Value: v})
		run := result.BenchRun{
			Dir:      fmt.Sprint("run-", i+1),
			Status:   result.Done,
			Counts:   true,
			Headline: headline,
		}
		b.Runs = append(b.Runs, run)
	}
	compare.Runs(&b)
	for i := range b.Runs {
		b.Runs[i].Conditions = conditions
		if b.Runs[i].Dir == b.Median {
			b.Runs[i].Idle = &idle
			b.Runs[i].Active = &active
			b.Runs[i].Figure.PerWatt = new(b.Runs[i].Figure.Value / active)
		}
	}
	compare.Runs(&b)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, result.SaveSummary(dir, b))
	return dir
}

// TestCompareTheStorageReport gets the report's table and its +35 %, −35 % and −42 % (WORKLOAD.md
// section 6), and compares what an event did to the median runs.
func TestCompareTheStorageReport(t *testing.T) {
	dir := t.TempDir()
	conditions := func(cpus, back float64) []result.Condition {
		return []result.Condition{
			{Name: result.ServerProcessors, Value: cpus, Unit: "%"},
			{Name: result.LostOrders, Value: 100 * back},
			{Name: result.BackAfter, Value: back, Unit: "s"},
			{Name: result.LongestOrder, Value: 1003 * back, Unit: "ms"},
		}
	}
	hdd := benchOf(
		t,
		filepath.Join(dir, "hdd"),
		682.0,
		776.9,
		conditions(25.7, 8),
		48172.0,
		46586.3,
		48142.0,
	)
	ssd := benchOf(
		t,
		filepath.Join(dir, "ssd"),
		393.1,
		501.4,
		conditions(39.1, 2),
		64973.7,
		67356.7,
		64203.0,
	)

	texttest.Contains(
		t,
		texttest.Flat(must(t, "compare", "--details", "24 hard disks="+hdd, "6 SSDs="+ssd)),
		"24 hard disks run-1 48,172",
		"6 SSDs run-3 64,203",
		"OPM 47,600 65,500 +38 % +31 % to +45 %",
		"Differences from 24 hard disks",
		"6 SSDs OPM +38 % (95 % confidence +31 % to +45 %, p = 9.8e-05, significant at 0.05); medians +35 %",
		"active power -35 % (significance unknown",
		"idle power -42 % (significance unknown",
		"OPM per watt +109 % (significance unknown",
		"CPUs of the database +52 %",
		"orders lost to events rate back after s longest order after one ms",
		"800 8.00 8,024",
		"200 2.00 2,006",
		"cycles lost to events -75 %",
		"until the rate was back, longest -75 %",
		"longest cycle after an event -75 %",
	)

	c := decoded[compare.Comparison](t, "compare", "-o", "json", hdd, ssd)
	percent := map[string]float64{}
	for _, d := range c.Differences {
		percent[d.Figure] = d.Medians
		if d.Figure == "opm" {
			assert.True(t, d.Percent > *d.Low && d.Percent < *d.High,
				"the estimate lies outside of its interval: %+v", d)
		} else { // it was measured in one run of three, and is not said to be significant or not
			assert.True(t, d.P == nil && d.Low == nil && d.Significant == nil, "%+v", d)
		}
	}
	for figure, want := range map[string]float64{
		"opm": 34.96, "active_w": -35.46, "idle_w": -42.36,
		"processors_pct": 52.14,
		"lost_to_events": -75, "back_after_s": -75, "longest_after_event_ms": -75,
	} {
		assert.InDelta(t, want, percent[figure], .01, figure)
	}
	assert.Equal(t, 48142., *c.Configurations[0].OPM)
	assert.Equal(t, 64973.7, *c.Configurations[1].OPM)
	assert.Equal(t, "ssd", c.Configurations[1].Name)

	lines := strings.Split(strings.TrimSpace(must(t, "compare", "-o", "csv", hdd, ssd)), "\n")
	require.Len(t, lines, 7)
	assert.Regexp(t, `^ssd,run-1,true,true,64973\.7,,393\.1,501\.4,"its record is not there`, lines[4])
}

// TestDeviceRecords (E9): what devices do by themselves is reported with a conclusion, and
// compared.
func TestDeviceRecords(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, most float64) string {
		r := result.Device{
			Format: result.DeviceFormat, Kind: "device",
			Log: result.DevicePoint{Depth: 1, IOPS: 900, Mean: .001},
		}
		for _, depth := range []int{1, 2, 4} {
			r.Reads = append(
				r.Reads,
				result.DevicePoint{Depth: depth, IOPS: most, Mean: float64(depth) / most},
			)
		}
		path := filepath.Join(dir, name+".json")
		require.NoError(t, r.Save(path))
		return path
	}
	hdd := write("hdd", 600)
	ssd := write("ssd", 1500)
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{
			[]string{"report", "-o", "text", hdd},
			exitDone,
			"random reads: flat at 600/s from depth 1: an IOPS cap",
		},
		{[]string{"report", hdd}, exitDone, filepath.Join(dir, "hdd.html")},
		{
			[]string{"compare", "--details", hdd, "fast=" + ssd},
			exitDone,
			"fast does 2.5 × the random reads of hdd\n",
		},
		{[]string{"compare", hdd, dir}, exitUsage, "compare devices with devices"},
	} {
		stdout, stderr := ends(t, c.code, c.args...)
		assert.Contains(t, stdout+stderr, c.want)
	}
}

// TestGate: compare exits with 3 only where the interval excludes the bound, and with 4 where it
// holds it.
func TestGate(t *testing.T) {
	dir := t.TempDir()
	benchOf(t, dir+"/before", 100, 200, nil, 60000, 60300, 59800)
	benchOf(t, dir+"/worse", 100, 200, nil, 55000, 55200, 54900)
	benchOf(t, dir+"/noisy", 100, 200, nil, 52000, 60500, 57000)
	benchOf(t, dir+"/once", 100, 200, nil, 30000)
	errors := func(n float64) []result.Condition {
		return []result.Condition{{Name: result.FailedAttempts, Value: n}}
	}
	benchOf(t, dir+"/fine", 100, 200, errors(0), 60000, 60300, 59800)
	benchOf(t, dir+"/failing", 100, 200, errors(7), 60000, 60300, 59800)
	comparing := func(gate string, others ...string) []string {
		args := []string{"compare", "--fail-if", gate, dir + "/before"}
		for _, other := range others {
			args = append(args, dir+"/"+other)
		}
		return args
	}
	for _, c := range []struct {
		why, gate, other string
		code             int
		stdout, stderr   string
	}{
		{
			"a loss beyond doubt", "opm < -2.5%", "worse", exitVerdict,
			"gate failed: opm < -2.5% of worse: opm changed by -8.3 % (95 % confidence",
			"gate failed: opm < -2.5% of worse: opm changed by -8.3 %",
		},
		{
			"a loss that is allowed", "opm<-10%", "worse", exitDone,
			"gate passed: opm<-10% of worse", "",
		},
		{
			"too much variation to tell", "opm < -2.5 %", "noisy", exitUnknown, "cannot tell",
			"gate cannot tell: opm < -2.5 % of noisy",
		},
		{
			"half as much, but in a single run", "opm < -2.5%", "once", exitUnknown,
			"that needs two runs of each", "",
		},
		{
			"power, which was measured once", "active power > 5%", "worse", exitUnknown,
			"gate cannot tell: active power > 5% of worse", "active power changed by +0 %",
		},
		{
			"a figure that the runs lack", "order p95 > 10%", "worse", exitUnknown, "",
			"was not measured",
		},
		{"no errors", "errors > 0", "fine", exitDone, "0 errors in the 3 counted runs", ""},
		{"errors", "errors > 0", "failing", exitVerdict, "21 errors in the 3 counted runs", ""},
		{
			"errors that were not recorded", "errors > 0", "worse", exitUnknown,
			"no errors are recorded", "",
		},
		{
			"no figure", "order p99 > 10%", "worse", exitUsage, "",
			"--fail-if: unknown figure \"order p99\"",
		},
		{"no percentage", "opm < 60000", "worse", exitUsage, "", "--fail-if: invalid gate"},
		{"errors in percent", "errors > 5%", "worse", exitUsage, "", "--fail-if: invalid gate"},
	} {
		t.Log(c.why)
		stdout, stderr := ends(t, c.code, append(comparing(c.gate, c.other), "--details")...)
		assert.Contains(t, stdout, c.stdout, c.why)
		assert.Contains(t, stderr, c.stderr, c.why)
	}
	fails(t, exitUsage, "--fail-if: name two directories", comparing("opm < -2.5%")...)
	_, stdout, _ := execute(t, append(comparing("opm < -2.5%", "worse", "once"), "-o", "json")...)
	var c compare.Comparison
	require.NoError(t, json.Unmarshal([]byte(stdout), &c))
	require.Len(t, c.Gates, 2)
	assert.Equal(t, compare.GateFailed, c.Gates[0].Outcome)
	assert.Equal(t, compare.GateOpen, c.Gates[1].Outcome)
}
