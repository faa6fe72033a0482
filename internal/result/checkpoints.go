package result

import (
	"time"

	"ds2/internal/measure"
	"ds2/internal/monitor"
)

// AddCheckpoints puts into a summary the checkpoints that the counters of its run show, and into its series when they
// began. Of a run on several servers, each of which has its own, the series learns nothing.
func AddCheckpoints(s *Summary, series *measure.Series, counters *monitor.Table) {
	var servers int
	s.Checkpoints, servers = counters.Checkpoints(s.Start)
	series.Cycles = nil
	if servers != 1 || len(series.Samples) == 0 {
		return
	}
	series.Cycles = []time.Duration{}
	end := series.Samples[len(series.Samples)-1].End
	for _, c := range s.Checkpoints {
		if from := time.Duration(c.From * float64(time.Second)); from >= 0 && from <= end {
			series.Cycles = append(series.Cycles, from)
		}
	}
}
