package result

import (
	"fmt"
	"slices"
	"strings"
)

// maxNamed bounds how many ranges of numbers are named: a database that lost everything is not to
// fill the record.
const maxNamed = 1000

// Named gives how many numbers there are, and which: "4: orders 12001, 12003-12005". It sorts them.
func Named(what string, all []int64) string {
	if len(all) == 0 {
		return "0"
	}
	slices.Sort(all)
	var texts []string
	for i := 0; i < len(all); {
		if len(texts) == maxNamed {
			texts = append(texts, "…")
			break
		}
		last := i
		for last+1 < len(all) && all[last+1] <= all[last]+1 {
			last++
		}
		text := fmt.Sprint(all[i])
		if all[last] > all[i] {
			text += fmt.Sprintf("-%d", all[last])
		}
		texts = append(texts, text)
		i = last + 1
	}
	return fmt.Sprintf("%d: %s %s", len(all), what, strings.Join(texts, ", "))
}
