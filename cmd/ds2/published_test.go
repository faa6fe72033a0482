package main

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/compare"
	"ds2/internal/conclude"
	"ds2/internal/experiment"
	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/runs"
	"ds2/internal/sampling"
	"ds2/internal/texttest"
	"ds2/internal/topology"
	"ds2/internal/workload/mailbox"
)

// publishedRun is a run of a published report of Jetstress (mailbox/WORKLOAD.md section 2). Times
// are in milliseconds, rates a second; what a report does not give is 0.
type publishedRun struct {
	reads, writes, logWrites, readMS, writeMS, logMS, logBytes, mib, watts, idle, target float64
}

// The runs by report and configuration, in their order. Of S004 only the sums of database I/Os are
// given by server and run: they stand as reads here; and MiB read and written of one run, which
// stand for all.
var publishedRuns = map[string][]publishedRun{
	"S000 disks": {
		{2116.369, 1832.661, 157.464, 4.451, 3.765, 5.056, 0, 37.911, 293.4, 275.5, 100},
		{2053.037, 1781.806, 159.654, 4.826, 3.544, 4.858, 32661.411, 37.089, 292.1, 275.6, 100},
		{1980.334, 1715.875, 162.329, 4.918, 3.203, 4.717, 0, 36.241, 292.2, 275, 100},
	},
	"S000 SSDs": {
		{5593.976, 5056.225, 847.172, 0.869, 4, 0.639, 15548.843, 100.78, 115.83, 111.57, 100},
		{5527.143, 5015.442, 842.935, 0.891, 4, 0.647, 0, 99.87, 114.56, 110.63, 100},
		{5702.545, 5156.376, 859.628, 0.841, 4, 0.634, 0, 102.78, 114.75, 110.49, 100},
	},
	"S004 MD3000": {
		{2749.752 + 3444.077, 0, 574.441 + 731.200, 0, 0, 0, 0, 51.90, 0, 0, 4800},
		{2759.957 + 3745.345, 0, 571.825 + 724.246, 0, 0, 0, 0, 51.90, 0, 0, 4800},
		{2690.159 + 3424.960, 0, 575.351 + 732.988, 0, 0, 0, 0, 51.90, 0, 0, 4800},
	},
	"S004 MD3220": {
		{7926.180 + 7919.197, 0, 1263.822 + 1247.713, 0, 0, 0, 0, 164.20, 0, 0, 4800},
		{7952.331 + 7973.266, 0, 1333.367 + 1316.144, 0, 0, 0, 0, 164.20, 0, 0, 4800},
		{7975.887 + 7996.756, 0, 1332.321 + 1311.826, 0, 0, 0, 0, 164.20, 0, 0, 4800},
	},
	"S003": {
		{139.504, 134.646, 75.691, 12.1, 71, 2.4, 12308.349, 0, 0, 0, 250},
		{71.512, 193.674, 35.534, 10.1, 36, 2.2, 7164.761, 0, 0, 0, 250},
	},
	// Of S002 the report gives latencies, and how many times as many I/Os each configuration does;
	// the rate of the disks is taken for 100.
	"S002 disks": slices.Repeat([]publishedRun{{60, 40, 0, 9.5, 0.5, 0, 0, 10, 0, 0, 100}}, 3),
	"S002 read cache": slices.Repeat(
		[]publishedRun{{120, 80, 0, 4.5, 0.5, 0, 0, 20, 0, 0, 100}},
		3,
	),
	"S002 tier": slices.Repeat([]publishedRun{{294, 196, 0, 2, 0.5, 0, 0, 42, 0, 0, 100}}, 3),
	"S004 MD3220 by server": {
		{
			7952.331,
			0,
			1333.367,
			0,
			0,
			0,
			0,
			0,
			0,
			0,
			2400,
		},
		{7973.266, 0, 1316.144, 0, 0, 0, 0, 0, 0, 0, 2400},
	},
}

