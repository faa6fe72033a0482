package experiment

import (
	"time"

	"ds2/internal/result"
)

// Summarize says what will be run, as the record of a run begins.
func Summarize(o Options) result.Summary {
	c := o.Driver
	s := result.Summary{
		KitVersion: o.Version,
		RunID:      o.RunID,
		Status:     result.Running,
		Start:      time.Now(),
		Command:    o.Command,
		Engine:     o.Targets[0].Engine(),
		Threads:    c.Threads,
		Seed:       c.Seed,
		Parameters: result.Parameters{
			RampRate:        c.RampRate,
			RunTime:         c.Run.Seconds(),
			WarmupTime:      c.Warmup.Seconds(),
			ThinkTime:       c.Think.Seconds(),
			Rate:            c.Arrivals.Rate,
			MaxRetries:      c.MaxRetries,
			MaxErrors:       c.MaxErrors,
			UserOffset:      c.UserOffset,
			CheckpointFirst: o.CheckpointFirst,
			ScrubRate:       o.Background.ScrubRate,
			Copies:          o.Background.Copies,
			Calls:           o.Calls,
			Proof:           o.Proof,
		},
	}
	s.Words = o.Plan.Workload().Words().Kept()
	o.Plan.Describe(&s)
	if c.Arrivals.Rate > 0 {
		s.Parameters.Spacing = "even"
		if c.Arrivals.Poisson {
			s.Parameters.Spacing = "poisson"
		}
	}
	for _, w := range o.Windows {
		s.Parameters.Windows = append(s.Parameters.Windows, w.String())
	}
	for _, target := range o.Targets {
		s.Targets = append(s.Targets, target.Label())
	}
	return s
}
