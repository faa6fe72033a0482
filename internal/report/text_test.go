package report

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/compare"
	"ds2/internal/diagnose"
	"ds2/internal/limit"
	"ds2/internal/result"
)

// TestTextFitsTheTerminal holds the text of all kinds of records to a screen of 40 lines of 100
// columns, however many configurations there are, limits fail, and runs warn; what does not fit is
// counted.
func TestTextFitsTheTerminal(t *testing.T) {
	long := strings.Repeat(
		"a warning that explains itself at great length and names what to do about it, ",
		12,
	)
	loud := func(s *result.Summary) {
		eventful(s)
		for i := range 20 {
			name := fmt.Sprintf("host%d/ds2", i)
			s.Noticed = append(s.Noticed, result.NewFinding(result.IOErrors, name+long))
			text := fmt.Sprintf("order p%d < 500ms", 50+i)
			v := result.Verdict{Limit: text, Unit: result.UnitSeconds, Bound: .5, Measured: new(.6)}
			s.Limits = append(s.Limits, v)
		}
		s.Bottleneck.Why = long
		s.Size = "customers=20000,orders-per-month=1000,products=10000"
	}
	var many []compare.Configuration
	for i := range 12 {
		name := fmt.Sprintf(
			"array %d of twelve, with a name as long as those of factors are, threads %d",
			i,
			8<<i,
		)
		c := benchOf(name, diagnose.Storage, 1000, 1020, 990, 1010)
		c.Labels = "24 disks, RAID 10"
		for k := range c.Runs {
			c.Runs[k].Findings = []result.Finding{
				result.NewFinding(result.Drifts, long).With("drift_pct", 27),
				result.NewFinding(result.IOErrors, long),
			}
		}
		many = append(many, c)
	}
	gate, err := limit.ParseGate("opm < -2%")
	require.NoError(t, err)
	wide := compare.WithFirst(many)
	require.NoError(t, wide.Judge(gate))
	failing := arraysOf(t, 4.4, .6)
	drive := &result.Device{
		Format:          result.DeviceFormat,
		Kind:            "device",
		Log:             result.DevicePoint{Depth: 1, IOPS: 900, Mean: .001},
		Preconditioning: &result.DevicePreconditioning{},
		Reads: []result.DevicePoint{
			{Depth: 1, IOPS: 600, Mean: .0016},
			{Depth: 2, IOPS: 601, Mean: .0033},
		},
	}
	var drives []Device
	for _, c := range many {
		drives = append(drives, Device{Name: c.Name, Device: drive})
	}
	found := search()
	found.Why = long
	for name, page := range map[string]Page{
		"run":                        Runs(record(t, eventful)),
		"loud run":                   Runs(record(t, loud)),
		"bench":                      Bench(failing.Benches[1]),
		"loud bench":                 Bench(many[0]),
		"comparison":                 Comparison(failing.Comparison),
		"comparison of twelve":       Comparison(wide),
		"experiment":                 Experiment(failing),
		"experiment without results": Experiment(compare.Experiment{Name: "new"}),
		"search":                     Search(found),
		"device":                     Devices(drives[:1]),
		"two devices":                Devices(drives[:2]),
		"twelve devices":             Devices(drives),
	} {
		for width, most := range map[int]int{0: 100, 80: 80, 132: 132} {
			var text strings.Builder
			require.NoError(t, page.Text(&text, false, width))
			for line := range strings.Lines(text.String()) {
				columns := utf8.RuneCountInString(strings.TrimSuffix(line, "\n"))
				assert.LessOrEqual(t, columns, most, "%s at %d: %s", name, width, line)
			}
			if width == 0 {
				assert.LessOrEqual(
					t,
					strings.Count(text.String(), "\n"),
					40,
					"%s: lines of\n%s",
					name,
					&text,
				)
			}
			if name == "loud run" || name == "comparison of twelve" {
				assert.Contains(
					t,
					text.String(),
					"more: --details",
					"%s: what is left out is not counted",
					name,
				)
			}
		}
	}
}
