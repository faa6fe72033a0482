package main

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ds2/datagen"
	"ds2/schema"
)

func newSchemaCommand() *cobra.Command {
	var phase string
	var f loadFlags
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
		RunE: func(cmd *cobra.Command, _ []string) error {
			if all := schema.Engines(); !slices.Contains(all, f.engine) {
				return usageError("--engine: unknown engine %q: use %s", f.engine,
					strings.Join(all, ", "))
			}
			phases := schema.Phases
			if phase != "" {
				phases = []schema.Phase{schema.Phase(phase)}
			}
			switch l := &f.options.Schema.Layout; {
			case phase != string(schema.Data): // the others are the same whatever the files
				f.from = ""
				l.FilesDir = ""
			case !schema.ReadsFiles(f.engine):
				return usageError("--phase: %s has no phase %s: ds2 load streams the data",
					f.engine, phase)
			case f.from == "" || l.FilesDir == "":
				return usageError("--phase %s needs --from and --server-dir: "+
					"the directory of the dataset, as this machine and as the server see it", phase)
			case !cmd.Flags().Changed("size"):
				f.size = "" // that of the files
			}
			if err := cmp.Or(f.dataset(), f.checkLayout(cmd.Context())); err != nil {
				return err
			}
			script, err := schema.Script(f.engine, phases,
				f.options.Dataset.Params(f.options.Schema))
			if err != nil {
				return err
			}
			_, err = io.WriteString(cmd.OutOrStdout(), script)
			return err
		},
	}
	flags := cmd.Flags()
	f.flags = flags
	all := append([]schema.Phase{""}, slices.Concat(schema.Phases, schema.Unasked)...)
	names := mapped(all, func(p schema.Phase) string { return string(p) })
	declare(flags, "schema", fields{
		"engine":        &f.engine,
		"phase":         oneOf(&phase, names...),
		"workload":      &f.workload,
		"size":          &f.size,
		"database-name": &f.options.Schema.Database,
		"from":          &f.from,
	})
	addMailboxes(flags, &f.mailbox)
	f.addPlacement(flags)
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
