package main

import (
	"fmt"
	"io"
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
	cmd := &cobra.Command{
		Use:               "sizes [SIZE…]",
		ValidArgsFunction: choices("S", "M", "W", "L"),
		Short:             "Print how large a dataset is, as CSV and in a database",
		Long: `Prints the rows and bytes of a size: S, M, L, W, a number of MB, GB or TB such
as 80GB, or customers=…,orders-per-month=…,products=….

By DS2's rule n MB is S times n/10, 1 GB is M, and n GB is L times n/100: the
names are nominal, and 999 MB has ten times the products of 1 GB.

Rows and bytes are estimates: within 1 % for CSV, and within 10 % for
PostgreSQL, measured at S, 50MB and M. SQL Server's are computed from row sizes
and were not measured.

With --capacity, how many mailboxes a file system has room for, as published
tests plan it: 60 % for the database, the rest for growth and the log.`,
		Example: `  ds2 sizes
  ds2 sizes --workload mailbox --capacity 2TB
  ds2 sizes 30MB 80GB --output json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if fit := tenants()[name].fit; capacity > 0 || fit != nil {
				if capacity == 0 || fit == nil || len(args) > 0 {
					return usageError("--capacity: it goes with --workload %s, and no SIZE",
						mailbox.Name)
				}
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
			return printSizes(cmd.OutOrStdout(), lines)
		},
	}
	write := func(bytes int64) string { return fmt.Sprint(bytes) }
	declare(cmd.Flags(), "sizes", fields{
		"workload":     oneOf(&name, workloads().Names()...),
		"capacity":     parsed[int64]{&capacity, "bytes", units.RAMInBytes, write, ""},
		"mailbox-size": mailboxSize(&piece),
		"output":       &output,
	})
	return cmd
}

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

func printSizes(w io.Writer, lines []sizeLine) error {
	table := tabwriter.NewWriter(w, 0, 0, 1, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "size\tcustomers\torders/month\tproducts\trows\tCSV\t")
	for _, engine := range schema.Engines() {
		fmt.Fprintf(table, "%s\t", engine)
	}
	fmt.Fprintln(table)
	for _, l := range lines {
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%s\t",
			l.Size, l.Customers, l.OrdersPerMonth, l.Products, l.Rows, bytesText(l.CSVBytes))
		for _, engine := range schema.Engines() {
			fmt.Fprintf(table, "%s\t", bytesText(l.DatabaseBytes[engine]))
		}
		fmt.Fprintln(table)
	}
	return table.Flush()
}
