package result

import (
	"fmt"
	"slices"
	"strings"
)

// maxNamed bounds how many ranges of numbers are named: a database that lost everything is not to
// fill the record.
const maxNamed = 10

// Named gives how many numbers there are, and which: "4: orders 12001, 12003-12005". It sorts them.
func Named(what string, numbers []int64) string {
	if len(numbers) == 0 {
		return "0"
	}
	return fmt.Sprintf("%d: %s %s", len(numbers), what, Ranges(numbers))
}

// Ranges gives which numbers there are: "12001, 12003-12005", of many the first. It sorts them.
func Ranges(numbers []int64) string {
	slices.Sort(numbers)
	var texts []string
	for i := 0; i < len(numbers); {
		if len(texts) == maxNamed {
			texts = append(texts, "…")
			break
		}
		last := i
		for last+1 < len(numbers) && numbers[last+1] <= numbers[last]+1 {
			last++
		}
		text := fmt.Sprint(numbers[i])
		if numbers[last] > numbers[i] {
			text += fmt.Sprintf("-%d", numbers[last])
		}
		texts = append(texts, text)
		i = last + 1
	}
	return strings.Join(texts, ", ")
}
