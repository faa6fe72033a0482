package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"ds2/internal/measure"
	"ds2/internal/result"
)

// experimentFile is what the file of an experiment says. Its keys are the names of flags, apart from those of fileKeys.
type experimentFile struct {
	path           string
	order          string
	least, most    int
	until          float64 // percent; 0: all runs are made
	seed           uint64  // 0: none is given
	configurations []*fileConfiguration
}

// fileConfiguration is a configuration of the file with a value of each factor: the bench that its flags make.
type fileConfiguration struct {
	result.ExperimentConfiguration
	at    *yaml.Node
	given map[string]fileSetting // by the flag's name
	bench benchFlags
	flags *pflag.FlagSet
}

// fileSetting is what the file gives for a flag.
type fileSetting struct {
	key    *yaml.Node
	values []*yaml.Node // several only where the flag may be repeated
}

// The keys that are no flags.
const (
	keyConfigurations = "configurations"
	keyFactors        = "factors"
	keyRuns           = "runs"
	keyOrder          = "order"
	keyUntil          = "until"
	keyLabels         = "labels" // of a configuration
)

// notInFile are flags of a bench that its experiment gives, and what cannot be in a file.
var notInFile = []string{"out", "run-id", "start-at", configFileFlag, "help"}

// maxConfigurations bounds an experiment, and with it what a file can ask for.
const maxConfigurations = 100

// wrong is an error at a place of the file.
func (f *experimentFile) wrong(at *yaml.Node, format string, args ...any) error {
	return usageError("%s:%d:%d: %w", f.path, at.Line, at.Column, fmt.Errorf(format, args...))
}

// readExperimentFile reads the file of an experiment, and judges all that can be judged without its databases.
func readExperimentFile(path string) (*experimentFile, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	return parseExperiment(path, text)
}

func parseExperiment(path string, text []byte) (*experimentFile, error) {
	f := &experimentFile{path: path}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document, more yaml.Node
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return nil, usageError("%s: it is empty", path)
	} else if err != nil {
		return nil, f.syntaxError(err)
	}
	if err := decoder.Decode(&more); err == nil {
		return nil, f.wrong(&more, "a second document begins here: an experiment is one")
	} else if !errors.Is(err, io.EOF) {
		return nil, f.syntaxError(err)
	}
	return f, f.read(document.Content[0])
}

// syntaxError words what the YAML library finds, which gives a line alone.
func (f *experimentFile) syntaxError(err error) error {
	return usageError("%s: %s", f.path, strings.TrimPrefix(err.Error(), "yaml: "))
}

// flagSet are the flags that a file may give.
func (b *benchFlags) flagSet() *pflag.FlagSet {
	flags := pflag.NewFlagSet("experiment", pflag.ContinueOnError)
	flags.SetNormalizeFunc(normalizeFlag)
	b.add(flags)
	return flags
}

// entry is a key of a mapping and its value.
type entry struct{ key, value *yaml.Node }

// entries lists a mapping; an empty value has none.
func (f *experimentFile) entries(n *yaml.Node, what string) (all []entry, err error) {
	n = resolved(n)
	if n.Tag == "!!null" {
		return nil, nil
	}
	if n.Kind != yaml.MappingNode {
		return nil, f.wrong(n, "%s must be keys with values", what)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := resolved(n.Content[i])
		switch {
		case key.Kind != yaml.ScalarNode:
			return nil, f.wrong(key, "a key must be a name")
		case seen[key.Value]:
			return nil, f.wrong(key, "the key %q is given twice", key.Value)
		}
		seen[key.Value] = true
		all = append(all, entry{key, resolved(n.Content[i+1])})
	}
	return all, nil
}

