package result

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDifferences: whatever makes a run what it is differs both from what is resumed and from
// what is compared, but for what a tag leaves out.
func TestDifferences(t *testing.T) {
	for _, c := range []struct {
		change            func(*Spec)
		resumed, compared string // what differs
	}{
		{func(*Spec) {}, "", ""},
		{func(s *Spec) { s.KitVersion = "v2" }, "kit version v1 v2", "kit version v1 v2"},
		{func(s *Spec) { s.RampRate = 2 }, "ramp rate 10 2", "ramp rate 10 2"},
		{func(s *Spec) {
			s.RunTime.Duration = time.Hour
		}, "run time 20m0s 1h0m0s", "run time 20m0s 1h0m0s"},
		{func(s *Spec) {
			s.CheckpointFirst = true
		}, "checkpoint first false true", "checkpoint first false true"},
		{func(s *Spec) { s.Restore = "reset" }, "restore none reset", "restore none reset"},
		{func(s *Spec) { s.Settle.Duration = time.Minute }, "settle 0s 1m0s", "settle 0s 1m0s"},
		{func(s *Spec) { s.Idle.Duration = time.Minute }, "idle 0s 1m0s", "idle 0s 1m0s"},
		{func(s *Spec) {
			s.Cooldown.Duration = time.Minute
		}, "cooldown 0s 1m0s", "cooldown 0s 1m0s"},
		{func(s *Spec) {
			s.LimitTexts = []string{"opm > 1"}
		}, "limits none opm > 1", "limits none opm > 1"},
		{
			func(s *Spec) { s.InWords = []Said{{Name: "mix", Value: "3"}} }, "mix none 3",
			"mix none 3",
		},
		{func(s *Spec) { s.DataSeeds = []uint64{1} }, "data seeds none 1", "data seeds none 1"},
		{func(s *Spec) { s.Seed = 1 }, "seed 0 1", ""},
		{func(s *Spec) { s.Targets = []string{"db2/ds2"} }, "targets db1/ds2 db2/ds2", ""},
		{func(s *Spec) { s.Rate = 40 }, "rate 0 40", "rate 0 40"},
		{func(s *Spec) {
			s.RestoreCommand = "b.sh"
		}, "restore command none b.sh", ""},
		{func(s *Spec) { s.ObservedDevices = []string{"sda"} }, "devices none sda", ""},
		{func(s *Spec) {
			s.Exporters = []string{"http://db1:9100"}
		}, "exporters none http://db1:9100", ""},
		{func(s *Spec) { s.PowerCommand = "watts" }, "power command none watts", ""},
		{func(s *Spec) { s.DeviceRecord = "a.json" }, "device record none a.json", ""},
		{func(s *Spec) { s.IOTrace = true }, "io trace false true", "io trace false true"},
		{func(s *Spec) { s.ServerMemory = 1 }, "server memory 0 1", "server memory 0 1"},
		{func(s *Spec) { s.DropUnsteady = true }, "", "drop unsteady false true"},
		{func(s *Spec) { s.Runs = 5 }, "", ""},
		{func(s *Spec) { s.RunID = "b" }, "", ""},
		{func(s *Spec) { s.Command = &Command{Line: "ds2"} }, "", ""},
		{func(s *Spec) { s.Disclosure = map[string]string{"raid": "5"} }, "", ""},
	} {
		a := Spec{
			KitVersion: "v1",
			RampRate:   10,
			RunTime:    Duration{20 * time.Minute},
			Targets:    []string{"db1/ds2"},
		}
		b := a
		c.change(&b)
		for use, want := range map[Use]string{Resume: c.resumed, Compare: c.compared} {
			got := ""
			for _, d := range Differences(a, b, use) {
				got += d.Name + " " + d.Values[0] + " " + d.Values[1]
			}
			assert.Equal(t, want, got, use)
		}
		text, err := json.Marshal(b)
		require.NoError(t, err)
		var read Spec
		require.NoError(t, json.Unmarshal(text, &read))
		assert.Equal(t, b, read, "read from a record")
	}
	assert.Error(t, json.Unmarshal([]byte(`{"run_time_s": -1}`), new(Spec)))
}

// TestTargetsAlike: targets whose values are alike are told once, however many they are.
func TestTargetsAlike(t *testing.T) {
	one := Spec{DataSeeds: []uint64{7}}
	two := Spec{DataSeeds: []uint64{7, 7}}
	assert.Empty(t, Differences(one, two, Compare))
	two.DataSeeds[1] = 8
	differing := []Differing{{Name: "data seeds", Values: []string{"7", "7, 8"}}}
	assert.Equal(t, differing, Differences(one, two, Compare))
}
