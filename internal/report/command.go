package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ds2/internal/result"
)

// commandTable is how ds2 was called, and with which value of every flag.
func commandTable(c *result.Command) table {
	t := list("Command")
	if c == nil {
		return t
	}
	var flags []string
	for _, name := range slices.Sorted(maps.Keys(c.Flags)) {
		flags = append(flags, fmt.Sprintf("--%s=%s", name, c.Flags[name]))
	}
	t.Rows = [][]string{{"command", c.Line}, {"all flags", strings.Join(flags, "  ")}}
	return t
}