// resolved is what an alias stands for.
func resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func (f *experimentFile) read(root *yaml.Node) error {
	all, err := f.entries(root, "an experiment")
	if err != nil {
		return err
	}
	shared := map[string]fileSetting{}
	var configurations, factors []entry
	var until *yaml.Node
	runs := entry{key: root}
	for _, e := range all {
		switch e.key.Value {
		case keyConfigurations:
			configurations, err = f.entries(e.value, "the configurations")
		case keyFactors:
			factors, err = f.entries(e.value, "the factors")
		case keyRuns:
			runs = e
			err = f.readRuns(e.value)
		case keyOrder:
			if f.order = e.value.Value; f.order != result.OrderRandom && f.order != result.OrderSequence {
				err = f.wrong(e.value, "order: %q is neither %s nor %s", f.order, result.OrderRandom, result.OrderSequence)
			}
		case keyUntil:
			until = e.value
			err = f.readUntil(e.value)
		default:
			err = f.readSetting(shared, e)
		}
		if err != nil {
			return err
		}
	}
	if f.order == "" {
		f.order = result.OrderRandom
	}
	if f.most == 0 {
		f.least, f.most = measure.MinBlocks, measure.MinBlocks
		if until != nil {
			f.most = 2*measure.MinBlocks - 1
		}
	}
	switch {
	case until != nil && f.order == result.OrderSequence:
		return f.wrong(until, "until: in sequence all runs of one configuration come before those of the next, so no difference can end it")
	case until == nil && f.least < f.most:
		return f.wrong(runs.value, "runs: %d..%d takes until, such as until: 2 %%, to say how many are enough", f.least, f.most)
	}
	if err := f.multiply(shared, configurations, factors, root); err != nil {
		return err
	}
	return f.apply()
}

var runsRange = regexp.MustCompile(`^\s*(\d{1,4})(?:\s*\.\.\s*(\d{1,4}))?\s*$`)

// readRuns reads 5 or 3..9.
func (f *experimentFile) readRuns(n *yaml.Node) error {
	m := runsRange.FindStringSubmatch(n.Value)
	if m == nil {
		return f.wrong(n, "runs: %q is neither a number such as 5 nor a range such as 3..9", n.Value)
	}
	f.least, _ = strconv.Atoi(m[1])
	f.most = f.least
	if m[2] != "" {
		f.most, _ = strconv.Atoi(m[2])
	}
	if f.least < 1 || f.most > 1000 || f.least > f.most {
		return f.wrong(n, "runs: %q must be 1 to 1000, the lower number first", n.Value)
	}
	return nil
}

// readUntil reads 2 %.
func (f *experimentFile) readUntil(n *yaml.Node) error {
	number := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(n.Value), "%"))
	var err error
	if f.until, err = strconv.ParseFloat(number, 64); err != nil || !(f.until > 0 && f.until < 100) {
		return f.wrong(n, "until: %q is no percentage such as 2 %%", n.Value)
	}
	return nil
}

// readSetting reads a flag and its value, or its values where it may be repeated.
func (f *experimentFile) readSetting(into map[string]fileSetting, e entry) error {
	flag, err := f.flag(e.key)
	if err != nil {
		return err
	}
	values := []*yaml.Node{e.value}
	if e.value.Kind == yaml.SequenceNode {
		if _, repeated := flag.Value.(pflag.SliceValue); !repeated {
			return f.wrong(e.value, "%s has one value; values to compare stand under %s", e.key.Value, keyFactors)
		}
		values = e.value.Content
	}
	if _, twice := into[flag.Name]; twice {
		return f.wrong(e.key, "%s is given twice, once by another name", flag.Name)
	}
	setting := fileSetting{key: e.key}
	for _, v := range values {
		if v, err = f.scalar(e.key, v); err != nil {
			return err
		}
		setting.values = append(setting.values, v)
	}
	into[flag.Name] = setting
	return nil
}

