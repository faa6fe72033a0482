package durability

import (
	"fmt"
	"math/rand/v2"
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
}

// The moments at which a cut comes.
const (
	atRandom     = "at random"
	atCheckpoint = "during a checkpoint"
	atBurst      = "in a burst of commits"
)

// moment is when a cut comes.
type moment struct {
	wait time.Duration // of orders before it
	kind string
	late float64 // 0 to 1, how far into what it waits for then
}

// moments draws when the cuts come: between half and one and a half times the mean, one of each three during a checkpoint and
// one in a burst of commits.
func (p Plan) moments() []moment {
	random := rand.New(rand.NewPCG(p.Seed, 0xc07))
	all := make([]moment, p.Cycles)
	var kinds []string
	for i := range all {
		if len(kinds) == 0 {
			kinds = []string{atRandom, atCheckpoint, atBurst}
			random.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
		}
		all[i] = moment{wait: time.Duration((0.5 + random.Float64()) * float64(p.After)), kind: kinds[0], late: random.Float64()}
		kinds = kinds[1:]
	}
	return all
}

// String names the plan in a log.
func (p Plan) String() string {
	if p.Cycles == 0 {
		return fmt.Sprintf("a cut after %s", p.After)
	}
	return fmt.Sprintf("%d cuts, every %s on average", p.Cycles, p.After)
}
