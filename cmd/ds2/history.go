package main

import (
	"github.com/spf13/cobra"

	"ds2/internal/history"
	"ds2/internal/report"
)

func newHistoryCommand() *cobra.Command {
	var f formatFlags
	var out string
	cmd := newCommand("history", func(cmd *cobra.Command, args []string) error {
		all, done, err := readHistory(args)
		defer done()
		if err != nil {
			return err
		}
		return shown{page: report.Histories(all), record: all}.
			deliver(cmd.OutOrStdout(), f, out)
	})
	cmd.ValidArgsFunction = directories
	cmd.Args = records
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
