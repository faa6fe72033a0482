package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"

	"ds2/internal/monitor"
	"ds2/internal/result"
	"ds2/internal/upkeep"
)

// Every row of flags.tsv is a flag of some command or of the file of an experiment, under a heading
// that the help shows, and of a workload that there is.
func TestFlagTable(t *testing.T) {
	helps := map[string]bool{} // of flags that are declared, by name and help
	add := func(flags *pflag.FlagSet) {
		flags.VisitAll(func(f *pflag.Flag) {
			usage, _, _ := strings.Cut(f.Usage, "; 0 = until stopped") // of drive alone
			helps[f.Name+" "+usage] = true
		})
	}
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		add(cmd.Flags())
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(newRoot())
	add(newFlagSet(new(experimentSetup).add))
	add(newFlagSet(new(variant).add))
	for _, row := range flagRows {
		name, _, _ := strings.Cut(row[1], " -")
		assert.True(t, helps[name+" "+row[5]], "no command has --%s of section %s", name, row[0])
		heading := strings.TrimSuffix(row[2], " *")
		assert.True(t, heading == "" || slices.Contains(flagGroups, heading), "%s: %s", name, heading)
		assert.True(t, row[6] == "" || slices.Contains(workloads().Names(), row[6]), "%s: %s", name, row[6])
	}
}

// The words of a flag in the table are those that the packages below know, the default first.
func TestWordsOfFlags(t *testing.T) {
	flags := newFlagSet(new(variant).add)
	flags.AddFlagSet(newFlagSet(new(experimentSetup).add))
	for name, words := range map[string][]string{
		"spacing": {result.Poisson, result.Even},
		"smart":   {monitor.SMARTAuto, monitor.SMARTOn, monitor.SMARTOff},
		"verify":  {result.VerifyAudit, result.VerifyDeep, result.VerifyNone},
		"restore": {upkeep.RestoreReset, upkeep.RestoreSnapshot, upkeep.RestoreNone},
		"order":   {result.OrderRandom, result.OrderSequence},
		"volumes": {volumesFresh, "keep"},
	} {
		flag := flags.Lookup(name)
		assert.Equal(t, words, flag.Value.(choice).of, name)
		assert.Equal(t, words[0], flag.DefValue, name)
	}
}

// A flag with bounds takes both of them and nothing beyond, in numbers and times.
func TestBounds(t *testing.T) {
	for _, c := range []struct {
		command, flag, text, refused string
	}{
		{"drive", "threads", "1000000", ""},
		{"drive", "threads", "0", "--threads is 0: it must be 1 to 1000000"},
		{"drive", "ramp-rate", "NaN", "--ramp-rate is NaN: it must be 0.001 to 1000000"},
		{"drive", "operation-timeout", "1s", ""},
		{"drive", "operation-timeout", "0", "--operation-timeout is 0: it must be 1s or more"},
		{"device", "round-time", "24h", ""},
		{"device", "round-time", "25h", "--round-time is 25h: it must be 1s to 24h"},
	} {
		cmd, _, err := newRoot().Find([]string{c.command})
		assert.NoError(t, err)
		err = cmd.Flags().Set(c.flag, c.text)
		if c.refused == "" {
			assert.NoError(t, err)
			continue
		}
		assert.EqualError(t, flagText(err), c.refused)
	}
}
