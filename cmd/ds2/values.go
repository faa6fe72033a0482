package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docker/go-units"
	"github.com/spf13/pflag"

	"ds2/internal/outside"
)

// notRead is what a text is that a function of package strconv does not read; others read whole
// numbers.
var notRead = map[string]string{
	"ParseUint":  "not a whole number of 0 or more",
	"ParseFloat": "not a number",
	"ParseBool":  "neither true nor false",
}

// flagText words the error of a flag whose value cannot be read: --threads: not a whole number:
// "x". Others stay.
func flagText(err error) error {
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	cause := invalid.Unwrap()
	if number, ok := errors.AsType[*strconv.NumError](cause); ok {
		what := cmp.Or(notRead[number.Func], "not a whole number")
		if errors.Is(number, strconv.ErrRange) {
			what = "too large a number"
		}
		cause = fmt.Errorf("%s: %q", what, invalid.GetValue())
	}
	if text := invalid.GetValue(); invalid.GetFlag().Name == "output" &&
		strings.ContainsAny(text, "./\\") {
		cause = fmt.Errorf("%w; it is the format, and --out=%s the file", cause, text)
	}
	if _, out := errors.AsType[boundsError](cause); out {
		return fmt.Errorf("--%s %w", invalid.GetFlag().Name, cause)
	}
	return fmt.Errorf("--%s: %w", invalid.GetFlag().Name, cause)
}

// maxDuration bounds every time that a flag gives, so that sums and multiples of several fit into a
// time.Duration.
const maxDuration = 365 * 24 * time.Hour

// ds2Duration is a flag for a time with a unit, such as 20m, that may also be a bare number of
// DS2's unit; 0: the parameter is not DS2's.
func ds2Duration(value *time.Duration, unit time.Duration) parsed[time.Duration] {
	kind := map[time.Duration]string{0: "duration", time.Minute: "minutes", time.Second: "seconds"}[unit]
	read := func(text string) (d time.Duration, err error) {
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			if unit == 0 && n != 0 {
				return 0, fmt.Errorf("%q has no unit: write %ss for seconds, or %sm for minutes",
					text, text, text)
			}
			// Bounded first, as a float beyond int64 converts to anything. NaN, too, is to be
			// refused below.
			d = time.Duration(math.Min(n*float64(unit), math.MaxInt64/2))
			if math.IsNaN(n) {
				d = -1
			}
		} else if d, err = time.ParseDuration(text); err != nil {
			use := "a duration such as 90s or 20m"
			if unit != 0 {
				use = "a number of " + kind + ", or " + use
			}
			return 0, fmt.Errorf("invalid duration %q: use %s", text, use)
		}
		if d < 0 || d > maxDuration {
			return 0, fmt.Errorf("invalid duration %q: it must be 0 to %s", text, maxDuration)
		}
		return d, nil
	}
	return parsed[time.Duration]{value, kind, read, time.Duration.String, "0"}
}

// yes is a flag for DS2's Y or N, or true or false.
func yes(value *bool) parsed[bool] {
	read := func(text string) (bool, error) {
		switch strings.ToLower(text) {
		case "y", "yes", "true", "1":
			return true, nil
		case "n", "no", "false", "0":
			return false, nil
		}
		return false, fmt.Errorf("invalid value %q: use Y or N", text)
	}
	return parsed[bool]{value, "Y|N", read, func(bool) string { return "Y" }, "N"}
}

// parsed is a flag of a value that a function reads; write gives it as help and records have it.
type parsed[T comparable] struct {
	value *T
	kind  string // in the help
	read  func(text string) (T, error)
	write func(T) string
	none  string // in place of what write gives, where nothing is set
}

func (v parsed[T]) Type() string { return v.kind }

// String may be asked by pflag of a parsed without a value, too.
func (v parsed[T]) String() string {
	var none T
	if v.value == nil || *v.value == none {
		return v.none
	}
	return v.write(*v.value)
}

func (v parsed[T]) Set(text string) error {
	value, err := v.read(text)
	if err == nil {
		*v.value = value
	}
	return err
}

// bare says that a text ends in a digit, where a unit is missing.
func bare(text string) bool { return strings.ContainsAny(text[max(0, len(text)-1):], "0123456789") }

// orderRate is a flag for a number of orders a second: 500/s or 30000/m.
func orderRate(value *float64) parsed[float64] {
	write := func(rate float64) string { return strconv.FormatFloat(rate, 'g', -1, 64) + "/s" }
	return parsed[float64]{value, "orders/s", readOrderRate, write, ""}
}

