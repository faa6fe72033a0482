package main

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ds2/internal/datatable"
	"ds2/internal/limit"
	"ds2/internal/result"
	"ds2/internal/store/sqlserver"
	"ds2/internal/workload/mailbox"
)

var (
	//go:embed flags.tsv
	flagTable string

	//go:embed relations.tsv
	relationTable string

	// flagRows are those of flags.tsv, whose columns stand in its first lines.
	flagRows = datatable.Rows(strings.NewReplacer(
		"{workloads}", strings.Join(workloads().Names(), ", "),
		"{engines}", strings.Join(engines().Names(), " "),
		"{experimental}", sqlserver.Experimental,
		"{mailbox profiles}", strings.Join(mailbox.ProfileNames(), ", "),
		"{limits}", strings.Join(limit.Presets(), " "),
	).Replace(flagTable), 9)
)

// fields are what flags set, by the flags' names: pointers to plain values, or values that read
// their texts themselves.
type fields map[string]any

// listed is a field for values that may also be given at once, with commas between.
type listed []string

// declare declares flags as a section of flags.tsv has them, in its order. A flag that is there
// already stays, so that a command can have one of its own in the place of a common one.
func declare(flags *pflag.FlagSet, section string, of fields) {
	// Columns: 0 section, 1 name and letter, 2 heading, 3 default, 4 bounds, 5 help, 6 workload, 7
	// values, 8 the default as the help has it.
	for _, row := range flagRows {
		name, letter, _ := strings.Cut(row[1], " -")
		field, wanted := of[name]
		if row[0] != section || !wanted || flags.Lookup(name) != nil {
			continue
		}
		f := newFlag(name, field, row[7])
		f.Shorthand = letter
		f.Usage = row[5]
		f.Annotations = map[string][]string{}
		flags.AddFlag(f)
		if heading, first := strings.CutSuffix(row[2], " *"); heading != "" {
			annotate(flags, name, headingOf, heading)
			if first {
				annotate(flags, name, firstOf)
			}
		}
		if row[3] != "" {
			preset(flags, name+"="+row[3])
		}
		if row[4] != "" {
			f.Value = bounded{f.Value, row[4]}
		}
		if row[6] != "" {
			annotate(flags, name, ofWorkload, row[6])
		}
		switch words := row[7]; {
		case words == "DIR":
			annotate(flags, name, cobra.BashCompSubdirsInDir)
		case words != "":
			annotate(flags, name, wordsOf, strings.Fields(words)...)
		}
		if row[8] != "" {
			f.DefValue = row[8]
		}
	}
	for name := range of {
		if flags.Lookup(name) == nil {
			panic("flags.tsv has no " + name + " in its section " + section)
		}
	}
}

// preset gives flags other defaults, each as name=value. They do not count as given by the user.
func preset(flags *pflag.FlagSet, defaults ...string) {
	for _, one := range defaults {
		name, value, _ := strings.Cut(one, "=")
		flag := flags.Lookup(name)
		if err := flag.Value.Set(value); err != nil {
			panic(err) // the program's text has it
		}
		flag.DefValue = flag.Value.String()
	}
}

// checkTogether refuses flags that exclude each other, and those that lack others.
func checkTogether(cmd *cobra.Command) error {
	flags := cmd.Flags()
	for _, row := range datatable.Rows(relationTable, 5) {
		if row[0] != cmd.Name() || !flags.Changed(row[1]) {
			continue
		}
		for other := range strings.FieldsSeq(row[3]) {
			switch given := flags.Changed(other); {
			case given && row[2] == "excludes":
				return usageError("--%s and --%s exclude each other: %s", row[1], other, row[4])
			case !given && row[2] == "needs":
				return usageError("--%s needs --%s: %s", row[1], other, row[4])
			}
		}
	}
	return nil
}

// newFlag is a flag that sets a field; words with | between are all that it takes.
func newFlag(name string, field any, words string) *pflag.Flag {
	// pflag makes flags of plain values only within a set; the command takes it from this one.
	of := pflag.NewFlagSet("", pflag.PanicOnError)
	switch v := field.(type) {
	case pflag.Value:
		of.Var(v, name, "")
	case *time.Duration:
		of.Var(ds2Duration(v, 0), name, "")
	case *result.Duration:
		return newFlag(name, &v.Duration, words)
	case *bool:
		of.BoolVar(v, name, *v, "")
	case *int:
		of.IntVar(v, name, *v, "")
	case *int64:
		of.Int64Var(v, name, *v, "")
	case *uint64:
		of.Uint64Var(v, name, *v, "")
	case *float64:
		of.Float64Var(v, name, *v, "")
	case *[]string:
		of.StringArrayVar(v, name, nil, "")
	case *listed:
		of.StringSliceVar((*[]string)(v), name, nil, "")
	case *string:
		if strings.Contains(words, "|") {
			of.Var(oneOf(v, strings.Split(words, "|")...), name, "")
		} else {
			of.StringVar(v, name, *v, "")
		}
	}
	return of.Lookup(name)
}

// bounded is a flag for a number or a time within bounds: "1 to 1000", or "1s or more".
type bounded struct {
	pflag.Value
	bounds string
}

func (v bounded) Set(text string) error {
	if err := v.Value.Set(text); err != nil {
		return err
	}
	n := numberOf(v.String())
	least, most, closed := strings.Cut(strings.TrimSuffix(v.bounds, " or more"), " to ")
	// Written so that NaN is out of bounds, too.
	if !(n >= numberOf(least)) || closed && n > numberOf(most) {
		return boundsError(fmt.Sprintf("is %s: it must be %s", text, v.bounds))
	}
	return nil
}

// numberOf is a number, or the seconds of a time.
func numberOf(text string) float64 {
	if d, err := time.ParseDuration(text); err == nil {
		return d.Seconds()
	}
	n, _ := strconv.ParseFloat(text, 64) // a flag wrote it, or the table has it
	return n
}

// boundsError says what is wrong with a flag, whose name goes before it.
type boundsError string

func (e boundsError) Error() string { return string(e) }
