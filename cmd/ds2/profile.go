package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

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
	}},
	{"endurance", "a day", map[string]string{
		"warmup-time": "10m", "run-time": "24h", "settle": "8m", "idle": "2m", "cooldown": "1m",
	}},
}

func profileFlag(flags *pflag.FlagSet, profile *string) {
	names := []string{""}
	uses := []string{}
	for _, p := range profiles {
		names = append(names, p.name)
		uses = append(uses, p.name+", "+p.use)
	}
	flags.Var(
		oneOf(profile, names...),
		"profile",
		"times of the run and of the steps around it, unless flags "+
			"set them: "+strings.Join(uses, "; "),
	)
}

// fillIn sets the flags that neither the command line nor a variable gave: from --file, then from
// --profile.
func fillIn(ctx context.Context, flags *pflag.FlagSet) error {
	if path := textOf(flags, fileFlag); path != "" {
		file, err := readExperimentFile(ctx, path)
		if err != nil {
			return err
		}
		if err := file.fill(ctx, flags, textOf(flags, configurationFlag)); err != nil {
			return err
		}
	} else if textOf(flags, configurationFlag) != "" {
		return usageError(
			"--%s: it is one of a file, which --%s names",
			configurationFlag,
			fileFlag,
		)
	}
	return fillProfile(flags)
}

// fillProfile sets the flags that a profile gives.
func fillProfile(flags *pflag.FlagSet) error {
	name := textOf(flags, "profile")
	for _, p := range profiles {
		if p.name != name {
			continue
		}
		for flag, value := range p.values {
			if f := flags.Lookup(flag); f != nil && !f.Changed {
				if err := flags.Set(flag, value); err != nil {
					return flagError("profile", err)
				}
			}
		}
	}
	return nil
}

// textOf is the value of a flag; empty where a command does not have it.
func textOf(flags *pflag.FlagSet, name string) string {
	if f := flags.Lookup(name); f != nil {
		return f.Value.String()
	}
	return ""
}

// The flags by which a command takes others from the file of an experiment.
const (
	fileFlag          = "file"
	configurationFlag = "configuration"
)

// fill sets the flags that are not given from one configuration of the file. Those that a command
// does not have are for others.
func (f *experimentFile) fill(ctx context.Context, flags *pflag.FlagSet, name string) error {
	for _, c := range f.configurations {
		if c.Name != name && (name != "" || len(f.configurations) > 1) {
			continue
		}
		for key, g := range c.Given {
			if flag := flags.Lookup(key); flag != nil && !flag.Changed {
				if err := f.set(ctx, flags, key, g); err != nil {
					return err
				}
			}
		}
		if flag := flags.Lookup("runs"); flag != nil && !flag.Changed &&
			f.Own["runs"].Values != nil {
			return flags.Set("runs", fmt.Sprint(f.runs.least))
		}
		return nil
	}
	names := strings.Join(mapped(f.configurations, func(c *fileConfiguration) string {
		return c.Name
	}), "; ")
	if name == "" {
		return usageError("--%s: %s has several configurations: name one by --%s: %s",
			fileFlag, f.Path, configurationFlag, names)
	}
	return usageError(
		"--%s: %s has no configuration %q; it has %s",
		configurationFlag,
		f.Path,
		name,
		names,
	)
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
		steps = append(
			steps,
			"wait up to "+timeWords(spec.WarmWithin.Duration)+" until the store is warm",
		)
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
	return fmt.Sprintf(
		"schedule: %s; %s %s",
		strings.Join(steps, ", "),
		about,
		now.Add(total).Format("15:04"),
	)
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

// readEnvironment sets each flag that was not given from its variable: DS2_TARGET for --target,
// DS2_N_THREADS and DS2_THREADS for --threads. --config-file has none: what a file says counts in
// its place among the arguments.
func readEnvironment(flags *pflag.FlagSet) (err error) {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed || f.Name == configFileFlag || f.Name == "help" || err != nil {
			return
		}
		names := []string{f.Name}
		for _, alias := range slices.Sorted(maps.Keys(aliases)) {
			if aliases[alias] == f.Name {
				names = append(names, alias)
			}
		}
		for _, name := range names {
			variable := "DS2_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
			value, ok := os.LookupEnv(variable)
			if !ok {
				continue
			}
			if bad := flags.Set(f.Name, value); bad != nil {
				err = usageError("variable %s: %w", variable, flagText(bad))
			}
			return
		}
	})
	return err
}
