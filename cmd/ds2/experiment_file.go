package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"ds2/internal/measure"
	"ds2/internal/result"
)

// fileText is the file of an experiment as it is written. Its other keys are flags: those of an experiment, and those
// of ds2 bench for all configurations.
type fileText struct {
	Configurations map[string]yaml.Node `yaml:"configurations"`
	Factors        map[string]yaml.Node `yaml:"factors"`
	Flags          map[string]yaml.Node `yaml:",inline"`
}

// configurationText is one of its configurations. The other keys are flags that go before those of all.
type configurationText struct {
	Labels map[string]string    `yaml:"labels"`
	Flags  map[string]yaml.Node `yaml:",inline"`
}

// given is what a file gives for a flag.
type given struct {
	line   int
	values []string // several only where the flag may be repeated
}

// givens are what a file gives, by the flags' names.
type givens map[string]given

// inOrder are the flags as the file has them.
func (g givens) inOrder() []string {
	return slices.SortedFunc(maps.Keys(g), func(a, b string) int { return g[a].line - g[b].line })
}

// experimentFile is what the file of an experiment says.
type experimentFile struct {
	path string
	experimentSetup
	seed           uint64 // 0: none is given
	configurations []*fileConfiguration
}

// experimentSetup are the flags of an experiment that no bench has.
type experimentSetup struct {
	runs  runsRange
	until float64 // percent; 0: none
	order string
}

func (s *experimentSetup) add(flags *pflag.FlagSet) {
	flags.Var(parsed[runsRange]{&s.runs, "runs", readRuns, runsRange.String, ""}, "runs", "runs of each "+
		"configuration: number of valid runs, such as 6, or 5..9 with --until (default 6, with --until 6..10)")
	flags.Var(parsed[float64]{&s.until, "percent", readPercentage, percentage, ""}, "until", "stop once every "+
		"difference is known to ± this, at 95 %, such as '2 %'")
	flags.Var(oneOf(&s.order, result.OrderRandom, result.OrderSequence), "order", "order of the runs: random, in "+
		"blocks, or sequence, all of one configuration before the next")
}

// check fills in how many runs there are and refuses what makes no experiment.
func (s *experimentSetup) check() error {
	if s.runs.most == 0 {
		s.runs = runsRange{least: measure.DefaultBlocks, most: measure.DefaultBlocks}
		if s.until > 0 {
			s.runs.most += 4
		}
	}
	switch {
	case s.until > 0 && s.order == result.OrderSequence:
		return usageError("--until: in sequence all runs of one configuration come before those of the next, " +
			"so no difference can end it")
	case s.until == 0 && s.runs.least < s.runs.most:
		return usageError("--runs: %s needs until, such as until: 2 %%, to say how many are enough", s.runs)
	}
	return nil
}

// runsRange is a number of runs, or a range such as 5..9.
type runsRange struct {
	least, most int
	given       bool // by the user, not by default
}

var runsPattern = regexp.MustCompile(`^\s*(\d{1,4})(?:\s*\.\.\s*(\d{1,4}))?\s*$`)

func (r runsRange) String() string {
	if r.least < r.most {
		return fmt.Sprintf("%d..%d", r.least, r.most)
	}
	return strconv.Itoa(r.least)
}

func readRuns(text string) (r runsRange, err error) {
	m := runsPattern.FindStringSubmatch(text)
	if m == nil {
		return r, fmt.Errorf("%q is neither a number such as 6 nor a range such as 5..9", text)
	}
	r.given = true
	r.least, _ = strconv.Atoi(m[1])
	r.most = r.least
	if m[2] != "" {
		r.most, _ = strconv.Atoi(m[2])
	}
	if r.least < 1 || r.most > 1000 || r.least > r.most {
		return r, fmt.Errorf("%q must be 1 to 1000, the lower number first", text)
	}
	return r, nil
}

// readPercentage reads a number above 0 and below 100, with or without its sign.
func readPercentage(text string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "%")), 64)
	if err != nil || !(v > 0 && v < 100) {
		return 0, fmt.Errorf("%q is no percentage such as 2 %%", text)
	}
	return v, nil
}

func percentage(v float64) string { return fmt.Sprintf("%g %%", v) }

// readExperimentFile reads the file of an experiment, and judges all that can be judged without its databases.
func readExperimentFile(path string) (*experimentFile, error) {
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, usageError("there is no file %s: name that of an experiment; ds2 init prints an example", path)
	case err != nil:
		return nil, usageError("read the file of the experiment: %w", err)
	}
	return parseExperiment(path, text)
}

func parseExperiment(path string, text []byte) (*experimentFile, error) {
	f := &experimentFile{path: path}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var all fileText
	if err := decoder.Decode(&all); errors.Is(err, io.EOF) {
		return nil, usageError("%s: it is empty", path)
	} else if err != nil {
		return nil, f.decoding(err)
	}
	if err := decoder.Decode(new(yaml.Node)); err == nil {
		return nil, usageError("%s: it holds a second document: an experiment is one", path)
	} else if !errors.Is(err, io.EOF) {
		return nil, f.decoding(err)
	}
	shared, err := f.flags(all.Flags)
	if err != nil {
		return nil, err
	}
	own := newFlagSet(f.experimentSetup.add)
	own.VisitAll(func(flag *pflag.Flag) {
		if g, ok := shared[flag.Name]; ok && err == nil {
			delete(shared, flag.Name)
			err = f.set(own, flag.Name, g)
		}
	})
	if err != nil {
		return nil, err
	}
	if err := f.check(); err != nil {
		return nil, usageError("%s: %s", path, strings.TrimPrefix(err.Error(), "--"))
	}
	if err := f.multiply(shared, all.Configurations, all.Factors); err != nil {
		return nil, err
	}
	return f, f.apply()
}

