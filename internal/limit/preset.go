package limit

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// presets are sets of limits under a name: those of Jetstress for the versions of Exchange, in its performance test and
// in its stress test (WORKLOAD.md section 7). Reads of the data and writes of the log have limits; writes of the data
// have none. The maxima are over means of 15 s.
var presets = map[string][]string{
	"exchange2007":        exchange("50ms"),
	"exchange2007-stress": exchange("100ms"),
	"exchange2013":        exchange("100ms"),
	"exchange2013-stress": exchange("200ms"),
}

// stressTime is the length of a run over which it is a stress test, in Jetstress.
const stressTime = 6 * time.Hour

// ofLength is the preset that one stands for in a run of a length: that of the stress test where the run is one.
func ofLength(name string, run time.Duration) string {
	if _, has := presets[name+"-stress"]; has && run > stressTime {
		return name + "-stress"
	}
	return name
}

func exchange(maximum string) []string {
	return []string{
		"data read mean < 20ms", "data read max < " + maximum, "log write mean < 10ms", "log write max < " + maximum,
	}
}

// Presets are the names of the sets of limits, in order.
func Presets() []string { return slices.Sorted(maps.Keys(presets)) }

// ForRun reads limits, and names of presets among them, for a run of a length.
func ForRun(texts []string, run time.Duration, operations ...string) ([]Limit, error) {
	var all []string
	for _, text := range texts {
		set, known := presets[ofLength(text, run)]
		switch {
		case known:
			all = append(all, set...)
		case strings.ContainsAny(text, "<> "):
			all = append(all, text)
		default:
			return nil, fmt.Errorf("%q is neither a limit, such as 'order p95 < 500ms', nor a set of limits: %s",
				text, strings.Join(Presets(), ", "))
		}
	}
	return ParseAll(all, operations...)
}

// ParseAll reads limits in order, as Parse does, and stops at the first that cannot be read.
func ParseAll(texts []string, operations ...string) ([]Limit, error) {
	limits := make([]Limit, len(texts))
	for i, text := range texts {
		var err error
		if limits[i], err = Parse(text, operations...); err != nil {
			return nil, err
		}
	}
	return limits, nil
}
