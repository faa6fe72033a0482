package experiment

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"ds2/internal/result"
)

// File is the file of an experiment as it is written: what it gives for flags, which set the
// experiment and its runs.
type File struct {
	Path           string
	Own            Givens // for the experiment, not for its runs
	Configurations []*Variant
}

// Variant is a configuration of a file, with one value of each factor.
type Variant struct {
	result.Configuration
	Line  int
	Given Givens // for its runs
}

// Given is what a file gives for a flag.
type Given struct {
	Line   int
	Values []string // several only where the flag may be repeated
}

// Givens are what a file gives, by the flags' names.
type Givens map[string]Given

// InOrder are the flags as the file has them, those of one line by their names.
func (g Givens) InOrder() []string {
	return slices.SortedFunc(maps.Keys(g), func(a, b string) int {
		return cmp.Or(g[a].Line-g[b].Line, strings.Compare(a, b))
	})
}

// Key is what a key of a file stands for.
type Key struct {
	Flag     string
	Repeated bool // it may have several values
	Pairs    bool // these are of the form key=value, for which the file may have a mapping
	Own      bool // it is of the experiment, not of its runs
	Recorded bool // the records of runs have it, so that a configuration's does not repeat it
}

// FileReader reads files of experiments, whose keys are the flags of a command line.
type FileReader struct {
	Key func(name string) (Key, error)
	// without passwords, as names and records have it; empty: not at all
	Shown func(flag, value string) string
}

// Parse reads the text of a file. Its errors begin with the path, and the line if there is one.
func (r FileReader) Parse(path string, text []byte) (*File, error) {
	f := &File{Path: path, Own: Givens{}}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var all struct { // the other keys are flags
		Configurations map[string]yaml.Node `yaml:"configurations"`
		Factors        map[string]yaml.Node `yaml:"factors"`
		Flags          map[string]yaml.Node `yaml:",inline"`
	}
	if err := decoder.Decode(&all); errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: it is empty", path)
	} else if err != nil {
		return nil, f.explainDecoding(err)
	}
	// YAML separates documents by "---", after which a decoder would silently leave the rest
	// unread.
	if err := decoder.Decode(new(yaml.Node)); err == nil {
		return nil, fmt.Errorf("%s: it holds a second document: an experiment is one", path)
	} else if !errors.Is(err, io.EOF) {
		return nil, f.explainDecoding(err)
	}
	shared, err := r.readFlags(f, all.Flags, f.Own)
	if err != nil {
		return nil, err
	}
	return f, r.multiply(f, shared, all.Configurations, all.Factors)
}

// Wrong is an error at a line of the file, with its path.
func (f *File) Wrong(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", f.Path, line, fmt.Errorf(format, args...))
}

var (
	yamlLine  = regexp.MustCompile(`^(?:yaml: )?line (\d+): `)
	wrongKind = regexp.MustCompile(`cannot unmarshal .*`)
)

// explainDecoding words what the YAML library finds.
func (f *File) explainDecoding(err error) error {
	text := err.Error()
	if several, ok := errors.AsType[*yaml.TypeError](err); ok {
		text = several.Errors[0]
	}
	text = f.Path + ": " + strings.TrimPrefix(yamlLine.ReplaceAllString(text, "line $1: "),
		"yaml: ")
	text = strings.Replace(text, "found character that cannot start any token",
		"indent by spaces, not tabs, and put quotes around a value that begins with @ or `", 1)
	return errors.New(wrongKind.ReplaceAllString(text, "keys with values are expected here"))
}

// readFlags reads the flags among the keys of a mapping. Those of the experiment itself go to own,
// if there is one.
func (r FileReader) readFlags(f *File, keys map[string]yaml.Node, own Givens) (Givens, error) {
	all := Givens{}
	for _, name := range inOrder(keys) {
		node := keys[name]
		key, err := r.Key(name)
		if err != nil {
			return nil, f.Wrong(node.Line, "%w", err)
		}
		values, err := readValues(f, name, key, node)
		if err != nil {
			return nil, err
		}
		if len(values) != 1 && !key.Repeated {
			return nil, f.Wrong(node.Line,
				"%s has one value; values to compare stand under factors", name)
		}
		to := all
		if key.Own && own != nil {
			to = own
		}
		if _, twice := to[key.Flag]; twice {
			return nil, f.Wrong(node.Line, "%s is given twice, once by another name", key.Flag)
		}
		to[key.Flag] = Given{node.Line, values}
	}
	return all, nil
}

// readValues reads a value, a list of them, or a mapping as a list of "key=value", each as it is
// written: what it means is for its flag to say, as on the command line.
func readValues(f *File, name string, key Key, node yaml.Node) (values []string, err error) {
	var one string
	var keys map[string]string
	if key.Pairs && node.Decode(&keys) == nil {
		for _, k := range slices.Sorted(maps.Keys(keys)) {
			values = append(values, k+"="+keys[k])
		}
	} else if err = node.Decode(&values); err != nil {
		err = node.Decode(&one)
		values = []string{one}
	}
	if err != nil || len(values) == 0 || len(values) == 1 && node.ShortTag() == "!!null" {
		return nil, f.Wrong(node.Line, "%s has no value", name)
	}
	return values, nil
}

