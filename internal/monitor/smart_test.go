package monitor

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	const mib = 1 << 20
	for _, c := range []struct {
		why, file   string
		later       []string
		host, media float64 // bytes between the readings; NaN: not told
		amplified   float64
		wear        float64 // of the second
		temperature float64
		throttled   string
	}{
		{"NVMe tells what was written to it, and its heat", "nvme.json",
			[]string{"267397176", "267399176", `"percentage_used": 3`, `"percentage_used": 4`, `"current": 22`, `"current": 71`, "Count:   51", "Count:   54", `"warning_temp_time": 0`, `"warning_temp_time": 2`},
			2000 * 512e3, math.NaN(), math.NaN(), .04, 71, "3 times, too hot for 2 minutes"},
		{"NVMe that stayed cool", "nvme.json", []string{"267397176", "267397276"}, 100 * 512e3, math.NaN(), math.NaN(), .03, 22, ""},
		{"SATA that tells both", "sata-intel.json",
			[]string{"14308", "14348", "95488", "95588", `"Media_Wearout_Indicator", "value": 100`, `"Media_Wearout_Indicator", "value": 98`, `"0/0"`, `"0/4"`},
			40 * 32 * mib, 100 * 32 * mib, 2.5, .02, 30, "4 times"},
		{"too little was written for a ratio", "sata-intel.json", []string{"14308", "14310", "95488", "95490"}, 2 * 32 * mib, 2 * 32 * mib, math.NaN(), 0, 30, ""},
		{"SATA that counts pages of flash", "sata-micron.json", []string{"272291616", "272391616", "8509113", "8512113", "1059955", "1060555"},
			100000 * 512, 100000 * 512 * 1.2, 1.2, 0, 19, ""},
		{"a counter that went back", "sata-intel.json", []string{"14308", "14"}, math.NaN(), 0, math.NaN(), 0, 30, ""},
	} {
		s := newSMART("sdm", told(t, c.file), told(t, c.file, c.later...))
		for name, v := range map[string]struct {
			got  *float64
			want float64
		}{
			"bytes of the host": {s.HostBytes, c.host}, "bytes of the flash": {s.MediaBytes, c.media}, "write amplification": {s.Amplification, c.amplified},
			"wear": {s.After.Wear, c.wear}, "temperature": {s.After.Temperature, c.temperature},
		} {
			if math.IsNaN(v.want) != (v.got == nil) || v.got != nil && math.Abs(*v.got-v.want) > 1e-9*v.want {
				t.Errorf("%s: %s: %v, want %v", c.why, name, v.got, v.want)
			}
		}
		if s.Throttled != c.throttled || s.Model == "" {
			t.Errorf("%s: %q was throttled %q, want %q", c.why, s.Model, s.Throttled, c.throttled)
		}
	}
}

// The standard's statistics win over a maker's attributes.
func TestSMARTStatistics(t *testing.T) {
	r, err := parseSMART([]byte(`{"logical_block_size": 4096, "ata_smart_attributes": {"table": [{"name": "Lifetime_Writes_GiB", "value": 100, "raw": {"value": 7}}]},
		"ata_device_statistics": {"pages": [{"table": [{"name": "Logical Sectors Written", "value": 1000}, {"name": "Percentage Used Endurance Indicator", "value": 130},
		{"name": "Time in Over-Temperature", "value": 5}, {"name": "Empty"}]}]}}`))
	if err != nil || *r.HostBytes != 4096000 || *r.Wear != 1.3 || *r.HotMinutes != 5 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A drive that tells nothing never fails a run: nobody hears of it, or where the user asked for SMART there is a note.
func TestSMARTWithoutDrives(t *testing.T) {
	dir := t.TempDir()
	report, err := filepath.Abs("testdata/smart/none.json")
	require.NoError(t, err)
	nvme, err := filepath.Abs("testdata/smart/nvme.json")
	require.NoError(t, err)
	// In place of smartctl: nvme0n1 answers, vda has no SMART, sdb breaks off.
	script := fmt.Sprintf("#!/bin/sh\nfor drive; do :; done\ncase $drive in\n/dev/nvme0n1) cat '%s';;\n/dev/vda) cat '%s'; exit 1;;\n*) echo '{'; exit 4;;\nesac\n", nvme, report)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "smartctl"), []byte(script), 0o755))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	for mode, want := range map[string][]string{
		SMARTAuto: nil, SMARTOff: nil,
		SMARTOn: {"SMART of vda is not read: /dev/vda: Unable to detect device type", "SMART of sdb is not read: its report cannot be read"},
	} {
		w := &Observer{o: Options{SMART: mode}, Machine: &Machine{Drives: []Drive{{Name: "vda"}, {Name: "nvme0n1"}, {Name: "sdb"}}}, Local: true}
		w.smart(t.Context())
		if len(w.Notes) != len(want) {
			t.Fatalf("%s: notes %q, want %q", mode, w.Notes, want)
		}
		for i, note := range w.Notes {
			if !strings.HasPrefix(note, want[i]) {
				t.Errorf("%s: note %q, want %q", mode, note, want[i])
			}
		}
		all := w.CompareSMART(w.SMARTReadings(t.Context()), w.SMARTReadings(t.Context()))
		if mode == SMARTOff && all != nil || mode != SMARTOff && (len(all) != 1 || all[0].Drive != "nvme0n1" || *all[0].HostBytes != 0) {
			t.Errorf("%s: %+v", mode, all)
		}
	}
	elsewhere := &Observer{o: Options{SMART: SMARTOn}}
	if elsewhere.smart(t.Context()); len(elsewhere.Notes) != 1 {
		t.Errorf("another machine: notes %q", elsewhere.Notes)
	}
}
