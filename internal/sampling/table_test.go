package sampling

import (
	"maps"
	"math"
	"slices"
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

// TestPartlyOfLinks: the link of a container that ends within a run leaves no gap in the network's
// samples; a second without any does.
func TestPartlyOfLinks(t *testing.T) {
	unknown := math.NaN()
	for _, c := range []struct {
		eth0, veth1 float64 // after 10 of 60 seconds
		partly      []string
	}{
		{1, unknown, nil},
		{unknown, unknown, []string{"network"}},
	} {
		start := time.Now()
		table := Table{Columns: []string{
			"network.eth0.used_ratio", "network.veth1.used_ratio", "cpu.busy",
		}}
		for second := range 60 {
			row := Row{
				Time:   start.Add(time.Duration(second+1) * time.Second),
				Values: []float64{1, 1, 1},
			}
			if second >= 10 {
				row.Values = []float64{c.eth0, c.veth1, 1}
			}
			table.Rows = append(table.Rows, row)
		}
		least := table.Partly(start, start.Add(time.Minute))
		assert.Equal(t, c.partly, slices.Collect(maps.Keys(least)))
	}
}