// flag is the flag that a key names.
func (f *experimentFile) flag(key *yaml.Node) (*pflag.Flag, error) {
	flag := new(benchFlags).flagSet().Lookup(key.Value)
	if flag == nil || slices.Contains(notInFile, flag.Name) {
		return nil, f.wrong(key, "unknown key %q: keys are the flags of ds2 bench, and %s", key.Value,
			strings.Join([]string{keyConfigurations, keyFactors, keyRuns, keyOrder, keyUntil}, ", "))
	}
	return flag, nil
}

func (f *experimentFile) scalar(key, n *yaml.Node) (*yaml.Node, error) {
	n = resolved(n)
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return nil, f.wrong(n, "%s has no value", key.Value)
	}
	return n, nil
}

// multiply makes a configuration of each in the file, or of the file itself where it has none, and each combination of the
// factors' values.
func (f *experimentFile) multiply(shared map[string]fileSetting, configurations, factors []entry, root *yaml.Node) error {
	var all []*fileConfiguration
	for _, e := range configurations {
		c, err := f.configuration(shared, e)
		if err != nil {
			return err
		}
		all = append(all, c)
	}
	if configurations == nil {
		all = []*fileConfiguration{{at: root, given: shared}}
	}
	for _, factor := range factors {
		flag, err := f.flag(factor.key)
		if err != nil {
			return err
		}
		if factor.value.Kind != yaml.SequenceNode || len(factor.value.Content) == 0 {
			return f.wrong(factor.value, "%s: a factor has a list of values, such as [8, 32, 128]", flag.Name)
		}
		if len(all)*len(factor.value.Content) > maxConfigurations {
			return f.wrong(factor.key, "%d configurations are too many: at most %d", len(all)*len(factor.value.Content), maxConfigurations)
		}
		var product []*fileConfiguration
		for _, c := range all {
			if other, given := c.given[flag.Name]; given {
				return f.wrong(other.key, "%s is a factor already, so it cannot be given here", flag.Name)
			}
			for _, value := range factor.value.Content {
				value, err := f.scalar(factor.key, value)
				if err != nil {
					return err
				}
				product = append(product, c.with(flag.Name, factor.key, value))
			}
		}
		all = product
	}
	taken := map[string]bool{result.SummaryFile: true, reportFile: true, "": true}
	for _, c := range all {
		if c.Name == "" {
			c.Name = "configuration"
		}
		if slices.ContainsFunc(f.configurations, func(o *fileConfiguration) bool { return o.Name == c.Name }) {
			return f.wrong(c.at, "there are two configurations %q", c.Name)
		}
		name := dirName(c.Name)
		for i := 2; taken[name]; i++ {
			name = fmt.Sprintf("%s-%d", dirName(c.Name), i)
		}
		c.Dir, taken[name] = name, true
		f.configurations = append(f.configurations, c)
	}
	return nil
}

// configuration reads one of the configurations: its labels, and flags that go before those of all.
func (f *experimentFile) configuration(shared map[string]fileSetting, e entry) (*fileConfiguration, error) {
	all, err := f.entries(e.value, "a configuration")
	if err != nil {
		return nil, err
	}
	c := &fileConfiguration{at: e.key, given: map[string]fileSetting{}}
	if c.Name = e.key.Value; strings.TrimSpace(c.Name) == "" || len(c.Name) > 100 {
		return nil, f.wrong(e.key, "a configuration has a name of 1 to 100 bytes")
	}
	for _, e := range all {
		if e.key.Value == keyLabels {
			if c.Labels, err = f.readLabels(e.value); err != nil {
				return nil, err
			}
			continue
		}
		if err := f.readSetting(c.given, e); err != nil {
			return nil, err
		}
		if flag, _ := f.flag(e.key); flag.Name != "target" { // the bench's record has its database
			c.note(flag.Name, c.given[flag.Name])
		}
	}
	for name, s := range shared {
		if _, own := c.given[name]; !own {
			c.given[name] = s
		}
	}
	return c, nil
}

