package main

import (
	"fmt"
	"strings"
	"time"

	"ds2/internal/result"
)

// schedule says in words what a run that begins now will do.
func schedule(spec result.Spec, now time.Time) string {
	var steps []string
	total := time.Duration(0)
	step := func(format string, d time.Duration) {
		if d > 0 {
			steps = append(steps, fmt.Sprintf(format, timeWords(d)))
			total = total + d
		}
	}
	step("idle %s", spec.Idle.Duration)
	users := "1 user"
	if n := spec.Threads * max(len(spec.Targets), 1); n > 1 {
		users = fmt.Sprint(n, " users")
	}
	steps = append(steps, "connect "+users)
	step("ramp %s", spec.Ramp())
	step("warm up %s", spec.WarmupTime.Duration)
	// How long a store takes to be warm is not known before, so the end is the earliest.
	about := "ends about"
	if spec.WarmWithin.Duration > 0 {
		steps = append(steps,
			"wait up to "+timeWords(spec.WarmWithin.Duration)+" until the store is warm")
		about = "ends at the earliest about"
	}
	if spec.RunTime.Duration == 0 {
		return "schedule: " + strings.Join(append(steps, "run until it is stopped"), ", ")
	}
	step("run %s", spec.RunTime.Duration)
	if spec.DrainTime.Duration > 0 {
		steps = append(steps, "drain up to "+timeWords(spec.DrainTime.Duration))
	}
	step("cool down %s", spec.Cooldown.Duration)
	return fmt.Sprintf("schedule: %s; %s %s", strings.Join(steps, ", "), about,
		now.Add(total).Format("15:04"))
}

// timeWords is a time as one writes it: "3.2 s", "1 min", "1 h 30 min".
func timeWords(d time.Duration) string {
	return timeUnitWords.Replace(d.Round(10 * time.Millisecond).String())
}

var timeUnitWords = strings.NewReplacer(
	"h0m0s", " h", "m0s", " min", "ms", " ms", "h", " h ", "m", " min ", "s", " s",
)
