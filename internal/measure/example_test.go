package measure_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"ds2/internal/measure"
)

// The OPM of a window and its confidence interval, from a second-by-second series.
func ExampleSeries_Window() {
	random := rand.New(rand.NewPCG(1, 2))
	var series measure.Series
	for second := range 600 {
		series.Samples = append(series.Samples, measure.Sample{
			End:    time.Duration(second+1) * time.Second,
			Length: time.Second,
			Phase:  measure.PhaseRun,
			Counts: measure.Counts{Orders: 1000 + random.Int64N(100)},
		})
	}

	span := measure.Span{From: 100 * time.Second, To: 400 * time.Second}
	window, err := series.Window("steady", span)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	fmt.Printf("%.0f OPM ± %.0f\n", window.OPM, *window.CI95)
	// Output:
	// 62999 OPM ± 201
}
