package runs

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"ds2/internal/monitor"
)

// TestLogRoom fills a log of 1,000 MB at so many MB/s in a run of ten minutes, and wants a warning where it would be
// full before the end.
func TestLogRoom(t *testing.T) {
	const mb = 1e6
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		why  string
		used func(second float64) float64 // MB
		want string                       // of the warning; empty: none
		at   int                          // the second of it
	}{
		{"room enough", func(s float64) float64 { return 100 + 1.4*s }, "", 0},
		{"too little from the start", func(s float64) float64 { return 100 + 2*s }, "host/DS2: 778 MB of the log are " +
			"free, and at 2.0 MB/s the 8m59s left will take 1078 MB: it will be full in 6m29s", 61},
		{"at rest, then fast", func(s float64) float64 { return 100 + 10*max(0, s-300) },
			"MB of the log are free", 316},
		{"backups make room each minute", func(s float64) float64 { return 100 + 14*math.Mod(s, 60) }, "", 0},
		{"full already, and grown", func(s float64) float64 { return 1000 + s },
			"at 1.0 MB/s the 8m59s left will take 539 MB: it will be full in 0s", 61},
		{"a server that does not answer", func(s float64) float64 { return math.NaN() }, "", 0},
	} {
		t.Run(c.why, func(t *testing.T) {
			l := &logRoom{run: 10 * time.Minute, kept: []keptLog{{target: "host/DS2", size: 0, used: 1}}}
			at := 0
			for second := 1; second <= 600; second++ {
				values := []float64{1000 * mb, c.used(float64(second)) * mb}
				l.sample(start, monitor.Row{Time: start.Add(time.Duration(second) * time.Second), Values: values})
				if at == 0 && len(l.said()) > 0 {
					at = second
				}
			}
			assert.Equal(t, c.at, at, l.said())
			assert.Len(t, l.said(), min(at, 1))
			contains(t, l.said(), c.want)
		})
	}
}
