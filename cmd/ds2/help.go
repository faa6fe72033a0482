package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// commandGroups are the headings of ds2 --help, and the commands under each, in their order.
var commandGroups = []struct{ heading, commands string }{
	{"Data", "sizes generate schema load reset snapshot"},
	{"Run", "demo preflight drive bench tune device"},
	{"Compare", "init experiment compare"},
	{"Check and report", "verify report"},
	{"Other", "version"},
}

// flagGroups are the headings of --help=all, and the flags under each. What is in none stands under the last.
var flagGroups = []struct{ heading, flags string }{
	{"Target", "target engine database-name password-command"},
	{"Dataset", "workload size words data-seed from drop resume parallel"},
	{"Load shape", "file configuration profile threads ramp-rate warmup-time run-time think-time rate spacing " +
		"start-at user-offset seed scrub-rate event brownout"},
	{"Procedure", "runs practice restore restore-command discard-log settle idle cooldown " +
		"drop-unsteady start-threads max-threads confirm"},
	{"Measuring", "window warm-within checkpoint-first cold-start max-retries max-errors operation-timeout " +
		"drain-time"},
	{"Limits", "limit abort-on-fail"},
	{"Observing", "devices device-record disclosure smart io-trace server-memory exporter power " +
		"metrics-addr pushgateway"},
	{"DVD Store", "pct-newcustomers n-searches search-batch-size n-line-items"},
	{"Mailbox", "mailboxes mailbox-size mailbox-profile mix lazy iops-per-mailbox headroom"},
	{"Placement", "data-tablespace index-tablespace server-dir files-per-filegroup data-dir log-dir log-size " +
		"target-recovery-time driver-login driver-password-file"},
	{"DVD Store compatibility", "config-file detailed-view virt-dir page-type linux-perf-host windows-perf-host"},
	{"Output", "verify journal out output details run-id quiet check help"},
}

const (
	// firstFlags are what a first run needs.
	firstFlags = "target engine password-command size threads runs warmup-time run-time window limit exporter " +
		"devices power restore resume drop workload mailboxes mailbox-size verify out output quiet help"
	// fewFlags is how many flags a command may have to be shown with all of them.
	fewFlags = 25
	// helpWidth is how long a line of the help may be, and slop by how much package pflag may miss it.
	helpWidth, slop = 100, 5
)

// helpValue is --help: of no value, "all", or the name of a group. To cobra it is a bool.
type helpValue struct{ asked string }

func (v *helpValue) Set(text string) error {
	if text != "true" && text != "all" && !slices.Contains(groupNames(), text) {
		return fmt.Errorf("invalid value %q: use --help, --help=all, or one group of flags: %s",
			text, strings.Join(groupNames(), ", "))
	}
	v.asked = text
	return nil
}

func (v *helpValue) String() string { return fmt.Sprint(v.asked != "") }
func (v *helpValue) Type() string   { return "bool" }

// groupNames are the groups of flags as --help takes them.
func groupNames() (names []string) {
	for _, g := range flagGroups {
		names = append(names, strings.ReplaceAll(strings.ToLower(g.heading), " ", "-"))
	}
	return names
}

// addHelp puts the commands into groups. It has commands of many flags show those that a first run needs, all of them,
// under headings, by --help=all, and those of one heading by its name.
func addHelp(root *cobra.Command) {
	cobra.EnableCommandSorting = false
	for _, g := range commandGroups {
		root.AddGroup(&cobra.Group{ID: g.heading, Title: g.heading + ":"})
		for _, name := range strings.Fields(g.commands) {
			if cmd, _, err := root.Find([]string{name}); err == nil {
				cmd.GroupID = g.heading
			}
		}
	}
	root.SetHelpCommandGroupID("Other")
	root.SetCompletionCommandGroupID("Other")
	var help helpValue
	flags := root.PersistentFlags()
	flags.VarP(&help, "help", "h", "help; all flags by --help=all, one group by --help=GROUP")
	flags.Lookup("help").NoOptDefVal = "true"
	flags.Lookup("help").DefValue = "false"
	cobra.AddTemplateFunc("groupedFlags", func(cmd *cobra.Command) string { return groupedFlags(cmd, help.asked) })
	root.SetUsageTemplate(strings.NewReplacer(
		"\n\nFlags:\n{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}", "{{groupedFlags .}}",
		"\n\nGlobal Flags:\n{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}", "",
	).Replace(root.UsageTemplate()))
}

// groupedFlags are the flags of a command as its help shows them; asked is the value of --help.
func groupedFlags(cmd *cobra.Command, asked string) string {
	var all []*pflag.Flag
	for _, set := range []*pflag.FlagSet{cmd.LocalFlags(), cmd.InheritedFlags()} {
		set.SortFlags = false
		set.VisitAll(func(f *pflag.Flag) {
			if !slices.Contains(all, f) {
				all = append(all, f)
			}
		})
	}
	switch {
	case asked == "all" && len(all) > fewFlags:
		text := ""
		for _, g := range flagGroups {
			text += usages(g.heading, all, func(f *pflag.Flag) bool { return groupOf(f) == g.heading })
		}
		return text
	case slices.Contains(groupNames(), asked):
		heading := flagGroups[slices.Index(groupNames(), asked)].heading
		return usages(heading, all, func(f *pflag.Flag) bool { return groupOf(f) == heading })
	case len(all) <= fewFlags:
		return usages("Flags", all, func(*pflag.Flag) bool { return true })
	}
	isFirst := func(f *pflag.Flag) bool { return slices.Contains(strings.Fields(firstFlags), f.Name) }
	first := usages("Flags for a first run", all, isFirst)
	names := groupNames()
	return fmt.Sprintf("%s\n\n--help=all shows all %d flags, --help=GROUP those of one group:\n  %s\n  %s",
		first, len(all), strings.Join(names[:8], ", "), strings.Join(names[8:], ", "))
}

// groupOf is the heading that a flag stands under.
func groupOf(f *pflag.Flag) string {
	for _, g := range flagGroups {
		if slices.Contains(strings.Fields(g.flags), f.Name) {
			return g.heading
		}
	}
	return flagGroups[len(flagGroups)-1].heading
}

// usages are those of some flags below a heading, or nothing where there are none.
func usages(heading string, all []*pflag.Flag, shown func(*pflag.Flag) bool) string {
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	set.SortFlags = false
	for _, f := range all {
		if shown(f) {
			set.AddFlag(f)
		}
	}
	if !set.HasAvailableFlags() {
		return ""
	}
	return "\n\n" + heading + ":\n" + strings.TrimRight(set.FlagUsagesWrapped(helpWidth-slop), "\n")
}
