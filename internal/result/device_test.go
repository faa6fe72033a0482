package result

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

func TestDevice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "device.json")
	r := &Device{
		Format: DeviceFormat,
		Kind:   "device",
		Reads: []DevicePoint{
			{Depth: 1, IOPS: 1000, Mean: 1e-3},
		},
		Log: DevicePoint{Depth: 1, IOPS: 500, Mean: 2e-3},
	}
	require.NoError(t, r.Save(path))
	got, err := ReadDevice(path)
	require.NoError(t, err)
	assert.Equal(t, r, got)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, c := range []struct{ old, replacement, want string }{
		{`"device"`, `"bench"`, "not a device record"},
		{`"format": 1`, `"format": 2`, "not a device record"},
		{`"iops": 1000`, `"iops": 0`, "0 I/Os a second"},
		{`"mean_s": 0.002`, `"mean_s": -1`, "of -1 s"},
		{`"depth": 1`, `"depth": NaN`, "invalid character"},
		{`"kind"`, strings.Repeat(" ", maxDevice) + `"kind"`, "more than 1048576 bytes"},
	} {
		text := strings.Replace(string(whole), c.old, c.replacement, 1)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		_, err := ReadDevice(path)
		assert.ErrorContains(t, err, c.want)
		assert.ErrorContains(t, err, path)
	}
}

func TestReadsAt(t *testing.T) {
	r := &Device{Reads: []DevicePoint{
		{Depth: 1, IOPS: 1000, Mean: 1e-3},
		{Depth: 4, IOPS: 4000, Mean: 1e-3},
		{Depth: 16, IOPS: 8000, Mean: 2e-3},
		{Depth: 64, IOPS: 7000, Mean: 9e-3}, // too many at once
		{Depth: 256, IOPS: 8200, Mean: 30e-3},
	}}
	assert.EqualValues(t, 8200, r.MaxReads(), "at most")
	for _, c := range []struct{ latency, want float64 }{
		{0.1e-3, 1000},                // faster than one alone: from a cache
		{math.Sqrt2 * 1e-3, 5656.854}, // halfway between two points, by the logarithm
		{2e-3, 8000},
		{9e-3, 8000 * math.Pow(8200./8000, math.Log(4.5)/math.Log(15))}, // the slump does not count
		{1, 8200},
	} {
		assert.InEpsilon(t, c.want, r.ReadsAt(c.latency), 1e-6, "at %g s", c.latency)
	}
}

// TestConclusion says what a curve of reads over depths means.
func TestConclusion(t *testing.T) {
	for want, rates := range map[string][]float64{
		"highest, 607/s, from depth 1, and falls to 400/s at depth 16: more": {
			596, 599, 607, 606, 400,
		},
		"flat at 607/s from depth 1: an IOPS cap":                          {596, 599, 607, 606, 543},
		"still rising at depth 16 with 8000/s":                             {500, 1000, 2000, 4000, 8000},
		"rises from 500/s at depth 1 to 2000/s, nearly reached at depth 4": {500, 1000, 1950, 2000, 1990},
	} {
		r := Device{}
		for i, rate := range rates {
			r.Reads = append(
				r.Reads,
				DevicePoint{Depth: 1 << i, IOPS: rate, Mean: float64(int(1)<<i) / rate},
			)
		}
		assert.Contains(t, r.Conclusion(), want, "%v", rates)
	}
}

// TestElsewhere holds the record of a device against the drives of a machine's data.
func TestElsewhere(t *testing.T) {
	drive := func(name, serial string, roles ...topology.Role) topology.Drive {
		return topology.Drive{Name: name, Serial: serial, Bytes: 1000, Roles: roles}
	}
	machine := func(host string, drives ...topology.Drive) *topology.Machine {
		return &topology.Machine{Hostname: host, Drives: drives}
	}
	const data, log = topology.Data, topology.Log
	volume := drive("dm-0", "", data)
	volume.Under = []string{"sda", "sdb"}
	for why, c := range map[string]struct {
		record, run *topology.Machine
		refused     bool
	}{
		"the drive":                   {machine("a", drive("sda", "")), machine("a", drive("sda", "", data)), false},
		"another one of the host":     {machine("a", drive("sdb", "")), machine("a", drive("sda", "", data)), true},
		"that of the log":             {machine("a", drive("sdb", "")), machine("a", drive("sda", "", data), drive("sdb", "", log)), true},
		"of its name on another host": {machine("b", drive("sda", "")), machine("a", drive("sda", "", data)), true},
		"another one of its name":     {machine("a", drive("sda", "1")), machine("a", drive("sda", "2", data)), true},
		"the drive under another name": {
			machine("b", drive("sdx", "1")), machine("a", drive("sda", "1", data)), false,
		},
		"one of two":               {machine("a", drive("sda", "1")), machine("a", drive("sda", "1", data), drive("sdb", "2", data)), true},
		"those below a volume":     {machine("a", drive("sda", ""), drive("sdb", "")), machine("a", volume), false},
		"not known which":          {machine("a", drive("sda", "")), machine("a", drive("sdb", "")), false},
		"a record without a drive": {nil, machine("a", drive("sdb", "", data)), false},
	} {
		refusal := (&Device{Machine: c.record}).Elsewhere(c.run)
		assert.Equal(t, c.refused, refusal != "", "%s: %s", why, refusal)
	}
}
