package monitor

import (
	"context"
	"math"
	"regexp"
)

// The kernel shows an NVMe drive that several controllers may reach as one drive, nvme0n1, and as a path for each
// controller, nvme0c0n1, which takes part of the same requests. Since Linux 6.4 both count them, before only the paths
// do.
var nvmeDrive, nvmePath = regexp.MustCompile(`^nvme\d+n\d+$`), regexp.MustCompile(`^(nvme\d+)c\d+(n\d+)$`)

// joinPaths leaves in counts the drives only: one that counts nothing itself has what its paths count.
func joinPaths(counts readings) {
	paths := readings{}
	for name, path := range counts {
		parts := nvmePath.FindStringSubmatch(name)
		if parts == nil {
			continue
		}
		delete(counts, name)
		drive := parts[1] + parts[2]
		sum, several := paths[drive]
		if !several {
			paths[drive] = path
			continue
		}
		for i, v := range path {
			sum[i] += v
		}
		sum[diskBusySeconds] = math.NaN() // they may be busy at once, or one after the other
	}
	for name, c := range counts {
		// The kernel reads every drive when it finds it, so one without any request is not counted.
		if nvmeDrive.MatchString(name) && !(c[diskReads] > 0) && !(c[diskWrites] > 0) {
			counts[name] = unknown(len(c))
		}
	}
	for name, sum := range paths {
		if c, counted := counts[name]; !counted || math.IsNaN(c[diskReads]) {
			counts[name] = sum
		}
	}
}

// noteUncounted says which drives a source does not count at all, and of which the writes are unknown.
func (w *Observer) noteUncounted(ctx context.Context, drives []Drive, src Source) error {
	values := make([]float64, len(src.Figures))
	if err := src.Read(ctx, values); err != nil {
		return err
	}
	for i, f := range src.Figures {
		if f.Name == diskKinds[diskReads].figure && math.IsNaN(values[i]) {
			w.note("the requests of drive %s are not counted: "+
				"see its queue/iostats in /sys/block", f.Item)
		}
	}
	for i, d := range drives {
		if why := src.unknownWrites[d.Name]; why != "" {
			drives[i].WritesUnknown = why
			w.note("the writes of drive %s are unknown: %s", d.Name, why)
		}
	}
	return nil
}