func readOrderRate(text string) (float64, error) {
	number, unit, _ := strings.Cut(text, "/")
	per := map[string]float64{"s": 1, "m": 60, "min": 60}[strings.TrimSpace(unit)]
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	// Not above 0 is NaN, too.
	if err != nil || per == 0 || !(n > 0) || n/per > 1e6 || n/per < 1e-4 {
		return 0, fmt.Errorf("invalid rate %q: write it as 500/s or 30000/m", text)
	}
	return n / per, nil
}

// byteRate is a flag for bytes a second, in decimal units.
func byteRate(value *float64) parsed[float64] {
	write := func(rate float64) string { return bytesText(int64(rate)) + "/s" }
	return parsed[float64]{value, "bytes/s", readByteRate, write, ""}
}

func readByteRate(text string) (float64, error) {
	size, unit, _ := strings.Cut(text, "/")
	size = strings.TrimSpace(size)
	unit = strings.TrimSpace(unit)
	if size == "0" {
		return 0, nil
	}
	// Decimal units, as drives have them; only what mailboxes fill is in units of 1024, as
	// Jetstress counts it.
	n, err := units.FromHumanSize(size)
	if err != nil || bare(size) || unit != "" && unit != "s" || n < 1 || n > 1e12 {
		return 0, fmt.Errorf("invalid rate %q: write it as 1MB/s", text)
	}
	return float64(n), nil
}

// byteSize is a flag for a number of bytes, in decimal units.
func byteSize(value *int64) parsed[int64] {
	return parsed[int64]{value, "bytes", readByteSize, bytesText, ""}
}

func readByteSize(text string) (int64, error) {
	n, err := units.FromHumanSize(text)
	if err != nil || bare(text) || n <= 0 {
		return 0, fmt.Errorf("%q is not a number of bytes with its unit, such as 500MB or 2GB",
			text)
	}
	return n, nil
}

const configFileFlag = "config-file"

// readConfigFile sets flags from a file of lines parameter=value, at the place of the command line
// where it stands: what comes later wins, as in DS2.
func (f *runFlags) readConfigFile(path string) (string, error) {
	text, err := outside.ReadFile(context.Background(), path, outside.MaxText)
	if err != nil {
		return "", err
	}
	for i, line := range strings.Split(string(text), "\n") {
		name, value, err := configLine(line)
		if err == nil && name != "" {
			err = f.setParameter(name, value)
		}
		if err != nil {
			return "", fmt.Errorf("%s line %d: %w", path, i+1, err)
		}
	}
	return path, nil
}

var parameterName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`)

func (f *runFlags) setParameter(name, value string) error {
	flag := f.flags.Lookup(name)
	if flag == nil || flag.Name == configFileFlag || flag.Name == "help" {
		if !parameterName.MatchString(name) { // a URL perhaps, with its password
			return errors.New("it is not parameter=value")
		}
		return fmt.Errorf("unknown parameter %q", name)
	}
	if flag.Name == "target" { // the file's replaces those before it, those after replace it
		f.more = false
		defer func() { f.more = false }()
	}
	return flagText(f.flags.Set(flag.Name, value))
}

// configLine reads one line: parameter=value, with or without the -- of the command line; empty
// lines and those that begin with # have no name.
func configLine(line string) (name, value string, err error) {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return "", "", nil
	}
	name, value, ok := strings.Cut(strings.TrimPrefix(line, "--"), "=")
	if name = strings.TrimSpace(name); !ok || name == "" {
		return "", "", errors.New("it is not parameter=value")
	}
	return name, strings.TrimSpace(value), nil
}

// choice is a flag that takes one of a few words.
type choice struct {
	parsed[string]
	of []string
}

// widestKind is how wide the words of a choice may be in the column of the help that has them.
const widestKind = 36

// oneOf makes value a choice of the given words, the first of which is the default. Where they are
// too wide for the help's column, its text has to name them.
func oneOf(value *string, of ...string) choice {
	*value = of[0]
	read := func(text string) (string, error) {
		if slices.Contains(of, text) {
			return text, nil
		}
		words := slices.DeleteFunc(slices.Clone(of), func(word string) bool { return word == "" })
		last := len(words) - 1
		return "", fmt.Errorf("invalid value %q: use %s or %s", text,
			strings.Join(words[:last], ", "), words[last])
	}
	kind := strings.TrimPrefix(strings.Join(of, "|"), "|")
	if len(kind) > widestKind {
		kind = "word"
	}
	return choice{parsed[string]{value, kind, read, same, ""}, of}
}

func same(text string) string { return text }

// mapped is what f makes of each.
func mapped[T, U any](all []T, f func(T) U) (made []U) {
	for _, one := range all {
		made = append(made, f(one))
	}
	return made
}
