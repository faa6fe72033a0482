package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/measure"
)

// minutes is a run of 24 hours whose samples are minutes, with white noise beside a wander of a memory of n hours.
func minutes(hours, loss float64) process {
	return process{make: func(random *rand.Rand, seconds int, _ []int) []float64 {
		all := autoregressive(random, seconds, 0)
		if hours > 0 {
			slow := autoregressive(random, seconds, math.Exp(-1/hours/60))
			for i := range all {
				all[i] += (slow[i] - 10_000) * .5
			}
		}
		for i := range all {
			all[i] *= 1 - loss*float64(i)/float64(seconds)
		}
		return all
	}}
}

func TestTrends(t *testing.T) {
	made := simulated(t, "trends", "24 hours of white noise and a wander of", "trend found, none there",
		"told", "found, a loss of 3 % there")
	for _, hours := range []float64{0, .5, 1, 3} {
		random := randomOf(fmt.Sprint("trend", hours))
		of := func(loss float64) []float64 {
			return shares(func() []bool {
				s := minutes(hours, loss).series(random, 24*60)
				for i := range s.Samples {
					s.Samples[i].End, s.Samples[i].Length = s.Samples[i].End*60, time.Minute
				}
				w, err := s.Window("day", measure.Span{To: 24 * time.Hour})
				require.NoError(t, err)
				return []bool{w.Trend != nil, w.Trend != nil && w.Trend.Found}
			})
		}
		none, loss := of(0), of(.03)
		chance := 3 * math.Sqrt(.015/float64(*replicates))
		assert.LessOrEqual(t, none[1], .015+chance, "%g hours: a trend is found where none is", hours)
		made.row(fmt.Sprintf("%g hours", hours), share(none[1]), share(none[0]), share(loss[1]))
	}
}
