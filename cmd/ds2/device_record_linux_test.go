package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/internal/device/devicetest"
	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/result"
	"ds2/internal/topology"
)

// TestOtherDeviceRecord: a run takes the record of the drive that its data lie on, and is refused
// with that of another drive of the machine, of which it would say how much of its limit it took.
func TestOtherDeviceRecord(t *testing.T) {
	t.Parallel()
	drive := devicetest.Mount(t, "/dev/shm", 400<<20)
	server := pgtest.Start(t, localpg.Options{DataDir: filepath.Join(drive.Dir, "data")})
	target := server.URL("ds2")
	must(t, "load", "--target", target, "--size", "1MB", "--quiet")
	other := devicetest.Mount(t, "/dev/shm", 20<<20)
	for name, c := range map[string]struct{ ends, preflightEnds int }{
		drive.Name: {exitDone, exitDone},
		other.Name: {exitFailed, exitVerdict},
	} {
		machine := topology.Root.Machine([]string{name})
		device := result.Device{
			Format: result.DeviceFormat, Kind: "device", Path: "/measured", Machine: &machine,
			Log:   result.DevicePoint{Depth: 1, IOPS: 1e6, Mean: 1e-6},
			Reads: []result.DevicePoint{{Depth: 1, IOPS: 1e6, Mean: 1e-6}},
		}
		record := filepath.Join(t.TempDir(), "device.json")
		require.NoError(t, device.Save(record))
		out := filepath.Join(t.TempDir(), "out")
		more := words("--device-record %s --run-time 1s --out %s", record, out)
		stdout, _ := ends(t, c.preflightEnds, append(quick("preflight", target, ""), more...)...)
		_, stderr := ends(t, c.ends, append(quick("drive", target, ""), more...)...)
		if c.ends == exitDone {
			continue
		}
		refusal := "--device-record: it is of " + other.Name
		require.Contains(t, stdout, "FAILURE  "+refusal)
		require.Contains(t, stderr, refusal)
		require.Contains(t, stderr, "the data lie on "+drive.Name)
		_, err := os.Stat(out)
		require.ErrorIs(t, err, os.ErrNotExist)
	}
}
