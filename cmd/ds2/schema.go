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

// newSchemaCommand prints scripts for who runs them by hand. Its flags are those of a load, as they
// decide on names, files and sizes in the SQL.
func newSchemaCommand() *cobra.Command {
	var phase string
	var f loadFlags
	cmd := newCommand("schema", func(cmd *cobra.Command, _ []string) error {
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
			return usageError("--phase %s needs --from and --server-dir: the directory of the dataset, as this machine and as the server see it", phase)
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
	})
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
