package sampling

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestTableTakesASeriesByTime(t *testing.T) {
	start := time.Unix(0, 0)
	at := func(second float64) time.Time {
		return start.Add(time.Duration(second * float64(time.Second)))
	}
	table := Table{Columns: []string{"cpu.busy_ratio"}}
	for second := range 60 {
		table.Rows = append(table.Rows, Row{Time: at(float64(second)), Values: []float64{0.5}})
	}
	// A meter that reads every 2 s, from second 10 to second 20.
	var s Series
	for second := 10.0; second <= 20; second += 2 {
		s = append(s, Point{at(second), 100 + second})
	}
	table.Set(Power, s)
	watts := table.Values(Power)
	none := math.NaN()
	for second, want := range map[int]float64{9: none, 10: 110, 11: 110, 12: 112, 20: 120, 23: 120, 24: none} {
		assert.InDelta(t, want, watts[second], 0, "at %d s", second)
	}
	assert.InDelta(
		t,
		(110+110+112+112)/4,
		table.Mean(Power, at(9), at(13)),
		0,
		"mean of seconds 10 to 13",
	)
	assert.InDelta(t, none, table.Mean(Power, at(0), at(9)), 0, "mean where nothing was read")
	assert.InDelta(t, none, table.Mean(Power, at(0), at(59)), 0, "mean of a quarter of the time")
	assert.Nil(t, table.Values("no.such_column"))
}
