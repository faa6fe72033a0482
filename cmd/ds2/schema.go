package main

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ds2/datagen"
	"ds2/internal/workload/ds2"
	"ds2/schema"
)

func newSchemaCommand() *cobra.Command {
	var engine, phase, from string
	var params schema.Params
	var f sqlServerFlags
	var data loadFlags
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "Print the SQL that ds2 load runs",
		Long: `Prints the SQL that ds2 load runs, for psql or sqlcmd, phase by phase: database,
tables, indexes (with constraints), procedures (with triggers), statistics. The
data comes between tables and indexes.

Other phases are printed only with --phase: drop (load --drop), reset (ds2
reset), and data (SQL Server's BULK INSERT, with --from and --server-dir). The
SQL is for servers that support all of it; ds2 load asks the server and leaves
out the rest.`,
		Example: `  ds2 schema --engine postgres
  ds2 schema --engine sqlserver --size W --files-per-filegroup 8 \
      --data-dir 'E:\DS2' --log-dir 'F:\DS2'
  ds2 schema --engine sqlserver --phase data --from /mnt/dataset \
      --server-dir '\\files\dataset'
  ds2 schema --engine sqlserver --workload mailbox --mailboxes 500 \
      --mailbox-size 250MB
  ds2 schema --engine postgres --phase tables`,
		Args: flagsOnly,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains(schema.Engines(), engine) {
				return usageError("--engine: unknown engine %q: use %s", engine, strings.Join(schema.Engines(), ", "))
			}
			phases := schema.Phases
			if phase != "" {
				phases = []schema.Phase{schema.Phase(phase)}
			}
			if phase == string(schema.Data) {
				if err := f.directory(engine, from); err != nil {
					return err
				}
			}
			data.flags = cmd.Flags()
			if err := data.dataset(); err != nil {
				return err
			}
			var err error
			if params.Layout, err = f.read(); err != nil {
				return err
			}
			script, err := schema.Script(engine, phases, data.options.Dataset.Params(params))
			if err != nil {
				return err
			}
			_, err = io.WriteString(cmd.OutOrStdout(), script)
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&engine, "engine", "postgres", strings.Join(schema.Engines(), " or "))
	complete(flags, "engine", schema.Engines()...)
	all := []string{""}
	for _, p := range slices.Concat(schema.Phases, schema.Unasked) {
		all = append(all, string(p))
	}
	flags.Var(oneOf(&phase, all...), "phase", "one phase (default: the first five)")
	flags.StringVar(&data.workload, "workload", ds2.Name, "workload that the database is for: "+workloadNames())
	flags.StringVar(&data.size, "size", "S", "size of the dataset, for engines that size their files in advance")
	data.mailbox.add(flags)
	flags.StringVar(&params.Database, "database-name", "ds2", "name of the database")
	f.add(flags, &params)
	flags.StringVar(&from, "from", "", "SQL Server, phase data: directory of a dataset made by ds2 generate")
	complete(flags, "size", "S", "M", "W", "L")
	completeDirectories(flags, "from")
	f.addFiles(flags)
	return cmd
}

// sizeOf reads S, M, L, W, 30MB, 80GB, or the three numbers.
func sizeOf(text string) (datagen.Size, error) {
	if strings.Contains(text, "=") {
		return datagen.ParseRows(text)
	}
	return datagen.ParseSize(text)
}

func parseSize(text string) (datagen.Size, error) {
	size, err := sizeOf(text)
	if err != nil {
		return size, flagError("size", err)
	}
	return size, nil
}
