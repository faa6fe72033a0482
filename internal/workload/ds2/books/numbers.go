package books

import (
	"fmt"

	"ds2/internal/result"
)

// numbers are those of orders or customers.
func numbers(entries []entry) []int64 {
	var all []int64
	for _, e := range entries {
		if e.Kind == registered {
			all = append(all, e.Customer)
		} else {
			all = append(all, e.Order)
		}
	}
	return all
}

// named gives how many numbers there are, and which: "4: orders 12001, 12003-12005".
func named(what string, all []int64) string {
	if len(all) == 0 {
		return "0"
	}
	return fmt.Sprintf("%d: %s %s", len(all), what, result.Ranges(all))
}
