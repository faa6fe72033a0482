package sampling

import (
	"cmp"
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
	// the first of four sums of microseconds, in the order of figures.tsv
	capsOffset = 56
)

// decodeCaps reads the four sums of a log page, in seconds.
func decodeCaps(page []byte) ([]float64, error) {
	if len(page) < capsBytes || binary.LittleEndian.Uint32(page) != capsMagic {
		return nil, errors.New("the log page D0h does not hold Amazon EBS's statistics")
	}
	seconds := make([]float64, len(figureKinds["limits"]))
	for i := range seconds {
		seconds[i] = float64(binary.LittleEndian.Uint64(page[capsOffset+8*i:])) / 1e6
	}
	return seconds, nil
}

// Caps reads for how long the limits of drives held them back, of those that tell; there is no
// source where none does.
func Caps(drives []topology.Drive) []Source {
	var names []string
	for _, d := range drives {
		if _, err := readCaps(d.Name); err == nil && strings.HasPrefix(d.Model, capsModel) {
			names = append(names, d.Name)
		}
	}
	return capsSource(names, func(context.Context) (readings, error) {
		all := readings{}
		var errs []error
		for _, name := range names {
			seconds, err := readCaps(name)
			all[name] = seconds
			errs = append(errs, err)
		}
		return all, errors.Join(errs...)
	})
}

// capsSource reads the limits of volumes; there is no source where there are no volumes.
func capsSource(names []string, read func(context.Context) (readings, error)) []Source {
	if len(names) == 0 {
		return nil
	}
	limits := figureKinds["limits"]
	return []Source{itemSource("limits of the volumes", "device", names, limits, read)}
}

// Caps reads for how long the limits of volumes held them back, where the exporter shows that; else
// there is no source. Of volumes that are known as drives only these are read.
func (e *Exporter) Caps(drives []topology.Drive) []Source {
	named := map[string]string{} // volumes' drives
	for _, d := range drives {
		named["vol-"+strings.TrimPrefix(d.Serial, "vol")] = d.Name
	}
	first := volumesDriver.read(e.first, figureKinds["limits"])
	volumes := inOrder(first)
	known := func(volume string) bool { return named[volume] != "" }
	if slices.ContainsFunc(volumes, known) {
		volumes = slices.DeleteFunc(volumes, func(v string) bool { return !known(v) })
	}
	var names []string
	for _, volume := range volumes {
		names = append(names, cmp.Or(named[volume], volume))
	}
	return capsSource(names, func(ctx context.Context) (readings, error) {
		now, err := e.scrape(ctx)
		shown := volumesDriver.read(now, figureKinds["limits"])
		all := readings{}
		for i, volume := range volumes {
			all[names[i]] = shown[volume]
		}
		return all, err
	})
}
