package monitor

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"ds2/internal/escape"
	"ds2/internal/outside"
)

// PowerCommand takes watts from a command, run by the shell, that prints them: the number before W
// or Watts ("PSU1 Input Power: 312 Watts"), or the only one on its output. It is started again as
// soon as it has ended, at most once a second: many meters take longer than a second to answer, and
// a reading stands for the time that it took, at most 30 s.
func PowerCommand(ctx context.Context, command string) (Source, error) {
	if _, err := runPowerCommand(ctx, command); err != nil {
		return Source{}, err
	}
	power := []kind{{"power_watts", "Electric power as the meter shows it.", Power, gauge(0)}}
	read := func(ctx context.Context) ([]float64, error) {
		watts, err := runPowerCommand(ctx, command)
		return []float64{watts}, err
	}
	return single("power by command", "", "", "", power, read), nil
}

// wattsOf has the units of power. A capital M would be mega, which no server draws.
var wattsOf = map[string]float64{
	"": 1, "W": 1, "w": 1, "watt": 1, "watts": 1, "Watt": 1, "Watts": 1, "WATTS": 1,
	"kW": 1000, "KW": 1000, "kw": 1000, "mW": .001, "mw": .001,
}

var (
	anyNumber = regexp.MustCompile(`(\d[\d.,']*)()`) // with separators, which say nothing for sure
	ofPower   = regexp.MustCompile(`(\d[\d.,']*)\s*([kKmM]?[wW](?i:atts?)?)\b`)
	plain     = regexp.MustCompile(`^\d+(\.\d*)?([eE][-+]?\d{1,2})?$`)
)

// number reads one without a sign and without separators.
func number(text string) (v float64, ok bool) {
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil && plain.MatchString(text)
}

// wattsIn reads the one number that is said to be watts or, where none is, the only number.
func wattsIn(output string) (float64, error) {
	found := ofPower.FindAllStringSubmatch(output, -1)
	if found == nil {
		found = anyNumber.FindAllStringSubmatch(output, -1)
	}
	var all []string
	for _, m := range found {
		all = append(all, m[0])
	}
	output = escape.Brief(strings.TrimSpace(output))
	switch {
	case len(found) == 0:
		return math.NaN(), fmt.Errorf("no number in its output %q", output)
	case len(found) > 1:
		return math.NaN(), fmt.Errorf(
			"its output %q has several numbers, %s: have it print the watts alone",
			output,
			escape.Brief(strings.Join(all, " and ")),
		)
	}
	// no point of a sentence
	digits := strings.TrimRight(found[0][1], ".,'")
	unit := wattsOf[found[0][2]]
	w, ok := number(digits)
	if !ok || unit == 0 {
		return math.NaN(), fmt.Errorf(
			"its output %q has the number %s: have it print watts as 1234.5",
			output,
			all[0],
		)
	}
	return w * unit, nil
}

func runPowerCommand(ctx context.Context, command string) (float64, error) {
	watts := math.NaN()
	output, err := outside.Output(ctx, command)
	if err == nil {
		watts, err = wattsIn(output)
	}
	if err != nil {
		return watts, fmt.Errorf("run power command: %w", err)
	}
	return watts, nil
}
