package main

import (
	"cmp"
	"fmt"
	"text/tabwriter"

	"github.com/docker/go-units"
	"github.com/spf13/cobra"

	"ds2/datagen"
	"ds2/internal/workload/ds2"
	"ds2/internal/workload/mailbox"
	"ds2/schema"
)

// sizeLine is what ds2 sizes reports on a size.
type sizeLine struct {
	SizeText string `json:"size"`
	datagen.Size
	Rows          int64            `json:"rows"`
	CSVBytes      int64            `json:"csv_bytes"`
	DatabaseBytes map[string]int64 `json:"database_bytes"`
}

func newSizesCommand() *cobra.Command {
	var output, name string
	var capacity, piece int64
	cmd := newCommand("sizes", func(cmd *cobra.Command, args []string) error {
		if fit := tenants()[name].fit; capacity > 0 || fit != nil {
			if capacity == 0 || fit == nil || len(args) > 0 {
				return usageError("--capacity: it goes with --workload %s, and no SIZE",
					mailbox.Name)
			}
			// The other way round: from the room that there is to what may be loaded into it.
			line := fit(capacity, piece)
			if output == "json" {
				return printJSON(cmd.OutOrStdout(), line)
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), line)
			return err
		}
		if len(args) == 0 {
			args = []string{"S", "M", "W", "L", "1TB"}
		}
		var lines []sizeLine
		for _, arg := range args {
			line, err := newSizeLine(arg)
			if err != nil {
				return err
			}
			lines = append(lines, line)
		}
		if output == "json" {
			return printJSON(cmd.OutOrStdout(), lines)
		}
		table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 1, ' ', tabwriter.AlignRight)
		return cmp.Or(templates.ExecuteTemplate(table, "sizes.tmpl", lines), table.Flush())
	})
	cmd.ValidArgsFunction = choices("S", "M", "W", "L")
	cmd.Args = cobra.ArbitraryArgs
	write := func(bytes int64) string { return fmt.Sprint(bytes) }
	declare(cmd.Flags(), "sizes", fields{
		"workload":     oneOf(&name, workloads().Names()...),
		"capacity":     parsed[int64]{&capacity, "bytes", units.RAMInBytes, write, ""},
		"mailbox-size": mailboxSize(&piece),
		"output":       &output,
	})
	return cmd
}

// newSizeLine adds up the parts of a dataset; none of its rows is made for that.
func newSizeLine(arg string) (sizeLine, error) {
	size, err := sizeOf(arg)
	if err != nil {
		return sizeLine{}, usageError("sizes: %w", err)
	}
	data, err := datagen.New(size, datagen.DefaultWords(), datagen.Options{})
	if err != nil {
		return sizeLine{}, err
	}
	l := sizeLine{SizeText: size.String(), Size: size, DatabaseBytes: map[string]int64{}}
	for _, p := range data.Parts() {
		l.Rows += p.Rows
		l.CSVBytes += p.Bytes
	}
	params := ds2.Dataset{Size: size}.Params(schema.Params{})
	for _, engine := range schema.Engines() {
		l.DatabaseBytes[engine] = schema.ExpectedBytes(engine, params)
	}
	return l, nil
}
