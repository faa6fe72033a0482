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
	var engine, phase, from, database, dataTablespace, indexTablespace string
	var f sqlServerFlags
	var data loadFlags
	cmd := &cobra.Command{
		Use:  "schema",
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
			sqlServer, err := f.read()
			if err != nil {
				return err
			}
			script, err := schema.Script(engine, phases, data.options.Dataset.Params(schema.Params{
				Database: database, DataTablespace: dataTablespace, IndexTablespace: indexTablespace, Layout: sqlServer,
			}))
			if err != nil {
				return err
			}
			_, err = io.WriteString(cmd.OutOrStdout(), script)
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&engine, "engine", "postgres", strings.Join(schema.Engines(), " or "))
	all := []string{""}
	for _, p := range slices.Concat(schema.Phases, schema.Unasked) {
		all = append(all, string(p))
	}
	flags.Var(oneOf(&phase, all...), "phase", flagsTxt)
	flags.StringVar(&data.workload, "workload", ds2.Name, workloadNames())
	flags.StringVar(&data.size, "size", "S", flagsTxt)
	data.mailbox.add(flags)
	flags.StringVar(&database, "database-name", "ds2", flagsTxt)
	flags.StringVar(&dataTablespace, "data-tablespace", "", flagsTxt)
	flags.StringVar(&indexTablespace, "index-tablespace", "", flagsTxt)
	f.add(flags)
	flags.StringVar(&from, "from", "", flagsTxt)
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

// parseSize reads --size.
func parseSize(text string) (datagen.Size, error) {
	size, err := sizeOf(text)
	if err != nil {
		return size, flagError("size", err)
	}
	return size, nil
}
