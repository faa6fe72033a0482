// Package power reads electric power in watts: of a command while a run lasts, or of the log of a
// meter after it. What a result of a run has of it is for others to say.
package power

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"ds2/internal/escape"
	"ds2/internal/outside"
	"ds2/internal/sampling"
)

// NewCommand takes watts from a command, run by the shell, that prints them: the number before W
// or Watts ("PSU1 Input Power: 312 Watts"), or the only one on its output. It is started again as
// soon as it has ended, at most once a second: many meters take longer than a second to answer, and
// a reading stands for the time that it took, at most 30 s.
func NewCommand(ctx context.Context, command string) (sampling.Source, error) {
	if _, err := runPowerCommand(ctx, command); err != nil {
		return sampling.Source{}, err
	}
	read := func(ctx context.Context) (float64, error) { return runPowerCommand(ctx, command) }
	return sampling.GaugeSource("power by command", "power", read), nil
}

// wattsOf has the units of power. A capital M would be mega, which no server draws.
var wattsOf = map[string]float64{
	"": 1, "W": 1, "w": 1, "watt": 1, "watts": 1, "Watt": 1, "Watts": 1, "WATTS": 1,
	"kW": 1000, "KW": 1000, "kw": 1000, "mW": .001, "mw": .001,
}

// published are the outputs of programs and kernels that have other numbers beside the power.
var published = []*regexp.Regexp{
	// ipmitool dcmi power reading, and ipmi-dcmi --get-system-power-statistics of FreeIPMI
	regexp.MustCompile(
		`(?im)^\s*(?:Instantaneous power reading|Current Power)\s*:\s*(-?\d[\d.,']*)\s+(watts?)\b`,
	),
	// ipmitool sensor, whose thresholds follow
	regexp.MustCompile(`(?m)^[^|\n]*\|\s*(-?\d[\d.,']*)\s*\|\s*(Watts)\s*\|`),
	// Redfish: PowerControl of Power, PowerWatts of EnvironmentMetrics
	regexp.MustCompile(`"PowerConsumedWatts"\s*:\s*(-?\d[\d.]*)()`),
	regexp.MustCompile(`"PowerWatts"\s*:\s*(?:\{[^{}]*?"Reading"\s*:\s*)?(-?\d[\d.]*)()`),
	// a number with its unit, and a number
	regexp.MustCompile(`((?:\B-)?\d[\d.,']*)\s*([kKmM]?[wW](?i:atts?)?)\b`),
	regexp.MustCompile(`((?:\B-)?\d[\d.,']*)()`), // with separators, which say nothing for sure
}

// plain is a number without a sign and without separators of thousands.
var plain = regexp.MustCompile(`^\d+(\.\d*)?([eE][-+]?\d{1,2})?$`)

// What a machine draws. In the kernel's sysfs power is in microwatts, and all bits set is none.
const (
	mostWatts       = 100e3
	leastMicrowatts = 10e6
	noMicrowatts    = 1<<32 - 1
)

// checkWatts is a power that a machine can draw: a meter that shows none, or no machine's, is not
// working.
func checkWatts(watts float64) error {
	if watts > 0 && watts <= mostWatts {
		return nil
	}
	return fmt.Errorf("%.7g W is not what a machine draws", watts)
}

// number reads one without a sign and without separators.
func number(text string) (v float64, ok bool) {
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil && plain.MatchString(text)
}

// wattsIn reads the power in what a program prints that is published or, where it is none of these,
// the one number that is said to be watts or, where none is, the only number.
func wattsIn(output string) (float64, error) {
	var found [][]string
	for _, form := range published {
		if found = form.FindAllStringSubmatch(output, -1); found != nil {
			break
		}
	}
	var all []string
	for _, m := range found {
		all = append(all, m[0])
	}
	whole := strings.TrimSpace(output)
	output = escape.Brief(whole)
	switch {
	case len(found) == 0:
		return 0, fmt.Errorf("no number in its output %q", output)
	case len(found) > 1:
		return 0, fmt.Errorf("its output %q has several numbers, %s: have it print the watts alone",
			output, escape.Brief(strings.Join(all, " and ")))
	}
	// no point of a sentence
	digits := strings.TrimRight(found[0][1], ".,'")
	unit := wattsOf[found[0][2]]
	w, ok := number(digits)
	if !ok || unit == 0 {
		return 0, fmt.Errorf("its output %q has the number %s: have it print watts as 1234.5",
			output, strings.TrimSpace(all[0]))
	}
	w *= unit
	if sysfs := digits == whole && w >= leastMicrowatts && w != noMicrowatts; sysfs {
		w /= 1e6
	}
	if err := checkWatts(w); err != nil {
		return 0, fmt.Errorf("its output %q: %w", output, err)
	}
	return w, nil
}

// runPowerCommand runs the command once, within the time that package outside gives to one.
func runPowerCommand(ctx context.Context, command string) (watts float64, err error) {
	output, err := outside.Output(ctx, command)
	if err == nil {
		watts, err = wattsIn(output)
	}
	if err != nil {
		return 0, fmt.Errorf("run power command: %w", err)
	}
	return watts, nil
}
