package durability

import (
	"context"
	"math/rand/v2"
	"time"

	"ds2/internal/progress"
)

// The moments at which a cut comes.
const (
	atSetTime    = "when it was asked for"
	atRandom     = "at random"
	atCheckpoint = "during a checkpoint"
	atBurst      = "in a burst of commits"
	atLog        = "when enough log stood"
)

// moment is when a cut comes.
type moment struct {
	wait time.Duration // of orders before it
	kind string
	late float64 // 0 to 1, how far into what it waits for then
}

// moments draws when the cuts come: between half and one and a half times the mean, one of each three during a
// checkpoint and one in a burst of commits.
func (p Plan) moments() []moment {
	if p.Replay != nil {
		return []moment{{kind: atLog}}
	}
	random := rand.New(rand.NewPCG(p.Seed, 0xc07))
	all := make([]moment, p.Cycles)
	var kinds []string
	for i := range all {
		if len(kinds) == 0 {
			kinds = []string{atRandom, atCheckpoint, atBurst}
			random.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
		}
		wait := time.Duration((0.5 + random.Float64()) * float64(p.After))
		all[i] = moment{wait: wait, kind: kinds[0], late: random.Float64()}
		kinds = kinds[1:]
	}
	return all
}

// await waits until a cut is due; false where the orders are over before. A checkpoint that is over already, or none at
// all, makes the moment one at random.
func (c *CutSchedule) await(orders context.Context, t Target, m *moment) (bool, error) {
	if !progress.Pause(orders, m.wait) {
		return false, nil
	}
	switch m.kind {
	case atLog:
		return c.awaitLog(orders, c.plan.Replay, t.Can().Replay)
	case atCheckpoint:
		if !duringCheckpoint(orders, t, m.late) {
			m.kind = atRandom
		}
	case atBurst:
		c.burst(orders)
	}
	return orders.Err() == nil, nil
}

// longestStay is how far into a checkpoint a cut comes at most.
const longestStay = 200 * time.Millisecond

// duringCheckpoint has the server begin a checkpoint and returns amid it; false where it came to its end before.
func duringCheckpoint(orders context.Context, t Target, late float64) bool {
	checkpoint := t.Can().Checkpoint
	if checkpoint == nil {
		return false
	}
	done := make(chan error, 1)
	// It ends with the server, at the latest.
	go func() { done <- checkpoint(context.WithoutCancel(orders)) }()
	select {
	case err := <-done:
		if err != nil {
			t.Log.Warn("no checkpoint", "err", err)
		}
		return false
	case <-time.After(time.Duration(late * float64(longestStay))):
		return true
	}
}

// A burst is a slot of time in which as many purchases were acknowledged as in the best of so many slots before.
const (
	burstSlot     = 5 * time.Millisecond
	burstBefore   = 100
	burstPatience = 200
)

// burst waits for a burst of commits, not for ever.
func (c *CutSchedule) burst(orders context.Context) {
	best, last := int64(0), c.Count()
	for slot := range burstBefore + burstPatience {
		if !progress.Pause(orders, burstSlot) {
			return
		}
		n := c.Count() - last
		last += n
		switch {
		case slot < burstBefore:
			best = max(best, n)
		case n >= best:
			return
		}
	}
}
