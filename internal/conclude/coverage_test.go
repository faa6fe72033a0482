package conclude

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/sampling"
)

// TestSettingsOfSQLServer: a setting that is changed and changed back is seen by the sum of all in
// between, also where a reading is missing.
func TestSettingsOfSQLServer(t *testing.T) {
	in := Input{}
	in.Start = time.Unix(0, 0)
	in.Counters.Columns = []string{sampling.DatabaseSettingsSum}
	for second, sum := range []float64{1, 7, 7, 7, math.NaN(), -3, -3, 7, 7, 7} {
		in.Counters.Rows = append(in.Counters.Rows, sampling.Row{
			Time: in.At(float64(second)), Values: []float64{sum},
		})
	}
	for window, want := range map[[2]float64]float64{{1.5, 9}: 2, {7, 9}: 0, {0, 9}: 3} {
		v := newView(in, &measure.Window{From: window[0], To: window[1]})
		found := result.FindingOf(v.judgeSamples(), result.SettingsReloaded)
		if want == 0 {
			assert.Nil(t, found)
			continue
		}
		assert.Contains(t, found.Words(), fmt.Sprintf("in %.0f of its seconds", want))
	}
}