// newFlagSet declares flags that no command line has.
func newFlagSet(add func(*pflag.FlagSet)) *pflag.FlagSet {
	flags := pflag.NewFlagSet("experiment", pflag.ContinueOnError)
	flags.SetNormalizeFunc(normalizeFlag)
	add(flags)
	return flags
}

// wrong is an error at a line of the file.
func (f *experimentFile) wrong(line int, format string, args ...any) error {
	return usageError("%s:%d: %w", f.path, line, fmt.Errorf(format, args...))
}

var (
	yamlLine  = regexp.MustCompile(`^(?:yaml: )?line (\d+): `)
	wrongKind = regexp.MustCompile(`cannot unmarshal .*`)
)

// decoding words what the YAML library finds.
func (f *experimentFile) decoding(err error) error {
	text := err.Error()
	if several, ok := errors.AsType[*yaml.TypeError](err); ok {
		text = several.Errors[0]
	}
	text = f.path + ": " + strings.TrimPrefix(yamlLine.ReplaceAllString(text, "line $1: "), "yaml: ")
	return usageError("%s", wrongKind.ReplaceAllString(text, "keys with values are expected here"))
}

// notInFile are flags of a bench that its experiment gives, and what cannot be in a file.
var notInFile = []string{"out", "run-id", "start-at", configFileFlag, fileFlag, configurationFlag, "help"}

// flags reads the flags among the keys of a mapping.
func (f *experimentFile) flags(keys map[string]yaml.Node) (givens, error) {
	all := givens{}
	for _, key := range inOrder(keys) {
		node := keys[key]
		flag, err := f.flag(key, node.Line)
		if err != nil {
			return nil, err
		}
		if _, twice := all[flag.Name]; twice {
			return nil, f.wrong(node.Line, "%s is given twice, once by another name", flag.Name)
		}
		values, err := f.values(key, node)
		if err != nil {
			return nil, err
		}
		if _, repeated := flag.Value.(pflag.SliceValue); len(values) != 1 && !repeated {
			return nil, f.wrong(node.Line, "%s has one value; values to compare stand under factors", key)
		}
		all[flag.Name] = given{node.Line, values}
	}
	return all, nil
}

// flag is the flag that a key names.
func (f *experimentFile) flag(key string, line int) (*pflag.Flag, error) {
	known := newFlagSet(new(experimentSetup).add)
	known.AddFlagSet(newFlagSet(new(benchFlags).add))
	flag := known.Lookup(key)
	if near := nearest(known, key); flag == nil && near != "" {
		return nil, f.wrong(line, "unknown key %q; did you mean %s?", key, near)
	}
	if flag == nil || slices.Contains(notInFile, flag.Name) {
		return nil, f.wrong(line, "unknown key %q: keys are the flags of ds2 bench, "+
			"and configurations, factors, runs, order, until", key)
	}
	return flag, nil
}

// values reads a value, a list of them, or what is disclosed by keys.
func (f *experimentFile) values(key string, node yaml.Node) (values []string, err error) {
	var one string
	var keys map[string]string
	if key == "disclosure" && node.Decode(&keys) == nil {
		for _, k := range slices.Sorted(maps.Keys(keys)) {
			values = append(values, k+"="+keys[k])
		}
	} else if err = node.Decode(&values); err != nil {
		err = node.Decode(&one)
		values = []string{one}
	}
	if err != nil || len(values) == 0 || len(values) == 1 && node.ShortTag() == "!!null" {
		return nil, f.wrong(node.Line, "%s has no value", key)
	}
	return values, nil
}

// set sets a flag.
func (f *experimentFile) set(flags *pflag.FlagSet, name string, g given) error {
	for _, value := range g.values {
		text, err := expand(name, value)
		if err == nil {
			err = flagText(flags.Set(name, text))
		}
		if err != nil {
			return f.wrong(g.line, "%w", err)
		}
	}
	return nil
}

// inOrder are the keys of a mapping as the file has them.
func inOrder(keys map[string]yaml.Node) []string {
	return slices.SortedFunc(maps.Keys(keys), func(a, b string) int {
		return cmp.Or(keys[a].Line-keys[b].Line, keys[a].Column-keys[b].Column)
	})
}

// reference is ${VARIABLE} or ${file:PATH}.
var reference = regexp.MustCompile(`\$\{(file:)?([^}]*)\}`)

// expand puts the values of variables and the contents of files in a value; within a URL they are escaped, since a
// password may hold any character. The shell's commands are left as they are: the shell knows the variables too.
func expand(flag, text string) (string, error) {
	if strings.HasSuffix(flag, "-command") {
		return text, nil
	}
	var bad error
	inURL := strings.Contains(text, "://")
	text = reference.ReplaceAllStringFunc(text, func(found string) string {
		m := reference.FindStringSubmatch(found)
		value, ok := os.LookupEnv(m[2])
		if m[1] != "" {
			content, err := os.ReadFile(m[2])
			if value, ok = strings.TrimRight(string(content), "\r\n"), true; err != nil && bad == nil {
				bad = fmt.Errorf("%s: %w", flag, err)
			}
		}
		if !ok && bad == nil {
			bad = fmt.Errorf("%s: the variable %s is not set", flag, m[2])
		}
		if inURL {
			value = strings.ReplaceAll(url.QueryEscape(value), "+", "%20")
		}
		return value
	})
	return text, bad
}
