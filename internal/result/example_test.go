package result_test

import (
	"fmt"
	"os"

	"ds2/internal/result"
)

// The headline figure of a record on disk.
func ExampleOpen() {
	record, err := result.Open("../../docs/examples/demo")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	if run, ok := record.(*result.Record); ok && run.Figure.Value > 1000 {
		fmt.Printf("%s: thousands of %s\n", run.Engine, run.Figure.Unit)
	}
	// Output:
	// postgres: thousands of OPM
}
