package durability

import (
	"fmt"
	"time"
)

// Plan is when a run's server is cut off, and how often.
type Plan struct {
	// After is when the one cut comes, since the first orders; with Cycles it is the mean time of orders before each.
	After  time.Duration
	Cycles int    // how many cuts at random times, after which the run ends; 0: one cut, and the run goes on to its end
	Seed   uint64 // of the random times

	DeepEvery int           // after every so many cuts each page is read and checked; 0: never
	Recovery  time.Duration // how long the server may take to come back; 0: as long as it likes
	Server    Server

	Replay *Replay // the cut comes when enough log stands, and its recovery is measured; Cycles is 1 then; nil: none
}

// String names the plan in a log.
func (p Plan) String() string {
	if p.Replay != nil {
		return fmt.Sprintf("a cut at %.0f MB of log", float64(p.Replay.Bytes)/1e6)
	}
	if p.Cycles == 0 {
		return fmt.Sprintf("a cut after %s", p.After)
	}
	return fmt.Sprintf("%d cuts, every %s on average", p.Cycles, p.After)
}
