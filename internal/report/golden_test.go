package report

import (
	"bytes"
	"encoding/csv"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/compare"
	"ds2/internal/diagnose"
	"ds2/internal/fuzztest"
	"ds2/internal/measure"
	"ds2/internal/monitor"
	"ds2/internal/result"
	"ds2/internal/store"
)

var update = flag.Bool("update", false, "write what the golden tests got into testdata")

// golden compares got with a file of testdata, line by line.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	a := append(strings.Split(got, "\n"), "(nothing)")
	b := append(strings.Split(string(want), "\n"), "(nothing)")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Fatalf(
				"%s line %d differs (go test -update writes it again):\ngot  %s\nwant %s",
				path,
				i+1,
				a[i],
				b[i],
			)
		}
	}
}

// eventful is a run that has something to say in every part of its report.
func eventful(s *result.Summary) {
	s.Limits = result.Verdicts{
		{Limit: "order p95 < 500ms", Unit: result.UnitSeconds, Bound: 0.5, Measured: new(0.612)},
	}
	s.Power = &result.Power{Idle: new(393.1), Active: new(501.4)}
	s.Figure.PerWatt = new(13.0)
	s.Bottleneck = &result.Bottleneck{}
	s.Shown = []result.Finding{result.NewFinding(result.Distorted, "the drive is a loop device")}
	s.Bottleneck.What = diagnose.Storage
	s.Bottleneck.Why = "sessions wait 83 % of their time for it"
	s.Bottleneck.Figures = result.Evidence{DeviceReads: new(.41), DeviceLog: new(.12)}
	s.SMART = []monitor.SMART{
		{
			Drive:     "nvme0n1",
			Model:     "SAMSUNG MZQL21T9HCJR-00A07",
			HostBytes: new(8.21e9),
			Before:    monitor.SMARTReading{Temperature: new(38.)},
			After: monitor.SMARTReading{
				Temperature: new(71.),
				Wear:        new(.03),
				HotMinutes:  new(2.),
			},
			Throttled: "3 times, too hot for 2 minutes",
		},
		{
			Drive: "sdm", Model: "INTEL SSDSC2KB480G8", HostBytes: new(1.34e9),
			Before: monitor.SMARTReading{Temperature: new(30.)},
			After:  monitor.SMARTReading{Temperature: new(31.), Wear: new(.0), Throttles: new(0.)},
		},
	}
	s.DataSeeds = []uint64{2}
	s.Command = &result.Command{
		Line: "ds2 drive --target postgres://ds2:***@host/ds2 --threads 8",
		Flags: map[string]string{
			"target":    "postgres://ds2:***@host/ds2",
			"threads":   "8",
			"ramp-rate": "10",
		},
	}
	s.CumulativeOPM = &s.Windows[0].OPM
	s.CumulativeOf = &measure.Average{Orders: s.Windows[0].Counts.Orders, Seconds: 60}
	s.Counts.Retries = 3
	s.Counts.Reconnects = 1
	s.Audit.Passed = false
	s.Audit.Checks = append(
		s.Audit.Checks,
		result.Check{Name: "orders", Expected: "6000", Found: "5999"},
	)
}

func TestGolden(t *testing.T) {
	r := record(t, eventful)
	r.Dir = "ds2-results/k7c2"
	golden(t, "run.txt", told(t, Runs(r)))
	page := written(t, Runs(r))
	for _, part := range []string{string(pageCSS), string(pageJS), string(echartsJS)} {
		page = strings.Replace(page, part, "…", 1)
	}
	golden(t, "run.html", page)
}

const hostile = "=1+1\x1b[2J\n\u202ecod.exe\u2028"

