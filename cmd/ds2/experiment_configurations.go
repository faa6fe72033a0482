package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"ds2/internal/result"
)

// fileConfiguration is a configuration of the file with a value of each factor: the bench that its flags make.
type fileConfiguration struct {
	result.ExperimentConfiguration
	line  int
	given givens
	bench benchFlags
	flags *pflag.FlagSet
}

// maxConfigurations bounds an experiment, and with it what a file can ask for.
const maxConfigurations = 100

// multiply makes a configuration of each in the file, or of the file itself where it has none, and each combination of
// the factors' values.
func (f *experimentFile) multiply(shared givens, configurations, factors map[string]yaml.Node) error {
	var all []*fileConfiguration
	for _, name := range inOrder(configurations) {
		c, err := f.configuration(shared, name, configurations[name])
		if err != nil {
			return err
		}
		all = append(all, c)
	}
	if len(configurations) == 0 {
		all = []*fileConfiguration{{line: 1, given: shared}}
	}
	for _, key := range inOrder(factors) {
		node := factors[key]
		flag, err := f.flag(key, node.Line)
		if err != nil {
			return err
		}
		values, err := f.values(key, node)
		if err != nil || node.Kind == yaml.ScalarNode {
			return f.wrong(node.Line, "%s: a factor has a list of values, such as [8, 32, 128]", flag.Name)
		}
		if len(all)*len(values) > maxConfigurations {
			return f.wrong(node.Line, "%d configurations are too many: at most %d",
				len(all)*len(values), maxConfigurations)
		}
		var product []*fileConfiguration
		for _, c := range all {
			if other, is := c.given[flag.Name]; is {
				return f.wrong(other.line, "%s is a factor already, so it cannot be given here", flag.Name)
			}
			for _, value := range values {
				product = append(product, c.with(flag.Name, given{node.Line, []string{value}}))
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
			return f.wrong(c.line, "there are two configurations %q", c.Name)
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
func (f *experimentFile) configuration(shared givens, name string, node yaml.Node) (*fileConfiguration, error) {
	if strings.TrimSpace(name) == "" || len(name) > 100 {
		return nil, f.wrong(node.Line, "a configuration has a name of 1 to 100 bytes")
	}
	var text configurationText
	if err := node.Decode(&text); err != nil {
		return nil, f.decoding(err)
	}
	own, err := f.flags(text.Flags)
	if err != nil {
		return nil, err
	}
	c := &fileConfiguration{line: node.Line, given: maps.Clone(shared)}
	c.Name, c.Labels = name, text.Labels
	for _, flag := range own.inOrder() {
		c.given[flag] = own[flag]
		if flag != "target" && flag != "disclosure" { // which the bench's record has
			c.note(flag, own[flag])
		}
	}
	return c, nil
}

// note takes a flag into the record, as it is written, without passwords.
func (c *fileConfiguration) note(flag string, g given) {
	if flag == passwordCommand {
		return
	}
	var values []string
	for _, v := range g.values {
		values = append(values, withoutPasswords(v))
	}
	c.Settings = append(c.Settings, result.Setting{Flag: flag, Value: strings.Join(values, ", ")})
}

// with is the configuration with a value of a factor.
func (c *fileConfiguration) with(flag string, g given) *fileConfiguration {
	one := &fileConfiguration{line: c.line, given: maps.Clone(c.given)}
	one.given[flag] = g
	one.ExperimentConfiguration = c.ExperimentConfiguration
	one.Settings = slices.Clone(c.Settings)
	one.note(flag, g)
	if one.Name != "" {
		one.Name += ", "
	}
	one.Name += flag + " " + withoutPasswords(g.values[0])
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
		c.flags = newFlagSet(c.bench.add)
		preset(c.flags, "practice", "1")
		for _, name := range c.given.inOrder() {
			if err := f.set(c.flags, name, c.given[name]); err != nil {
				return err
			}
		}
		if err := cmp.Or(readEnvironment(c.flags), fillProfile(c.flags)); err != nil {
			return f.of(c, err)
		}
		switch seed := c.bench.Seed; {
		case seed == 0:
		case f.seed == 0:
			f.seed = seed
		case f.seed != seed:
			return f.wrong(c.given["seed"].line,
				"seed: an experiment has one, for its order and for the runs of all configurations")
		}
		c.bench.Runs = f.runs.most
		if err := c.bench.check(); err != nil {
			return f.of(c, err)
		}
		if _, err := c.bench.judge(time.Now()); err != nil {
			return f.of(c, err)
		}
	}
	return nil
}

var flagInError = regexp.MustCompile(`^--([a-z0-9-]+)`)

// of says which configuration an error is of, and of wrong usage where in the file: at the flag that it begins with,
// else where the configuration begins.
func (f *experimentFile) of(c *fileConfiguration, err error) error {
	e, ok := errors.AsType[*exitError](err)
	if !ok || e.code != exitUsage {
		return fmt.Errorf("configuration %s: %w", c.Name, err)
	}
	line := c.line
	if m := flagInError.FindStringSubmatch(err.Error()); m != nil {
		if g, ok := c.given[m[1]]; ok {
			line = g.line
		}
	}
	return f.wrong(line, "configuration %s: %w", c.Name, err)
}