// record writes the record of a run whose counters say second by second what the report says of the
// whole run.
func (p publishedRun) record(t *testing.T, dir, server string) result.Summary {
	t.Helper()
	const length = 60
	start := time.Date(2009, 2, 1, 12, 0, 0, 0, time.UTC)
	machine := &topology.Machine{Hostname: server, Drives: []topology.Drive{
		{
			Name:  "d",
			Roles: []topology.Role{topology.Data},
		},
		{Name: "e", Roles: []topology.Role{topology.Log}},
	}}
	counters := sampling.Table{}
	values := []float64{}
	for _, c := range []struct {
		column, drive string
		value         float64
	}{
		{sampling.DiskReads, "d", p.reads},
		{sampling.DiskReadTime, "d", p.readMS / 1000},
		{sampling.DiskWrites, "d", p.writes},
		{sampling.DiskWriteTime, "d", p.writeMS / 1000},
		{sampling.DiskReadBytes, "d", max(0, p.mib*(1<<20)-p.logBytes*p.logWrites)},
		{sampling.DiskWrittenBytes, "d", 0},
		{sampling.DiskReads, "e", 0},
		{sampling.DiskReadTime, "e", 0},
		{sampling.DiskWrites, "e", p.logWrites},
		{sampling.DiskWriteTime, "e", p.logMS / 1000},
		{sampling.DiskReadBytes, "e", 0},
		{sampling.DiskWrittenBytes, "e", p.logBytes * p.logWrites},
	} {
		counters.Columns = append(counters.Columns, sampling.ItemColumn(c.column, c.drive))
		values = append(values, c.value)
	}
	for second := 1; second <= length; second++ {
		counters.Rows = append(counters.Rows,
			sampling.Row{Time: start.Add(time.Duration(second) * time.Second), Values: values})
	}
	s := result.Summary{
		Spec: result.Spec{
			RunID: filepath.Base(dir), Workload: mailbox.Name, Engine: "postgres",
			Targets: []string{server + ":5432/mail"}, Threads: 4,
		},
		Happened: result.Happened{
			Status: result.Done, Start: start, End: start.Add(length * time.Second),
			Machine: machine,
		},
		Conclusion: result.Conclusion{Windows: []measure.Window{
			{
				Name: "published",
				From: 0,
				To:   length,
				Counts: measure.Counts{
					Orders: length,
				},
				Steady: measure.Steadiness{Verdict: true, Why: "steady"},
			},
		}},
	}
	if p.readMS > 0 {
		s.Conditions = append(
			s.Conditions,
			result.Condition{Name: result.ReadLatency, Value: p.readMS, Unit: "ms"},
		)
	}
	if p.watts > 0 {
		s.Power = &result.Power{Idle: &p.idle, Active: &p.watts}
	}
	w, err := result.Create(dir, s)
	require.NoError(t, err)
	s.Words = mailbox.Workload{}.Words()
	s.Own = result.NewBlock(map[string]any{
		"mailboxes": 500, "profile": "exchange2007", "target_iops": p.target,
	})
	in := conclude.Input{Spec: s.Spec, Happened: s.Happened, Counters: counters}
	require.NoError(t, mailbox.Workload{Engines: mailboxEngines}.Conclude(in, &s.Conclusion))
	require.NoError(
		t,
		errors.Join(w.Close(), result.SaveHost(dir, &counters, start), result.SaveSummary(dir, s)),
	)
	return s
}

