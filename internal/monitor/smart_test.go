package monitor

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ds2/internal/topology"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// told is a fixture's reading, with texts of it replaced: what the drive tells later.
func told(t *testing.T, file string, later ...string) SMARTReading {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata/smart", file))
	require.NoError(t, err)
	for i := 0; i < len(later); i += 2 {
		require.Contains(t, string(text), later[i], "%s has no", file)
	}
	r, err := parseSMART([]byte(strings.NewReplacer(later...).Replace(string(text))))
	require.NoError(t, err)
	return r
}

func TestSMART(t *testing.T) {
	unknown := math.NaN()
	for _, c := range []struct {
		why, file   string
		host        float64 // bytes between the readings; NaN: not told
		wear        float64 // of the second
		temperature float64
		throttled   string
		later       []string // what stands in the second reading in place of what
	}{
		{
			"NVMe tells what was written to it, and its heat", "nvme.json",
			2000 * 512e3, .04, 71, "3 times, too hot for 2 minutes",
			[]string{
				"267397176", "267399176", `"percentage_used": 3`, `"percentage_used": 4`,
				`"current": 22`, `"current": 71`, "Count:   51", "Count:   54",
				`"warning_temp_time": 0`, `"warning_temp_time": 2`,
			},
		},
		{
			"NVMe that stayed cool", "nvme.json", 100 * 512e3, .03, 22, "",
			[]string{"267397176", "267397276"},
		},
		{"SATA by its statistics", "sata.json", 1000 * 4096, 1.3, 30, "too hot for 5 minutes", []string{
			`"Logical Sectors Written", "value": 1000`, `"Logical Sectors Written", "value": 2000`,
			`"Percentage Used Endurance Indicator", "value": 1`, `"Percentage Used Endurance Indicator", "value": 130`,
			`"Time in Over-Temperature", "value": 0`, `"Time in Over-Temperature", "value": 5`,
		}},
		{
			"a counter that went back", "sata.json", unknown, .01, 30, "",
			[]string{`"value": 1000`, `"value": 10`},
		},
	} {
		s := newSMART("sdm", told(t, c.file), told(t, c.file, c.later...))
		got := []*float64{s.HostBytes, s.After.Wear, s.After.Temperature}
		for i, want := range []float64{c.host, c.wear, c.temperature} {
			if got[i] == nil {
				got[i] = &unknown
			}
			assert.InDelta(t, want, *got[i], 1e-9*want, "%s: figure %d", c.why, i)
		}
		assert.Equal(t, c.throttled, s.Throttled, c.why)
		assert.NotEmpty(t, s.Model)
	}
}

// A drive that tells nothing never fails a run: it is left out, or where the user asked for SMART
// there is a note.
func TestSMARTWithoutDrives(t *testing.T) {
	dir := t.TempDir()
	reports, err := filepath.Abs("testdata/smart")
	require.NoError(t, err)
	// In place of smartctl: nvme0n1 answers, vda has no SMART, sdb breaks off.
	script := "#!/bin/sh\ncd '" + reports + `'
for drive; do :; done
case $drive in
/dev/nvme0n1) cat nvme.json;;
/dev/vda) cat none.json; exit 1;;
*) echo '{'; exit 4;;
esac
`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "smartctl"), []byte(script), 0o755))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	machine := &topology.Machine{
		Drives: []topology.Drive{{Name: "vda"}, {Name: "nvme0n1"}, {Name: "sdb"}},
	}
	for mode, want := range map[string][]string{
		SMARTAuto: nil, SMARTOff: nil,
		SMARTOn: {
			"SMART of vda is not read: /dev/vda: Unable to detect device type",
			"SMART of sdb is not read: its report cannot be read",
		},
	} {
		found := findSMART(t.Context(), mode, machine, true)
		require.Len(t, found.notes, len(want), mode)
		for i, note := range found.notes {
			assert.True(
				t,
				strings.HasPrefix(note, want[i]),
				"%s: note %q, want %q",
				mode,
				note,
				want[i],
			)
		}
		w := &Observer{smart: found}
		all := w.BeginSMART(t.Context())(t.Context())
		if mode == SMARTOff {
			assert.Empty(t, all)
			continue
		}
		require.Len(t, all, 1, mode)
		assert.Equal(t, "nvme0n1", all[0].Drive)
		assert.Zero(t, *all[0].HostBytes)
	}
	found := findSMART(t.Context(), SMARTOn, nil, false)
	assert.Len(t, found.notes, 1, "of another machine")
}
