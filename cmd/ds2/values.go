package main

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docker/go-units"
	"github.com/spf13/pflag"
)

// aliases are DS2's names of flags that this command line calls otherwise.
var aliases = map[string]string{
	"n-threads":   "threads",
	"db-size":     "size",
	"db-size-str": "size",
}

// otherNames are DS2's names of a flag.
func otherNames(flag string) []string {
	var names []string
	for alias, name := range aliases {
		if name == flag {
			names = append(names, alias)
		}
	}
	slices.Sort(names)
	return names
}

// flagText words the error of a flag whose value cannot be read: --threads: not a whole number: "x". Others stay.
func flagText(err error) error {
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	cause := invalid.Unwrap()
	if number, ok := errors.AsType[*strconv.NumError](cause); ok {
		what := map[string]string{"ParseUint": "not a whole number of 0 or more", "ParseFloat": "not a number", "ParseBool": "neither true nor false"}[number.Func]
		if what == "" {
			what = "not a whole number"
		}
		if errors.Is(number, strconv.ErrRange) {
			what = "too large a number"
		}
		cause = fmt.Errorf("%s: %q", what, invalid.GetValue())
	}
	if text := invalid.GetValue(); invalid.GetFlag().Name == "output" && strings.ContainsAny(text, "./\\") {
		cause = fmt.Errorf("%w; it is the format, and --out=%s the file", cause, text)
	}
	return fmt.Errorf("--%s: %w", invalid.GetFlag().Name, cause)
}

// maxDuration bounds every time that a flag gives, so that sums and multiples of several fit into a time.Duration.
const maxDuration = 365 * 24 * time.Hour

// durationValue is a time with a unit, such as 20m. A parameter of DS2 may be a bare number of DS2's unit; any other
// time has to say it.
type durationValue struct {
	d    *time.Duration
	unit time.Duration // of DS2; 0: the parameter is not DS2's
}

func (v durationValue) String() string {
	if v.d == nil || *v.d == 0 {
		return "0"
	}
	return v.d.String()
}

func (v durationValue) Type() string {
	switch v.unit {
	case time.Minute:
		return "minutes"
	case time.Second:
		return "seconds"
	}
	return "duration"
}

// bare says which number without a unit may be given.
func (v durationValue) bare() string {
	if v.unit == 0 {
		return ""
	}
	return "a number of " + v.Type() + ", or "
}

func (v durationValue) Set(text string) error {
	var d time.Duration
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		if v.unit == 0 && n != 0 {
			return fmt.Errorf("%q has no unit: write %ss for seconds, or %sm for minutes", text, text, text)
		}
		d = time.Duration(math.Min(n*float64(v.unit), math.MaxInt64/2))
		if math.IsNaN(n) {
			d = -1
		}
	} else if d, err = time.ParseDuration(text); err != nil {
		return fmt.Errorf("invalid duration %q: use %sa duration such as 90s or 20m", text, v.bare())
	}
	if d < 0 || d > maxDuration {
		return fmt.Errorf("invalid duration %q: it must be 0 to %s", text, maxDuration)
	}
	*v.d = d
	return nil
}

// yesValue is DS2's Y or N, or true or false.
type yesValue bool

func (v *yesValue) String() string {
	if *v {
		return "Y"
	}
	return "N"
}

func (v *yesValue) Type() string { return "Y|N" }

func (v *yesValue) Set(text string) error {
	switch strings.ToLower(text) {
	case "y", "yes", "true", "1":
		*v = true
	case "n", "no", "false", "0":
		*v = false
	default:
		return fmt.Errorf("invalid value %q: use Y or N", text)
	}
	return nil
}

// parsed is a flag of a value that a function reads; write gives it as help and records have it.
type parsed[T comparable] struct {
	value *T
	kind  string // in the help
	read  func(text string) (T, error)
	write func(T) string
}

func (v parsed[T]) Type() string { return v.kind }

