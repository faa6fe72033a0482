package main

import (
	"ds2/internal/result"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

// fileConfiguration is a configuration of the file with a value of each factor: the bench that its flags make.
type fileConfiguration struct {
	result.ExperimentConfiguration
	at    *yaml.Node
	given map[string]fileSetting // by the flag's name
	bench benchFlags
	flags *pflag.FlagSet
}

// maxConfigurations bounds an experiment, and with it what a file can ask for.
const maxConfigurations = 100

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
	if flag == passwordCommand {
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
