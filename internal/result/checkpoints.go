package result

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"ds2/internal/measure"
	"ds2/internal/sampling"
)

// AddCheckpoints puts into a summary the checkpoints that the counters of its run show, and into
// its series when they began. Of a run on several servers, each of which has its own, the series
// learns nothing; nor of a server that writes changed pages all the time, in the background, and
// not in checkpoints.
func AddCheckpoints(s *Summary, series *measure.Series, counters *sampling.Table) {
	var servers int
	s.Checkpoints, servers = counters.Checkpoints(s.Start)
	series.Cycles = nil
	series.NoCycles = ""
	for _, server := range s.Servers {
		// Within so many seconds the server is to recover: the default of SQL Server since 2016.
		if seconds, _ := strconv.Atoi(server.Settings[targetRecovery]); seconds > 0 {
			series.NoCycles = fmt.Sprintf(
				"checkpoints are indirect: the server writes changed pages out all the "+
					"time, so that it could recover within %s, and there are no checkpoint cycles",
				time.Duration(seconds)*time.Second)
			return
		}
	}
	if servers != 1 || len(series.Samples) == 0 {
		return
	}
	series.Cycles = []time.Duration{}
	end := series.Samples[len(series.Samples)-1].End
	for _, c := range s.Checkpoints {
		if from := measure.Seconds(c.From); from >= 0 && from <= end {
			series.Cycles = append(series.Cycles, from)
		}
	}
	series.Cycles = slices.Compact(series.Cycles) // a damaged record may have two at a time
}

// targetRecovery is the setting's name, as schema/sqlserver/server/settings.sql gives it.
const targetRecovery = "database target recovery time (s)"
