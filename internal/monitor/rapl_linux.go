package monitor

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/prometheus/procfs/sysfs"
)

// RAPL reads the processors' own energy counters: packages and, where they are counted apart, memory. The kernel lets only
// root read them.
func (fs FS) RAPL() (Source, error) {
	sys, err := sysfs.NewFS(fs.Sys)
	if err != nil {
		return Source{}, fmt.Errorf("open RAPL: %w", err)
	}
	all, err := sysfs.GetRaplZones(sys)
	if err != nil {
		return Source{}, ErrNoRAPL
	}
	src := Source{Name: "RAPL energy counters"}
	var zones []sysfs.RaplZone
	for _, z := range all {
		// intel-rapl-mmio is a second way to the same package; core and uncore are parts of it.
		if strings.HasPrefix(filepath.Base(z.Path), "intel-rapl-mmio") || z.Name != "package" && z.Name != "dram" {
			continue
		}
		if _, err := z.GetEnergyMicrojoules(); err != nil {
			return Source{}, fmt.Errorf("read RAPL: %w", err)
		}
		zones = append(zones, z)
		src.Figures = append(src.Figures, Figure{"rapl_energy_joules_total", "Energy that the processors' packages and their memory took.",
			"zone", z.Name + "-" + strconv.Itoa(z.Index)})
	}
	if len(zones) == 0 {
		return Source{}, ErrNoRAPL
	}

	last := make([]uint64, len(zones))
	total := make([]float64, len(zones)) // joules, carried over the counters' wrapping
	for i, z := range zones {
		last[i], _ = z.GetEnergyMicrojoules()
	}
	src.Read = func(_ context.Context, values []float64) error {
		for i, z := range zones {
			now, err := z.GetEnergyMicrojoules()
			if err != nil {
				return err
			}
			grown := now - last[i]
			if now < last[i] {
				grown = z.MaxMicrojoules - last[i] + now
			}
			last[i] = now
			total[i] += float64(grown) / 1e6
			values[i] = total[i]
		}
		return nil
	}
	src.Columns = []Column{{PowerRAPL, func(seconds float64, was, now []float64) float64 {
		watts := 0.0
		for i := range zones {
			watts += rate(i)(seconds, was, now)
		}
		return watts
	}}}
	return src, nil
}
