package runs

import (
	"fmt"
	"math"

	"ds2/internal/result"
)

// scrubTolerance is by how much a scrub's rate may miss what was asked for.
const scrubTolerance = 0.1

// backgroundWarnings say where what was to be read beside the users was not.
func backgroundWarnings(s result.Summary) (all []string) {
	for _, r := range s.Scrub {
		switch rate := r.PerSecond(); {
		case r.Error != "":
			all = append(all, fmt.Sprintf("the background scan of %s failed %d times, the last: %s", r.Target, r.Failures, r.Error))
		case math.Abs(rate-r.Rate) > scrubTolerance*r.Rate:
			all = append(all, fmt.Sprintf("the background scan of %s read %.3g MB/s of the %.3g MB/s asked for", r.Target, rate/1e6, r.Rate/1e6))
		}
		if r.Passes == 0 {
			all = append(all, fmt.Sprintf("the background scan of %s made no whole pass through the database, so the run does not say what a scan costs: make the run longer, or the scan faster", r.Target))
		}
	}
	for _, r := range s.Copies {
		if r.Error != "" {
			all = append(all, fmt.Sprintf("a reader of the log of %s failed %d times, the last: %s", r.Target, r.Failures, r.Error))
		}
	}
	return all
}
