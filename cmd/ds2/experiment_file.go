package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"ds2/internal/experiment"
	"ds2/internal/kubernetes"
	"ds2/internal/limit"
	"ds2/internal/measure"
	"ds2/internal/outside"
	"ds2/internal/result"
	"ds2/internal/runs"
)

// experimentFile is what the file of an experiment says.
type experimentFile struct {
	*experiment.File
	experimentSetup
	seed           uint64 // 0: none is given
	configurations []*variant
	cluster        *kubernetes.Provisioner // nil: no configuration needs one
}

// experimentSetup are the flags of an experiment that no bench has.
type experimentSetup struct {
	runs  limit.Range
	until float64 // percent; 0: none
	order string
	// subject is what is meant to differ between configurations, besides factors.
	subject listed
}

func (s *experimentSetup) add(flags *pflag.FlagSet) {
	declare(flags, "setup", fields{
		"runs":    parsed[limit.Range]{&s.runs, "runs", limit.ParseRange, limit.Range.String, ""},
		"until":   parsed[float64]{&s.until, "percent", readPercentage, percentage, ""},
		"order":   &s.order,
		"subject": &s.subject,
	})
}

// check fills in how many runs there are and refuses what makes no experiment.
func (s *experimentSetup) check() error {
	// Six by default: where runs vary by 2 %, they find a difference of 4.4 %
	// (docs/explanation/method.md). With until, four blocks more may be made.
	if s.runs.Most == 0 {
		s.runs = limit.Range{Least: measure.DefaultBlocks, Most: measure.DefaultBlocks}
		if s.until > 0 {
			s.runs.Most += 4
		}
	}
	switch {
	case s.until > 0 && s.order == result.OrderSequence:
		return usageError("--until: in sequence all runs of one configuration come before those of the next, so no difference can end it")
	case s.until == 0 && s.runs.Least < s.runs.Most:
		return usageError("--runs: %s needs until, such as until: 2 %%, to say how many are enough",
			s.runs)
	}
	return nil
}

// readPercentage reads a number above 0 and below 100, with or without its sign.
func readPercentage(text string) (float64, error) {
	number := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "%"))
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v > 0 && v < 100) {
		return 0, fmt.Errorf("%q is not a percentage such as 2 %%", text)
	}
	return v, nil
}

func percentage(v float64) string { return fmt.Sprintf("%g %%", v) }

// readExperimentFile reads the file of an experiment, and judges all that can be judged without its
// databases.
func readExperimentFile(ctx context.Context, path string) (*experimentFile, error) {
	text, err := outside.ReadFile(ctx, path, outside.MaxText)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, usageError(
			"there is no file %s: name that of an experiment; ds2 init prints an example",
			path,
		)
	case err != nil:
		return nil, usageError("read the file of the experiment: %w", err)
	}
	return parseExperiment(ctx, path, text)
}

func parseExperiment(ctx context.Context, path string, text []byte) (*experimentFile, error) {
	file, err := experiment.FileReader{Key: fileKey, Shown: shownSetting}.Parse(path, text)
	if err != nil {
		return nil, usageError("%w", err)
	}
	f := &experimentFile{File: file}
	own := newFlagSet(f.experimentSetup.add)
	for _, name := range f.Own.InOrder() {
		if err := f.set(ctx, own, name, f.Own[name]); err != nil {
			return nil, err
		}
	}
	// Keys of the file have no dashes.
	if err := f.check(); err != nil {
		return nil, usageError("%s: %s", path, strings.TrimPrefix(err.Error(), "--"))
	}
	return f, f.apply(ctx)
}

// newFlagSet declares flags that no command line has.
func newFlagSet(add func(*pflag.FlagSet)) *pflag.FlagSet {
	flags := pflag.NewFlagSet("experiment", pflag.ContinueOnError)
	flags.SetNormalizeFunc(normalizeFlag)
	add(flags)
	return flags
}

func (f *experimentFile) wrong(line int, format string, args ...any) error {
	return usageError("%w", f.Wrong(line, format, args...))
}

// notInFile are flags of a bench that its experiment gives, and what cannot be in a file.
var notInFile = []string{
	"out",
	"run-id",
	"start-at",
	configFileFlag,
	fileFlag,
	configurationFlag,
	"help",
}

// fileKey is the flag that a key of the file names.
func fileKey(name string) (experiment.Key, error) {
	own := newFlagSet(new(experimentSetup).add)
	known := newFlagSet(new(variant).add)
	known.AddFlagSet(own)
	flag := known.Lookup(name)
	if near := nearest(known, name); flag == nil && near != "" {
		return experiment.Key{}, fmt.Errorf("unknown key %q; did you mean %s?", name, near)
	}
	if flag == nil || slices.Contains(notInFile, flag.Name) {
		return experiment.Key{}, fmt.Errorf("unknown key %q: keys are the flags of ds2 bench, and configurations, factors, subject, runs, order, until", name)
	}
	key := experiment.Key{
		Flag:  flag.Name,
		Own:   own.Lookup(name) != nil,
		Pairs: flag.Name == "disclosure",
	}
	// Targets and disclosure are in every run's record, the target without its password.
	key.Recorded = key.Pairs || flag.Name == "target"
	_, key.Repeated = flag.Value.(pflag.SliceValue)
	return key, nil
}

