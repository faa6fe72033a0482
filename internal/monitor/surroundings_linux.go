package monitor

import (
	"context"
	"errors"
	"fmt"

	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/sysfs"
)

// Surroundings reads what makes the same processors faster or slower from one run to the next: the time that a hypervisor
// takes from them, their clock, how often heat throttled them, and the machine's temperature. What the kernel does not
// show is left out; virtual machines show little of it.
func (fs FS) Surroundings() (Source, error) {
	pfs, err := procfs.NewFS(fs.Proc)
	if err != nil {
		return Source{}, fmt.Errorf("open processor counters: %w", err)
	}
	sys, err := sysfs.NewFS(fs.Sys)
	if err != nil {
		return Source{}, fmt.Errorf("open processor counters: %w", err)
	}
	stat, err := pfs.Stat()
	if err != nil {
		return Source{}, fmt.Errorf("read processor counters: %w", err)
	}
	processors := float64(len(stat.CPU))
	src := Source{Name: "surroundings of the processors"}
	var reads []func() (float64, error)
	add := func(figure Figure, column string, derive func(i int) derivation, read func() (float64, error)) {
		if _, err := read(); err != nil {
			return
		}
		src.Columns = append(src.Columns, Column{column, derive(len(reads))})
		src.Figures = append(src.Figures, figure)
		reads = append(reads, read)
	}
	share := func(i int) derivation {
		return func(seconds float64, was, now []float64) float64 { return rate(i)(seconds, was, now) / processors }
	}
	add(stealFigure, CPUSteal, share,
		func() (float64, error) {
			stat, err := pfs.Stat()
			return stat.CPUTotal.Steal, err
		})
	add(frequencyFigure, CPUFrequency, gauge,
		func() (float64, error) { return frequency(sys) })
	add(throttlesFigure, CPUThrottles, rate,
		func() (float64, error) { return throttles(sys) })
	add(temperatureFigure, Temperature, gauge,
		func() (float64, error) { return temperature(sys) })
	src.Read = func(_ context.Context, values []float64) error {
		for i, read := range reads {
			v, err := read()
			if err != nil {
				return err
			}
			values[i] = v
		}
		return nil
	}
	return src, nil
}

// errNotShown says that the kernel of this machine does not show a figure.
var errNotShown = errors.New("the kernel does not show it")

func frequency(sys sysfs.FS) (hertz float64, err error) {
	stats, err := sys.SystemCpufreq()
	n := 0.0
	for _, s := range stats {
		if s.ScalingCurrentFrequency != nil {
			hertz += float64(*s.ScalingCurrentFrequency) * 1000
			n++
		}
	}
	if err == nil && n == 0 {
		err = errNotShown
	}
	return hertz / max(n, 1), err
}

func throttles(sys sysfs.FS) (count float64, err error) {
	cpus, err := sys.CPUs()
	if err != nil {
		return 0, err
	}
	shown := false
	packages := map[string]uint64{} // each of a package's cores counts for all of it
	for _, cpu := range cpus {
		t, err := cpu.ThermalThrottle()
		if err != nil {
			continue // offline, or no Intel
		}
		shown = true
		count += float64(t.CoreThrottleCount)
		if topology, err := cpu.Topology(); err == nil {
			packages[topology.PhysicalPackageID] = max(packages[topology.PhysicalPackageID], t.PackageThrottleCount)
		}
	}
	for _, n := range packages {
		count += float64(n)
	}
	if !shown {
		return 0, errNotShown
	}
	return count, nil
}

func temperature(sys sysfs.FS) (celsius float64, err error) {
	zones, err := sys.ClassThermalZoneStats()
	if err != nil {
		return 0, err
	}
	shown := false
	for _, z := range zones {
		if z.ReadErrors == nil {
			celsius, shown = max(celsius, float64(z.Temp)/1000), true
		}
	}
	if !shown {
		return 0, errNotShown
	}
	return celsius, nil
}
