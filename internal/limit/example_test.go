package limit_test

import (
	"fmt"
	"os"

	"ds2/internal/limit"
)

// A limit, read and judged by a figure that was measured elsewhere.
func ExampleJudge() {
	p95, err := limit.Parse("order p95 < 200ms")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}

	measured := func(limit.Metric) (limit.Figure, bool) { return limit.Figure{Value: .231}, true }
	for _, verdict := range limit.Judge([]limit.Limit{p95}, measured) {
		fmt.Println(p95, verdict.OK)
	}
	// Output:
	// order p95 < 200ms false
}
