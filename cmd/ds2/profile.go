package main

import (
	"fmt"
	"strings"
	"time"

	"ds2/internal/result"
)

// profiles are times that go together, as flags of a run and of the procedure around it.
var profiles = []struct {
	name, use string
	values    map[string]string
}{
	{"quick", "a try of two minutes", map[string]string{
		"warmup-time": "15s", "run-time": "1m", "settle": "0", "idle": "0", "cooldown": "0",
	}},
	{
		"afternoon",
		"two arrays in four hours",
		map[string]string{
			"warmup-time": "2m",
			"warm-within": "8m",
			"run-time":    "5m",
			"settle":      "30s",
			"idle":        "30s",
			"cooldown":    "0",
		},
	},
	{"report", "the storage report's", map[string]string{
		"warmup-time": "1m", "run-time": "20m", "settle": "8m", "idle": "2m", "cooldown": "1m",
		"window": "run+1000s-1200s",
	}},
	{"endurance", "a day", map[string]string{
		"warmup-time": "10m", "run-time": "24h", "settle": "8m", "idle": "2m", "cooldown": "1m",
	}},
}

// profileNamed is the profile of a name; none has no values.
func profileNamed(name string) (values map[string]string) {
	for _, p := range profiles {
		if p.name == name {
			values = p.values
		}
	}
	return values
}

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
	h := int(d.Hours())
	m := int(d.Minutes()) % 60
	s := (d % time.Minute).Seconds()
	var parts []string
	if h > 0 {
		parts = append(parts, fmt.Sprintf("%d h", h))
	}
	if m > 0 {
		parts = append(parts, fmt.Sprintf("%d min", m))
	}
	if s > 0 || len(parts) == 0 {
		parts = append(parts, fmt.Sprintf("%.3g s", s))
	}
	return strings.Join(parts, " ")
}
