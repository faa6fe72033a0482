package main

import (
	"bytes"
	"errors"
	"io"
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

// experimentFile is what the file of an experiment says. Its keys are the names of flags, apart from those of fileKeys.
type experimentFile struct {
	path           string
	order          string
	least, most    int
	until          float64 // percent; 0: all runs are made
	seed           uint64  // 0: none is given
	configurations []*fileConfiguration
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

// flagSet are the flags that a file may give.
func (b *benchFlags) flagSet() *pflag.FlagSet {
	flags := pflag.NewFlagSet("experiment", pflag.ContinueOnError)
	flags.SetNormalizeFunc(normalizeFlag)
	b.add(flags)
	return flags
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
		f.least, f.most = measure.DefaultBlocks, measure.DefaultBlocks
		if until != nil {
			f.most = measure.DefaultBlocks + 4
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
