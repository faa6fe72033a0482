package device

import (
	"context"
	"fmt"
	"math"
	"slices"

	"ds2/internal/result"
)

// The steady state of SNIA's Solid State Storage Performance Test Specification: over five rounds the figures stay
// within 20 % of their mean, and their best straight line rises or falls by no more than 10 % of it; at most 25 rounds.
const (
	steadyRounds = 5
	maxRounds    = 25
	maxRange     = 0.20
	maxSlope     = 0.10
)

// precondition brings flash into the state in which it stays: all of it written twice in sequence, so that nothing of
// the drive is fresh, and then at random until rounds are steady. That the drive is purged before is for its owner to
// see to.
func (m *measurement) precondition(ctx context.Context) (*result.DevicePreconditioning, error) {
	p := &result.DevicePreconditioning{}
	for pass := range 2 {
		_, rate, err := m.step(ctx, fmt.Sprintf("sequential pass %d of 2", pass+1), fill)
		if err != nil {
			return p, err
		}
		p.Sequential = append(p.Sequential, rate)
	}
	for !p.Steady && len(p.Rounds) < maxRounds {
		point, _, err := m.step(ctx, fmt.Sprintf("random writes, round %d of at most %d", len(p.Rounds)+1, maxRounds),
			job{rw: "randwrite", block: BlockBytes, depth: 32, runTime: m.RoundTime})
		if err != nil {
			return p, err
		}
		p.Rounds = append(p.Rounds, point.IOPS)
		p.Steady = steady(p.Rounds)
	}
	return p, nil
}

// steady tells whether the last rounds are.
func steady(rounds []float64) bool {
	if len(rounds) < steadyRounds {
		return false
	}
	rounds = rounds[len(rounds)-steadyRounds:]
	mean, slope := 0.0, 0.0
	for i, v := range rounds {
		mean += v / steadyRounds
		x := float64(i) - (steadyRounds-1)/2.0
		slope += x * v / 10 // the sum of the squares of x
	}
	return slices.Max(rounds)-slices.Min(rounds) <= maxRange*mean && math.Abs(slope)*(steadyRounds-1) <= maxSlope*mean
}
