package main

import (
	"github.com/spf13/cobra"

	"ds2/internal/history"
	"ds2/internal/report"
)

func newHistoryCommand() *cobra.Command {
	var f formatFlags
	var out string
	cmd := &cobra.Command{
		Use:               "history DIR…",
		ValidArgsFunction: directories,
		Short:             "Show how the result of a configuration changed over time",
		Long: `Puts benches and runs in the order of time: a row and a column for each with its
own interval, what was new since the one before (version, settings, kernel), and
the days on which the level changed, each with its probability by chance.

A directory is a record or holds records and their zip archives. Each
configuration has its own history; a record that cannot be read is left out and
named.

See ds2 compare --history for a gate against it.`,
		Example: `  ds2 history ds2-results
  ds2 history --output html --out history.html /archive/array-a`,
		Args: records,
		RunE: func(cmd *cobra.Command, args []string) error {
			all, done, err := readHistory(args)
			defer done()
			if err != nil {
				return err
			}
			return shown{page: report.Histories(all), record: all}.
				deliver(cmd.OutOrStdout(), f, out)
		},
	}
	flags := cmd.Flags()
	f.add(flags, "history")
	declare(flags, "history", fields{"out": &out})
	return cmd
}

// readHistory reads the histories of records, which lie unpacked until done.
func readHistory(paths []string) (all []history.History, done func(), err error) {
	archives := new(unpacker)
	all, err = history.Read(reader(), paths, archives.unpackRecord)
	return all, archives.removeAll, err
}
