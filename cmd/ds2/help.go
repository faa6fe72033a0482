package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpGroups are the headings under which --help shows the flags of a run, and the flags that belong there. What is in none stands
// under the last.
var helpGroups = []struct{ heading, flags string }{
	{"Target", "target engine database-name password-command size words sqlserver-calls"},
	{"Load shape", "threads ramp-rate warmup-time run-time think-time rate spacing start-at user-offset seed pct-newcustomers n-searches search-batch-size n-line-items config-file"},
	{"Procedure", "runs restore restore-command clone discard-log settle idle cooldown keep-marked drop-unsteady method start-threads max-threads gain"},
	{"Measuring", "window checkpoint-first debt max-retries max-errors operation-timeout drain-time"},
	{"Limits", "limit limits abort-on-fail"},
	{"Observing", "devices device-record smart server-memory exporter prometheus prometheus-instance power-command power-log power-query metrics-addr pushgateway"},
	{"Faults", "crash-after crash-cycles kill-command start-command recovery-timeout replay server-log journal deep-every scrub-rate copies"},
	{"Mailbox", "profile mix lazy batch iops-per-mailbox headroom warm-within"},
	{"Output", "verify out output run-id quiet help"},
}

// firstFlags are what a first run needs.
const firstFlags = "target engine password-command threads runs warmup-time run-time window limit exporter devices power-command restore verify out output quiet help"

// fewFlags is how many flags a command may have to be shown with all of them.
const fewFlags = 30

// helpValue is --help: of no value, or "all". To cobra it is a bool.
type helpValue struct{ asked, all bool }

func (v *helpValue) Set(text string) error {
	switch text {
	case "true":
	case "all":
		v.all = true
	default:
		return fmt.Errorf("invalid value %q: use --help, or --help=all for all flags", text)
	}
	v.asked = true
	return nil
}

func (v *helpValue) String() string { return fmt.Sprint(v.asked) }
func (v *helpValue) Type() string   { return "bool" }

// addHelp has commands of many flags show those that a first run needs, and all of them, under headings, by --help=all.
func addHelp(root *cobra.Command) {
	var help helpValue
	flags := root.PersistentFlags()
	flags.VarP(&help, "help", "h", "help; --help=all shows all flags")
	flags.Lookup("help").NoOptDefVal = "true"
	flags.Lookup("help").DefValue = "false"
	cobra.AddTemplateFunc("groupedFlags", func(cmd *cobra.Command) string { return groupedFlags(cmd, help.all) })
	const plain = ".LocalFlags.FlagUsages | trimTrailingWhitespaces"
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), plain, "groupedFlags .", 1))
}

// groupedFlags are the flags of a command as its help shows them.
func groupedFlags(cmd *cobra.Command, all bool) string {
	visible := 0
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			visible++
		}
	})
	if visible <= fewFlags {
		return strings.TrimRight(cmd.LocalFlags().FlagUsages(), "\n")
	}
	if !all {
		shown, text := usages(cmd, strings.Fields(firstFlags), nil)
		return fmt.Sprintf("%s\n\n%d more, by --help=all: %s", text, visible-len(shown), strings.ToLower(headings()))
	}
	var taken, parts []string
	for i, g := range helpGroups {
		names := strings.Fields(g.flags)
		var rest []string
		if i == len(helpGroups)-1 {
			rest = taken
		}
		shown, text := usages(cmd, names, rest)
		taken = append(taken, shown...)
		if len(shown) > 0 {
			parts = append(parts, g.heading+":\n"+text)
		}
	}
	return strings.Join(parts, "\n\n")
}

func headings() string {
	var all []string
	for _, g := range helpGroups {
		all = append(all, g.heading)
	}
	return strings.Join(all, ", ")
}

// usages are those of some flags of a command, in its own order; where others are given, of all flags that are not among these too.
func usages(cmd *cobra.Command, names, others []string) (shown []string, text string) {
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	set.SortFlags = false
	local := cmd.LocalFlags()
	local.SortFlags = false
	local.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && (slices.Contains(names, f.Name) || others != nil && !slices.Contains(others, f.Name)) {
			set.AddFlag(f)
			shown = append(shown, f.Name)
		}
	})
	return shown, strings.TrimRight(set.FlagUsagesWrapped(100), "\n")
}