// shownSetting is a value without passwords; empty: it is not shown.
func shownSetting(flag, value string) string {
	if flag == passwordCommand {
		return ""
	}
	return withoutPasswords(value)
}

func (f *experimentFile) set(
	ctx context.Context,
	flags *pflag.FlagSet,
	name string,
	g experiment.Given,
) error {
	for _, value := range g.Values {
		text, err := expand(ctx, name, value)
		if err == nil {
			err = flagText(flags.Set(name, text))
		}
		if err != nil {
			return f.wrong(g.Line, "%w", err)
		}
	}
	return nil
}

// reference is ${VARIABLE} or ${file:PATH}.
var reference = regexp.MustCompile(`\$\{(file:)?([^}]*)\}`)

// expand puts the values of variables and the contents of files in a value; within a URL they are
// escaped, since a password may hold any character. The shell's commands are left as they are: the
// shell knows the variables too.
func expand(ctx context.Context, flag, text string) (string, error) {
	if strings.HasSuffix(flag, "-command") {
		return text, nil
	}
	var bad error
	inURL := strings.Contains(text, "://")
	text = reference.ReplaceAllStringFunc(text, func(found string) string {
		m := reference.FindStringSubmatch(found)
		value, ok := os.LookupEnv(m[2])
		if m[1] != "" {
			content, err := outside.ReadFile(ctx, m[2], outside.MaxText)
			if err != nil && bad == nil {
				bad = fmt.Errorf("%s: %w", flag, err)
			}
			value = strings.TrimRight(string(content), "\r\n")
			ok = true
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

// parametersOf are the names of a flag in a record.
func parametersOf(flag string) []string {
	if others := recorded[flag]; others != "" {
		return append(strings.Split(others, ", "), flag)
	}
	return []string{flag}
}

// declared is what is meant to differ between the configurations: the file's subject, and its
// factors.
func (f *experimentFile) declared() (subject []string) {
	flags := slices.Clone(f.subject)
	for _, c := range f.configurations {
		for _, factor := range c.Factors {
			flags = append(flags, factor.Flag)
		}
	}
	for _, flag := range flags {
		for _, name := range parametersOf(flag) {
			if !slices.Contains(subject, name) {
				subject = append(subject, name)
			}
		}
	}
	return subject
}

// variant is a configuration of the file, and the bench that its flags make.
type variant struct {
	*experiment.Variant
	bench  benchFlags
	volume volumeFlags

	options runs.Options // of its runs, once its databases are open
	unready error        // why they could not be opened, and it makes no more runs
}

// apply sets the flags of every configuration, and judges them.
func (f *experimentFile) apply(ctx context.Context) error {
	for _, given := range f.Configurations {
		c := &variant{Variant: given}
		f.configurations = append(f.configurations, c)
		flags := newFlagSet(c.add)
		// The first run of a configuration is often slow, with cold caches and files that grow, and
		// would be held against whichever came first.
		preset(flags, "practice=1")
		for _, name := range c.Given.InOrder() {
			if err := f.set(ctx, flags, name, c.Given[name]); err != nil {
				return err
			}
		}
		// Variables of flags and a profile fill in what the file leaves open.
		if err := resolveRest(flags); err != nil {
			return f.of(c, err)
		}
		switch seed := c.bench.Seed; {
		case seed == 0:
		case f.seed == 0:
			f.seed = seed
		case f.seed != seed:
			return f.wrong(c.Given["seed"].Line,
				"seed: an experiment has one, for its order and for the runs of all configurations")
		}
		// The most that there may be: whether fewer are enough, the experiment decides over all
		// configurations.
		c.bench.Runs = f.runs.Most
		if err := cmp.Or(c.checkVolume(), c.bench.check(), c.bench.judgeRun()); err != nil {
			return f.of(c, err)
		}
	}
	return nil
}

var flagInError = regexp.MustCompile(`^--([a-z0-9-]+)`)

// of says which configuration an error is of, and of wrong usage where in the file: at the flag
// that it begins with, else where the configuration begins.
func (f *experimentFile) of(c *variant, err error) error {
	if !isUsage(err) {
		return fmt.Errorf("configuration %s: %w", c.Name, err)
	}
	line := c.Line
	if m := flagInError.FindStringSubmatch(err.Error()); m != nil {
		if g, ok := c.Given[m[1]]; ok {
			line = g.Line
		}
	}
	return f.wrong(line, "configuration %s: %w", c.Name, err)
}
