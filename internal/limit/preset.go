package limit

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// presets are sets of limits under a name. Jetstress's are those of WORKLOAD.md section 7. The counters of a device do
// not tell the log's writes from the database's, so all of them have to keep the stricter limit of the log; and, as
// there, "none above 50 ms" is judged on averages over a short time.
var presets = map[string][]string{
	"jetstress": {
		"device read mean < 20ms",
		"device read max <= 50ms",
		"device write mean < 10ms",
		"device write max <= 50ms",
	},
}

// Preset is a set of limits by name.
func Preset(name string) ([]Limit, error) {
	texts, known := presets[name]
	if !known {
		return nil, fmt.Errorf("unknown set of limits %q; known: %s", name, strings.Join(slices.Sorted(maps.Keys(presets)), ", "))
	}
	return ParseAll(texts)
}

// ParseAll reads limits in order and stops at the first that cannot be read.
func ParseAll(texts []string) ([]Limit, error) {
	limits := make([]Limit, len(texts))
	for i, text := range texts {
		var err error
		if limits[i], err = Parse(text); err != nil {
			return nil, err
		}
	}
	return limits, nil
}
