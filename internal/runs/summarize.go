package runs

import (
	"time"

	"ds2/internal/result"
)

// Summarize says what will be run, as the record of a run begins.
func Summarize(o Options) result.Summary {
	c := o.Driver
	w := o.Plan.Workload()
	a := result.Asked{
		KitVersion: o.Version,
		RunID:      o.RunID,
		Command:    o.Command,
		Workload:   w.Name(),
		Words:      w.Words(),
		Engine:     o.Targets[0].Engine(),
		Size:       o.Plan.Size(),
		Threads:    c.Threads,
		Seed:       c.Seed,
		Device:     o.Device,
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
			ColdStart:       o.ColdStart,
			ScrubRate:       o.ScrubRate,
			Proof:           o.Proof,
			Disclosure:      o.Disclosure,
		},
	}
	o.Plan.Describe(&a)
	if c.Arrivals.Rate > 0 {
		a.Parameters.Spacing = "even"
		if c.Arrivals.Poisson {
			a.Parameters.Spacing = "poisson"
		}
	}
	for _, w := range o.Windows {
		a.Parameters.Windows = append(a.Parameters.Windows, w.String())
	}
	for _, target := range o.Targets {
		a.Targets = append(a.Targets, target.Label())
	}
	for _, l := range o.Limits {
		a.LimitTexts = append(a.LimitTexts, l.String())
	}
	return result.Summary{Asked: a, Happened: result.Happened{Status: result.Running, Start: time.Now()}}
}