func (f *experimentFile) readLabels(n *yaml.Node) (map[string]string, error) {
	all, err := f.entries(n, keyLabels)
	if err != nil {
		return nil, err
	}
	labels := map[string]string{}
	for _, e := range all {
		value, err := f.scalar(e.key, e.value)
		if err != nil {
			return nil, err
		}
		labels[e.key.Value] = value.Value
	}
	return labels, nil
}

// note takes a setting into the record, as it is written, without passwords.
func (c *fileConfiguration) note(flag string, s fileSetting) {
	if flag == "password-command" {
		return
	}
	var values []string
	for _, v := range s.values {
		values = append(values, withoutPasswords(v.Value))
	}
	c.Settings = append(c.Settings, result.Setting{Flag: flag, Value: strings.Join(values, ", ")})
}

// with is the configuration with a value of a factor.
func (c *fileConfiguration) with(flag string, key, value *yaml.Node) *fileConfiguration {
	one := &fileConfiguration{ExperimentConfiguration: c.ExperimentConfiguration, at: c.at, given: map[string]fileSetting{}}
	for name, s := range c.given {
		one.given[name] = s
	}
	one.given[flag] = fileSetting{key, []*yaml.Node{value}}
	one.Settings = slices.Clone(c.Settings)
	one.note(flag, one.given[flag])
	if one.Name != "" {
		one.Name += ", "
	}
	one.Name += flag + " " + withoutPasswords(value.Value)
	return one
}

var noDirName = regexp.MustCompile(`[^A-Za-z0-9._]+`)

// dirName is a name as that of a directory.
func dirName(name string) string {
	return strings.Trim(noDirName.ReplaceAllString(name, "-"), "-.")
}

// apply sets the flags of every configuration, and judges them.
func (f *experimentFile) apply() error {
	for _, c := range f.configurations {
		c.flags = c.bench.flagSet()
		var err error
		c.flags.VisitAll(func(flag *pflag.Flag) {
			for _, v := range c.given[flag.Name].values {
				if err != nil {
					return
				}
				text, bad := expand(flag.Name, v.Value)
				if bad == nil {
					bad = flagText(c.flags.Set(flag.Name, text))
				}
				if bad != nil {
					err = f.wrong(v, "%w", bad)
				}
			}
		})
		if err != nil {
			return err
		}
		switch seed := c.bench.config.Seed; {
		case seed == 0:
		case f.seed == 0:
			f.seed = seed
		case f.seed != seed:
			return f.wrong(c.given["seed"].key, "seed: an experiment has one, for its order and for the runs of all configurations")
		}
		c.bench.setup.Runs = f.most
		if err := c.bench.check(); err != nil {
			return f.of(c, err)
		}
		if _, err := c.bench.judge(time.Now()); err != nil {
			return f.of(c, err)
		}
		if _, err := c.bench.specs(c.bench.length()); err != nil {
			return f.of(c, err)
		}
	}
	return nil
}

var flagInError = regexp.MustCompile(`^--([a-z0-9-]+)`)

// of says which configuration an error is of, and of wrong usage where in the file: at the flag that it begins with, else
// where the configuration begins.
func (f *experimentFile) of(c *fileConfiguration, err error) error {
	e, ok := errors.AsType[*exitError](err)
	if !ok || e.code != exitUsage {
		return fmt.Errorf("configuration %s: %w", c.Name, err)
	}
	at := c.at
	if m := flagInError.FindStringSubmatch(err.Error()); m != nil {
		if s, given := c.given[m[1]]; given {
			at = s.values[0]
		}
	}
	return f.wrong(at, "configuration %s: %w", c.Name, err)
}

// reference is ${VARIABLE} or ${file:PATH}.
var reference = regexp.MustCompile(`\$\{(file:)?([^}]*)\}`)

// expand puts the values of variables and the contents of files in a value; within a URL they are escaped, since a password
// may hold any character. The shell's commands are left as they are: the shell knows the variables too.
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