// TestPublishedReports takes the figures of the published reports through counters, records,
// benches, report and compare.
func TestPublishedReports(t *testing.T) {
	dir := t.TempDir()
	benches := map[string]string{}
	bench := func(name string) string {
		if made := benches[name]; made != "" {
			return made
		}
		b := result.Bench{
			Spec: result.Spec{Words: mailbox.Workload{}.Words(), Runs: len(publishedRuns[name])},
		}
		procedure := experiment.Bench{
			Dir:     filepath.Join(dir, strings.ReplaceAll(name, " ", "-")),
			Summary: b,
			Told:    func(string, ...any) {},
			Run: func(dir string, place runs.Place) (result.Summary, error) {
				return publishedRuns[name][place.Number-1].record(t, dir, "server"), nil
			},
		}
		require.NoError(t, result.MakeDir(procedure.Dir))
		require.NoError(t, procedure.Do(t.Context(), t.Context()))
		benches[name] = procedure.Dir
		return procedure.Dir
	}
	for _, c := range []struct {
		a, b       string
		runA, runB string // the reports' median runs
		want       map[string]float64
	}{
		// The report's 623 % of IOPS a watt are of rounded quotients of the median runs, 99.1 and
		// 13.7; this is of the medians of the runs' own.
		{
			"S000 disks", "S000 SSDs", "run-2", "run-1",
			map[string]float64{"total_iops": 188, "mb_per_s": 172, "total_iops_per_active_w": 627},
		},
		{
			"S004 MD3000", "S004 MD3220", "run-1", "run-2",
			map[string]float64{"total_iops": 147.7, "mb_per_s": 216.4},
		},
		{
			"S002 disks", "S002 read cache", "run-2", "run-2",
			map[string]float64{"total_iops": 100, "mb_per_s": 100, "read_latency_ms": -53},
		},
		{
			"S002 disks", "S002 tier", "run-2", "run-2",
			map[string]float64{"total_iops": 390, "mb_per_s": 320, "read_latency_ms": -79},
		},
	} {
		comparison := decoded[compare.Comparison](
			t,
			"compare",
			"--output",
			"json",
			"a="+bench(c.a),
			"b="+bench(c.b),
		)
		assert.Equal(
			t,
			c.runA,
			comparison.Configurations[0].Median,
			"the run by which %s stand in the report",
			c.a,
		)
		assert.Equal(
			t,
			c.runB,
			comparison.Configurations[1].Median,
			"the run by which %s stand in the report",
			c.b,
		)
		found := 0
		for _, d := range comparison.Differences {
			if want, asked := c.want[d.Figure]; asked {
				found++
				_, decimals, _ := strings.Cut(fmt.Sprint(want), ".")
				assert.InDelta(
					t,
					want,
					d.Medians,
					0.5/math.Pow10(len(decimals)),
					"%s and %s: %s",
					c.a,
					c.b,
					d.Figure,
				)
			}
		}
		assert.Equal(t, len(c.want), found, "%s and %s", c.a, c.b)
	}

	records := func(name string) (dirs []string) {
		for i, p := range publishedRuns[name] {
			dirs = append(
				dirs,
				filepath.Join(dir, fmt.Sprint(strings.ReplaceAll(name, " ", "-"), i)),
			)
			p.record(t, dirs[i], fmt.Sprintf("server%d", i+1))
		}
		return dirs
	}
	s003 := records("S003")
	again := filepath.Join(dir, "S003-again")
	publishedRuns["S003"][1].record(t, again, "server1")
	for _, c := range []struct {
		why  string
		args []string
		want []string // lines, their blanks put together
	}{
		{
			"the bench of disks stands by its second run",
			[]string{"report", "--output", "esrp", filepath.Join(dir, "S000-disks")},
			[]string{
				"Database Disks Transfers/sec 3,834.843 ", "Log Disks Writes/sec 159.654 ",
				"Average Database Disk Read Latency (ms) 4.826 ", "Average Log Disk Write Latency (ms) 4.858 ",
				"Total Disks Transfers/sec, with the log's 3,994.497 ", "Disks Transfers (MiB/sec) 37.089 ",
				"Average Log Disk Write (bytes) 32,661.411 ", "Log Disks Reads/sec 0.000 ",
				"Achieved I/O per Second and Mailbox 7.670 ", "Total I/O per Second and Watt 13.68 ",
				"Mailboxes 500 ", "Test End 2009-02-01 12:01:00 UTC ",
			},
		},
		{
			"each element of the form as CSV",
			[]string{"report", "--output", "esrp-csv", filepath.Join(dir, "S000-disks")},
			[]string{
				`,Test summary,Test End,server,2009-02-01 12:01:00 UTC`, "of,table,row,column,value",
				`,Database I/O,Database Disks Transfers/sec,`, "Achieved I/O per Second and Mailbox",
				"Total I/O per Second and Watt", "Volumes", "Average Log Disk Write (bytes)",
			},
		},
		// Its own summary has the mean of reads and writes, 132.593, for their sum.
		{"the 24 h run", []string{"report", "--output", "esrp", s003[1]}, []string{
			"Database I/O figure server2 Database Disks Transfers/sec 265.186 ", "Database Disks Reads/sec 71.512 ",
			"Database Disks Writes/sec 193.674 ", "Average Database Disk Read Latency (ms) 10.100 ",
			"Average Database Disk Write Latency (ms) 36.000 ", "Log Disks Writes/sec 35.534 ",
			"Average Log Disk Write Latency (ms) 2.200 ", "is no ESRP result",
		}},
		{"24 h and 2 h of one server", []string{"report", "--output", "esrp", s003[0], again}, []string{
			"Overall Test Result Not judged Not judged",
			"Database I/O figure server1 server1 Database Disks Transfers/sec 274.150 265.186 Database Disks Reads",
		}},
		{"two servers", append([]string{"report", "--output", "esrp"}, records("S004 MD3220 by server")...), []string{
			"figure server1 server2 all servers", "Database Disks Transfers/sec 7,952.331 7,973.266 15,925.597",
			"Log Disks Writes/sec 1,333.367 1,316.144 2,649.511",
		}},
		{"the 2 h run's report", []string{"report", "--output", "text", "--details", s003[0]}, []string{
			"achieved transactional I/O per second (database reads and writes) 274.150",
			"target I/O per second 250.000",
			"database I/Os : log writes 3.62", "bytes a log write 12308", "database reads : writes 1.036",
			"d data 12.100 12.100 71.000 71.000 139.504 134.646",
		}},
	} {
		t.Log(c.why)
		texttest.Contains(t, texttest.Flat(must(t, c.args...)), c.want...)
	}
	fails(t, exitUsage, "--merge", "report", "--output", "esrp", "--merge", s003[0])
}