// String is empty where nothing is set; pflag asks a parsed without a value, too.
func (v parsed[T]) String() string {
	var none T
	if v.value == nil || *v.value == none {
		return ""
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
	return parsed[float64]{value, "orders/s", readOrderRate, func(rate float64) string {
		return strconv.FormatFloat(rate, 'g', -1, 64) + "/s"
	}}
}

func readOrderRate(text string) (float64, error) {
	number, unit, _ := strings.Cut(text, "/")
	per := map[string]float64{"s": 1, "m": 60, "min": 60}[strings.TrimSpace(unit)]
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || per == 0 || !(n > 0) || n/per > 1e6 || n/per < 1e-4 {
		return 0, fmt.Errorf("invalid rate %q: write it as 500/s or 30000/m", text)
	}
	return n / per, nil
}

// byteRate is a flag for bytes a second, in decimal units.
func byteRate(value *float64) parsed[float64] {
	return parsed[float64]{value, "bytes/s", readByteRate, func(rate float64) string { return bytesText(int64(rate)) + "/s" }}
}

func readByteRate(text string) (float64, error) {
	size, unit, _ := strings.Cut(text, "/")
	size, unit = strings.TrimSpace(size), strings.TrimSpace(unit)
	if size == "0" {
		return 0, nil
	}
	n, err := units.FromHumanSize(size)
	if err != nil || bare(size) || unit != "" && unit != "s" || n < 1 || n > 1e12 {
		return 0, fmt.Errorf("invalid rate %q: write it as 1MB/s", text)
	}
	return float64(n), nil
}

// byteSize is a flag for a number of bytes, in decimal units.
func byteSize(value *int64) parsed[int64] {
	return parsed[int64]{value, "bytes", readByteSize, bytesText}
}

func readByteSize(text string) (int64, error) {
	n, err := units.FromHumanSize(text)
	if err != nil || bare(text) || n <= 0 {
		return 0, fmt.Errorf("%q is not a number of bytes with its unit, such as 500MB or 2GB", text)
	}
	return n, nil
}

const configFileFlag = "config-file"

// byteOrderMark is what editors of Windows put before the first line of a file.
const byteOrderMark = "\ufeff"

// configFileValue sets flags from a file of lines parameter=value, at the place of the command line where it stands:
// what comes later wins, as in DS2.
type configFileValue struct {
	flags *pflag.FlagSet
	path  string
}

func (v *configFileValue) String() string { return v.path }
func (v *configFileValue) Type() string   { return "file" }

func (v *configFileValue) Set(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	v.path = path
	lines := bufio.NewScanner(file)
	for number := 1; lines.Scan(); number++ {
		name, value, err := configLine(strings.TrimPrefix(lines.Text(), byteOrderMark))
		if err == nil && name != "" {
			err = v.set(name, value)
		}
		if err != nil {
			return fmt.Errorf("%s line %d: %w", path, number, err)
		}
	}
	return lines.Err()
}

var parameterName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`)

func (v *configFileValue) set(name, value string) error {
	flag := v.flags.Lookup(name)
	if flag == nil || flag.Name == configFileFlag || flag.Name == "help" {
		if !parameterName.MatchString(name) { // a URL perhaps, with its password
			return errors.New("it is not parameter=value")
		}
		return fmt.Errorf("unknown parameter %q", name)
	}
	if targets, ok := flag.Value.(*targetsValue); ok { // the file's replaces those before it, and is replaced by those after it
		targets.more = false
		defer func() { targets.more = false }()
	}
	return flagText(v.flags.Set(flag.Name, value))
}

// configLine reads one line: parameter=value, with or without the -- of the command line; empty lines and those that
// begin with # have no name.
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

// choice is the value of a flag that takes one of a few words.
type choice struct {
	value *string
	of    []string
}

// oneOf makes value a choice of the given words, the first of which is the default.
func oneOf(value *string, of ...string) choice {
	*value = of[0]
	return choice{value, of}
}

func (c choice) String() string {
	if c.value == nil { // pflag asks a zero value for its default
		return ""
	}
	return *c.value
}

func (c choice) Type() string { return strings.TrimPrefix(strings.Join(c.of, "|"), "|") }

func (c choice) Set(text string) error {
	if !slices.Contains(c.of, text) {
		words := slices.DeleteFunc(slices.Clone(c.of), func(word string) bool { return word == "" })
		last := len(words) - 1
		return fmt.Errorf("invalid value %q: use %s or %s", text, strings.Join(words[:last], ", "), words[last])
	}
	*c.value = text
	return nil
}
