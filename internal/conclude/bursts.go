package conclude

import (
	"math"
	"strings"

	"ds2/internal/measure"
	"ds2/internal/result"
)

// findBurstEnd finds that the rate fell to a lower level for good, in the window or after it.
// Events explain that otherwise.
func (v view) findBurstEnd() []result.Finding {
	// Credits are spent from the first order on, and a fall just after the warm-up shows only
	// against the rate in it.
	all := v.Series.Phase(measure.PhaseRun)
	if warmup := v.Series.Phase(measure.PhaseWarmup); warmup.To > 0 {
		all.From = warmup.From
	}
	at, share, fell := v.Series.Drop(all)
	// A fall before the window leaves all of it at the lower level, which is the one that lasts.
	if !fell || at.Seconds() < v.window.From || len(v.Events) > 0 {
		return nil
	}
	var names []string
	if v.Machine != nil {
		for _, b := range v.Machine.Bursts() {
			names = append(names, b.Of+", which may be faster "+b.Text)
		}
	}
	if names == nil {
		names = []string{
			"the credits of a cloud's drive or machine, or the fast part of a drive that is full",
		}
	}
	return []result.Finding{result.NewFinding(result.BurstEnded, strings.Join(names, "; ")).
		With("at", math.Round(at.Seconds())).With("share", share)}
}
