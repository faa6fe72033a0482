package measure

import (
	"cmp"
	"slices"
)

// Failure names what went wrong and in which operation.
type Failure struct {
	Operation string
	Class     string
}

// FailureCount is how often a failure happened.
type FailureCount struct {
	Operation string `json:"operation"`
	Class     string `json:"class"`
	Count     int64  `json:"count"`
}

// FailureCounts lists counts by failure.
func FailureCounts(counts map[Failure]int64) []FailureCount {
	var list []FailureCount
	for f, n := range counts {
		list = append(list, FailureCount{f.Operation, f.Class, n})
	}
	return list
}

// AddFailures adds counts to a list of them, which stays sorted by operation and class.
func AddFailures(list []FailureCount, more ...FailureCount) []FailureCount {
	for _, f := range more {
		i := slices.IndexFunc(list, func(c FailureCount) bool { return c.Operation == f.Operation && c.Class == f.Class })
		if i >= 0 {
			list[i].Count += f.Count
		} else {
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(a, b FailureCount) int {
		return cmp.Or(cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Class, b.Class))
	})
	return list
}
