package power

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"ds2/internal/machinetest"
	"ds2/internal/sampling"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPowerCommand(t *testing.T) {
	for name, c := range map[string]struct {
		command string
		want    float64
		err     string
	}{
		"a number":                 {"echo 312.5", 312.5, ""},
		"ipmitool dcmi":            {"cat testdata/ipmitool-dcmi", 220, ""},
		"ipmi-dcmi":                {"cat testdata/ipmi-dcmi", 164, ""},
		"ipmitool sensor":          {"cat testdata/ipmitool-sensor", 168, ""},
		"Redfish's Power":          {"cat testdata/redfish-power.json", 224, ""},
		"Redfish's metrics":        {"cat testdata/redfish-metrics.json", 374, ""},
		"hwmon in sysfs":           {"echo 95000000", 95, ""},
		"hwmon without a reading":  {"echo 4294967295", 0, "is not what a machine draws"},
		"nothing drawn":            {"echo 0 W", 0, "0 W is not what a machine draws"},
		"all bits set":             {"echo 4294967 W", 0, "4294967 W is not what a machine draws"},
		"less than nothing":        {"echo -5", 0, "has the number -5"},
		"less than nothing, in W":  {"echo -99 W", 0, "has the number -99 W"},
		"a name with a dash":       {"echo PSU-1 at 99 W", 99, ""},
		"what ipmitool prints":     {"printf '\\n    Instantaneous power reading:           312 Watts\\n'", 312, ""},
		"kilowatts":                {"echo 1.5 A 0.25 kW", 250, ""},
		"nothing that is a number": {"echo none", 0, `no number in its output "none"`},
		"a number before":          {"echo 'PSU1 Input Power | 234 Watts | ok'", 234, ""},
		"volts beside":             {"echo '230.1 V 1.2 A 276W'", 276, ""},
		"a sentence":               {"echo 'It takes 250.'", 250, ""},
		"a thousands separator":    {"echo 'PSU1 Input Power | 1,234 Watts'", 0, "has the number 1,234"},
		"a comma for a point":      {"echo 312,5", 0, "has the number 312,5"},
		"two supplies":             {"echo 100 W; echo 120 W", 0, "several numbers, 100 W and 120 W"},
		"several without a unit":   {"echo 12:30 312", 0, "several numbers, 12 and 30 and 312"},
		"a command that fails":     {"echo no meter >&2; exit 3", 0, "exit status 3: no meter"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := NewCommand(t.Context(), c.command)
			if c.err != "" {
				require.ErrorContains(t, err, c.err, "PowerCommand")
				return
			}
			require.NoError(t, err)
			assert.Equal(t, []float64{c.want}, read(t, s))
		})
	}
}

// TestPowerCommandAgain ends the sampling while the command waits for a program that it has
// started: both end. The program holds a pipe open, which ends when its last holder does. The next
// sampling takes that for no failure, and has the meter's new reading.
func TestPowerCommandAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	machinetest.Write(t, dir, "meter", "100")
	s, err := NewCommand(
		t.Context(),
		"cd "+dir+"; cat meter; [ ! -e hang ] || (sleep 600; true) > pipe",
	)
	require.NoError(t, err)
	machinetest.Write(t, dir, "hang", "")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.Read(ctx, make([]float64, 1)) }()
	held, err := os.Open(pipe) // which waits for the command to open it
	require.NoError(t, err)
	defer held.Close()
	require.NoError(t, os.Remove(filepath.Join(dir, "hang")))
	machinetest.Write(t, dir, "meter", "200")
	cancel()
	_, err = io.ReadAll(held) // until what the command started is gone
	require.NoError(t, err)
	require.Error(t, <-ended)
	assert.Equal(t, []float64{200}, read(t, s))
}

// read reads a source once.
func read(t *testing.T, s sampling.Source) []float64 {
	t.Helper()
	values := make([]float64, len(s.Figures))
	require.NoError(t, s.Read(t.Context(), values))
	return values
}
