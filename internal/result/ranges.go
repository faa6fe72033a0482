package result

import (
	"fmt"
	"slices"
	"strings"
)

// maxNamed bounds how many ranges of numbers are named: a database that lost everything is not to fill the record.
const maxNamed = 1000

// Ranges names numbers, which it sorts: "12001, 12003-12005".
func Ranges(all []int64) string {
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
	return strings.Join(texts, ", ")
}