// TestHostileTexts: what a run id, a label, a name, a fault or a server says is shown, and never
// obeyed.
func TestHostileTexts(t *testing.T) {
	r := record(t, func(s *result.Summary) {
		eventful(s)
		s.RunID = hostile
		s.Error = hostile
		s.Engine = hostile
		s.Size = hostile
		s.KitVersion = hostile
		s.Status = result.Failed
		s.Targets = []string{hostile}
		s.Windows[0].Name = hostile
		s.Windows[0].Steady.Why = hostile
		s.Bottleneck.What = hostile
		s.Bottleneck.Why = hostile
		s.Shown = []result.Finding{result.NewFinding(result.Distorted, hostile).About(hostile)}
		s.Errors[0].Operation = hostile
		s.Audit.Checks[0].Name = hostile
		s.Audit.Checks[1].Found = hostile
		s.Command.Line = hostile
		s.Command.Flags[hostile] = hostile
		s.SMART[0].Drive = hostile
		s.SMART[0].Model = hostile
		s.SMART[0].Throttled = hostile
		s.DeepChecks = []store.DeepCheck{{
			Server: hostile,
			Damage: []store.Damage{{Object: hostile, Place: hostile, Found: hostile}},
		}}
	})
	run := result.BenchRun{
		Dir: hostile, Counts: true, Headline: r.Headline, Findings: r.Findings,
		Bottleneck: hostile,
	}
	bench := result.Bench{
		Status:   result.Failed,
		Headline: r.Headline,
		Runs:     []result.BenchRun{run},
		Spec: result.Spec{
			RunID:   hostile,
			Engine:  hostile,
			Size:    hostile,
			Targets: []string{hostile},
			Runs:    2,
		},
	}
	configuration := compare.Configuration{Name: hostile, Dir: filepath.Dir(r.Dir), Bench: bench}
	comparison := compare.WithFirst([]compare.Configuration{configuration, configuration})
	records := []*result.Record{r}
	for name, write := range map[string]func(io.Writer) error{
		"text": func(w io.Writer) error { return Runs(records...).Text(w, true, 0) },
		"page": func(w io.Writer) error { return Runs(records...).HTML(w) },
		"CSV":  func(w io.Writer) error { return CSV(w, records) },
		"bench": func(w io.Writer) error {
			return Bench(configuration).Text(w, true, 0)
		},
		"compare": func(w io.Writer) error {
			return Comparison(comparison).Text(w, true, 0)
		},
		"compare as a page": func(w io.Writer) error { return Comparison(comparison).HTML(w) },
		"compare as CSV":    func(w io.Writer) error { return CompareCSV(w, comparison) },
	} {
		var b bytes.Buffer
		require.NoError(t, write(&b), name)
		out := strings.Replace(b.String(), string(echartsJS), "", 1)
		escaped := strings.Contains(out, `\x1b[2J\n\u202ecod.exe\u2028`) ||
			strings.Contains(out, `\\x1b[2J`)
		assert.True(t, escaped, "%s does not show the hostile text escaped", name)
		for i, c := range out {
			if c != '\n' && c != '\t' &&
				unicode.In(c, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
				t.Fatalf("%s holds %U: …%q", name, c, out[max(0, i-60):i+4])
			}
		}
		if strings.HasSuffix(name, "CSV") {
			lines, err := csv.NewReader(strings.NewReader(out)).ReadAll()
			require.NoError(t, err)
			for _, line := range lines[1:] {
				for _, cell := range line {
					formula := cell != "" && strings.ContainsAny(cell[:1], "=+@")
					assert.False(t, formula, "%s: the cell %q is a formula", name, cell)
				}
			}
		}
	}
}

// FuzzClean: what is shown holds nothing that is obeyed, and plain text stays as it is.
func FuzzClean(f *testing.F) {
	fuzztest.Run(f, func(t testing.TB, text string) {
		got := clean(text)
		for _, r := range got {
			assert.False(
				t,
				unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp),
				"clean(%q) = %q",
				text,
				got,
			)
		}
		assert.Equal(t, got, clean(got), "clean is not at rest")
	}, "Größe 5 µs – ok", hostile, "\xff\xfe")
}