// inOrder are the keys of a mapping as the file has them.
func inOrder(keys map[string]yaml.Node) []string {
	return slices.SortedFunc(maps.Keys(keys), func(a, b string) int {
		return cmp.Or(keys[a].Line-keys[b].Line, keys[a].Column-keys[b].Column)
	})
}

// maxConfigurations bounds an experiment, and with it what a file can ask for.
const maxConfigurations = 100

// multiply makes a configuration of each in the file, or of the file itself where it has none, and
// each combination of the factors' values.
func (r FileReader) multiply(
	f *File,
	shared Givens,
	configurations, factors map[string]yaml.Node,
) error {
	var all []*Variant
	for _, name := range inOrder(configurations) {
		c, err := r.configuration(f, shared, name, configurations[name])
		if err != nil {
			return err
		}
		all = append(all, c)
	}
	if len(configurations) == 0 {
		all = []*Variant{{Line: 1, Given: shared}}
	}
	for _, name := range inOrder(factors) {
		node := factors[name]
		key, err := r.Key(name)
		if err != nil {
			return f.Wrong(node.Line, "%w", err)
		}
		values, err := readValues(f, name, key, node)
		if err != nil || node.Kind == yaml.ScalarNode {
			return f.Wrong(node.Line, "%s: a factor has a list of values, such as [8, 32, 128]",
				key.Flag)
		}
		// Factors multiply: three of five values each are 125 configurations.
		if len(all)*len(values) > maxConfigurations {
			return f.Wrong(node.Line, "%d configurations are too many: at most %d",
				len(all)*len(values), maxConfigurations)
		}
		var product []*Variant
		for _, c := range all {
			if other, is := c.Given[key.Flag]; is {
				return f.Wrong(other.Line, "%s is a factor already, so it cannot be given here",
					key.Flag)
			}
			for _, value := range values {
				given := Given{node.Line, []string{value}}
				product = append(product, r.withFactor(c, key.Flag, given))
			}
		}
		all = product
	}
	// Directories beside the summary and the report: names that differ in signs alone get a number.
	taken := map[string]bool{result.SummaryFile: true, result.ReportFile: true, "": true}
	for _, c := range all {
		if c.Name == "" {
			c.Name = "configuration"
		}
		if slices.ContainsFunc(f.Configurations, func(o *Variant) bool {
			return o.Name == c.Name
		}) {
			return f.Wrong(c.Line, "there are two configurations %q", c.Name)
		}
		name := dirName(c.Name)
		for i := 2; taken[name]; i++ {
			name = fmt.Sprintf("%s-%d", dirName(c.Name), i)
		}
		c.Dir = name
		taken[name] = true
		f.Configurations = append(f.Configurations, c)
	}
	return nil
}

// configuration reads one of the configurations: its labels, and flags that go before those of all.
func (r FileReader) configuration(
	f *File,
	shared Givens,
	name string,
	node yaml.Node,
) (*Variant, error) {
	if strings.TrimSpace(name) == "" || len(name) > 100 {
		return nil, f.Wrong(node.Line, "a configuration has a name of 1 to 100 bytes")
	}
	var text struct { // the other keys are flags
		Labels map[string]string    `yaml:"labels"`
		Flags  map[string]yaml.Node `yaml:",inline"`
	}
	if err := node.Decode(&text); err != nil {
		return nil, f.explainDecoding(err)
	}
	own, err := r.readFlags(f, text.Flags, nil)
	if err != nil {
		return nil, err
	}
	c := &Variant{Line: node.Line, Given: maps.Clone(shared)}
	c.Name = name
	c.Labels = text.Labels
	for _, flag := range own.InOrder() {
		c.Given[flag] = own[flag]
		if key, _ := r.Key(flag); !key.Recorded {
			r.noteSetting(c, flag, own[flag])
		}
	}
	return c, nil
}

// noteSetting takes a flag into the record, as it is written.
func (r FileReader) noteSetting(c *Variant, flag string, g Given) (text string) {
	var values []string
	for _, v := range g.Values {
		values = append(values, r.Shown(flag, v))
	}
	if text = strings.Join(values, ", "); text != "" {
		c.Settings = append(c.Settings, result.Setting{Flag: flag, Value: text})
	}
	return text
}

// withFactor is a configuration with a value of a factor.
func (r FileReader) withFactor(c *Variant, flag string, g Given) *Variant {
	one := *c
	one.Given = maps.Clone(c.Given)
	one.Settings = slices.Clone(c.Settings)
	one.Given[flag] = g
	shown := r.noteSetting(&one, flag, g)
	if len(c.Factors) == 0 {
		one.Of = c.Name
	}
	one.Factors = append(slices.Clone(c.Factors), result.Setting{Flag: flag, Value: shown})
	one.Name = strings.TrimPrefix(one.Name+", "+flag+" "+shown, ", ")
	return &one
}

// noDirName are the signs that some file systems or shells do not take in a name.
var noDirName = regexp.MustCompile(`[^A-Za-z0-9._]+`)

func dirName(name string) string {
	return strings.Trim(noDirName.ReplaceAllString(name, "-"), "-.")
}
