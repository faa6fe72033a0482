package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/topology"
)

// mostOfAll is a run that has something in every table and sentence of a report.
func mostOfAll(s *result.Summary) {
	eventful(s)
	s.Rate = 500
	s.Spacing = "poisson"
	s.Proof = "experimental"
	s.Targets = []string{"host:5432/ds2", "host:5432/ds3"}
	s.InWords = []result.Said{{Name: "think", Value: "a lot"}}
	s.ByTarget = []result.Target{
		{
			Target: "a/ds2",
			OPM:    100,
			OPMOf:  &measure.Average{Orders: 1200, Seconds: 61.5},
			Counts: measure.Counts{Orders: 5000, Retries: 2},
		},
		{Target: "b/ds2", OPM: 200.123},
	}
	s.Scrub = []result.Scrub{
		{
			Target:   "a",
			Rate:     1e6,
			Seconds:  60,
			Requests: 1000,
			Bytes:    60e6,
			Device:   new(int64(7e7)),
			MeanMS:   new(1.234),
			MaxMS:    new(50.),
			Passes:   2,
			Failures: 1,
		},
		{Target: "b", Rate: 1e6, Seconds: 60, Requests: 0, Bytes: 0},
		{Target: "c", Rate: 1e6, Seconds: 60, Requests: 10, Bytes: 7e6, Device: new(int64(0))},
	}
	s.Machine = &topology.Machine{
		Hostname:    "db1",
		System:      "Debian",
		Kernel:      "6.1",
		Processor:   "Xeon",
		Processors:  4,
		MemoryBytes: 17e9,
		FileSystem: &topology.FileSystem{
			Type:       "ext4",
			MountPoint: "/data",
			Options:    []string{"rw", "noatime"},
		},
		Drives: []topology.Drive{
			{
				Name:      "sda",
				Model:     "INTEL",
				Bytes:     480e9,
				Roles:     []topology.Role{topology.Data, topology.Log},
				Scheduler: "none",
			},
			{Name: "sdb", Bytes: 480e9, Rotational: true},
			{Name: "f", File: true, Roles: []topology.Role{topology.Data}},
		},
	}
	s.Servers = []topology.Server{
		{Version: "PostgreSQL 15", Settings: map[string]string{"a": "1", "b": ""}},
		{},
	}
	s.DeepChecks = []store.DeepCheck{
		{
			Server:           "PostgreSQL 15",
			Checksums:        true,
			Objects:          20,
			Bytes:            123456789,
			Seconds:          7.77,
			ChecksumFailures: new(int64(0)),
			DriveReads:       new(1744.757),
			DriveReadMean:    new(.050),
		},
		{
			Server:           "PG 16",
			Objects:          20,
			Bytes:            123456789,
			Seconds:          7.77,
			Unchecked:        []string{"a: b", "c"},
			ChecksumFailures: new(int64(1234)),
			Damage: []store.Damage{
				{Object: "orders", Place: "block 7", Found: "bad"},
				{Found: "worse"},
				{Object: "x", Found: "y"},
			},
		},
	}
	s.Events = []result.Event{
		{Asked: 30, From: 30.01, To: 30.02, Command: "suspend"},
		{From: 37, To: 37.1, Command: "resume", Error: "exit status 1"},
	}
	s.Disturbances = []result.Disturbance{
		{
			Events: []int{1, 2},
			Disturbance: measure.Disturbance{
				From:        30.01,
				Undisturbed: 6000,
				Back:        new(7.02),
				Lost:        702,
				LostCI95:    new(40.),
				Longest:     7100,
			},
		},
		{
			Events: []int{2},
			Disturbance: measure.Disturbance{
				From:        30.01,
				Undisturbed: 6000,
				Lost:        702,
				Longest:     7100,
			},
		},
		{
			Events:      []int{3},
			Disturbance: measure.Disturbance{From: 55.1},
			Unknown:     "it is too late.",
		},
	}
	s.Slowest = []result.SlowOrder{
		{Operation: "login", From: 1, To: 2},
		{Operation: "login", From: 1, To: 3},
	}
	w := &s.Windows[0]
	w.OwnMean = new(1.5)
	w.Counts.Offered = 9000
	l := w.Latency[measure.WholeOrder]
	l.AtLeastFrom = new(98.76543)
	w.Latency[measure.WholeOrder] = l
	w.IO = map[string]measure.Latency{"sda read": l, "sda write": {Count: 3}}
	s.Sections = []result.Section{
		{
			Title: "T",
			Notes: []string{"a note", "another."},
			Head:  []string{"x", "y"},
			Rows:  [][]string{{"1", "2"}},
			Words: true,
		},
	}
	s.Log = []string{"time=2026-11-21T04:00:00.000Z level=INFO msg=hello"}
}

// TestTextsAreFilled: the templates fit the records that fill them; where one does not, the error
// stands in its place, and the page is there.
func TestTextsAreFilled(t *testing.T) {
	mail := record(t, mailStore)
	form, err := ESRP([]*result.Record{mail})
	require.NoError(t, err)
	experiment := arraysOf(t, 2.4, 0)
	undone := experiment
	undone.Status = result.Running
	slower := publishedArrays(t)
	for name, page := range map[string]Page{
		"run": Runs(record(t, mostOfAll)), "run of a mail store": Runs(mail), "form": form,
		"search": Search(search()), "experiment": Experiment(experiment),
		"experiment that is not done": Experiment(undone), "comparison": Comparison(slower),
		"bench": Bench(slower.Configurations[0]),
	} {
		text := told(t, page)
		assert.NotContains(t, text, "template: ", name)
		assert.NotContains(t, text, "<no value>", name)
	}
	text := say("headline of a run", "no record")
	assert.Contains(t, text, "can't evaluate field Figure", "an error is told")
}

// TestEndOfACell: a text of a record that holds what ends a cell or a row ends none.
func TestEndOfACell(t *testing.T) {
	for _, end := range []string{endOfCell, endOfLine} {
		run := record(t, func(s *result.Summary) {
			s.Events = []result.Event{{Command: "sync" + strings.Repeat(end+"x", 9)}}
		})
		assert.NotPanics(t, func() { told(t, Runs(run)) })
		table := fill("events", run.Summary)
		require.Len(t, table.Rows, 1, "%q", end)
		require.Len(t, table.Rows[0], len(table.Head), "%q", end)
		assert.Contains(t, table.Rows[0][3], "sync"+clean(end)+"x", "it is shown")
	}
}

// TestTextsAreUsed: each template is filled by the code, or is a part of another.
func TestTextsAreUsed(t *testing.T) {
	source := tableTexts + chartTexts + sentenceTexts
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, path := range files {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		source += string(text)
	}
	for _, text := range texts.Templates() {
		uses := strings.Count(source, `"`+text.Name()+`"`)
		assert.True(t, text.Name() == "" || uses > 1, "nobody says %q", text.Name())
	}
}
