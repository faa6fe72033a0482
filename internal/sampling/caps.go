package sampling

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strings"

	"ds2/internal/topology"
)

// A volume of Amazon EBS tells in a log page of its maker for how long more was asked of it than
// its own limits let through, or those of the virtual machine. See "Amazon EBS detailed performance
// statistics" in the Amazon EBS User Guide (November 2026).
const (
	capsModel = "Amazon Elastic Block Store"
	capsMagic = 0x3C23B510
	capsBytes = 4096
	// the first of four sums of microseconds, in the order of capKinds
	capsOffset = 56
)

var capKinds = []kind{
	{
		"disk_volume_iops_exceeded_seconds_total",
		"Time for which more I/Os were asked of the volume than its limit.",
		VolumeIOPSExceeded, atMostOne(rate(0)),
	},
	{
		"disk_volume_throughput_exceeded_seconds_total",
		"Time for which more bytes were asked of the volume than its limit.",
		VolumeThroughputExceeded, atMostOne(rate(1)),
	},
	{
		"disk_machine_iops_exceeded_seconds_total",
		"Time for which more I/Os were asked of the volume than the limit of the virtual machine.",
		MachineIOPSExceeded, atMostOne(rate(2)),
	},
	{
		"disk_machine_throughput_exceeded_seconds_total",
		"Time for which more bytes were asked of the volume than the limit of the virtual machine.",
		MachineThroughputExceeded, atMostOne(rate(3)),
	},
}

// decodeCaps reads the four sums of a log page, in seconds.
func decodeCaps(page []byte) ([]float64, error) {
	if len(page) < capsBytes || binary.LittleEndian.Uint32(page) != capsMagic {
		return nil, errors.New("the log page D0h is none of Amazon EBS's statistics")
	}
	seconds := make([]float64, len(capKinds))
	for i := range seconds {
		seconds[i] = float64(binary.LittleEndian.Uint64(page[capsOffset+8*i:])) / 1e6
	}
	return seconds, nil
}

// Caps reads for how long the limits of drives held them back, of those that tell; false where none
// does.
func Caps(drives []topology.Drive) (src Source, told bool) {
	var names []string
	for _, d := range drives {
		if _, err := readCaps(d.Name); err == nil && strings.HasPrefix(d.Model, capsModel) {
			names = append(names, d.Name)
		}
	}
	read := func(context.Context) (readings, error) {
		all := readings{}
		var errs []error
		for _, name := range names {
			seconds, err := readCaps(name)
			all[name] = seconds
			errs = append(errs, err)
		}
		return all, errors.Join(errs...)
	}
	return itemSource("limits of the volumes", "device", slices.Clip(names), capKinds, read), len(
		names,
	) > 0
}
