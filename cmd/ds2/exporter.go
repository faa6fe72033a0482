package main

import (
	"fmt"
	"net/http"
	"os/signal"

	"github.com/spf13/cobra"

	"ds2/internal/exporter"
	"ds2/internal/metrics"
)

// exporterFlags say what ds2 exporter shows, and where.
type exporterFlags struct {
	dirs   []string
	listen string
}

func newExporterCommand() *cobra.Command {
	var f exporterFlags
	cmd := &cobra.Command{
		Use:   "exporter --dir DIR…",
		Short: "Show the drives below directories to a ds2 elsewhere",
		Long: `Shows at /metrics, until it is stopped, what this machine counts of the drives
below the directories of a database, of its CPUs, memory and network: in the
names of node_exporter. It finds the drives by its own mounts, so it runs where
the database's files are: on its machine, or in its pod.

A ds2 on another machine reads it by --exporter, which then needs no --devices:
it is told which drives hold data and log. Where a directory is a PostgreSQL
server's own and its process can be seen, what its control groups let it use is
shown too.

Whoever reaches the address can read the figures.`,
		Example: `  ds2 exporter --dir /var/lib/postgresql/17/main
  ds2 drive --target postgres://ds2:ds2@db/ds2 --threads 64 \
      --exporter http://db:9100`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	declare(cmd.Flags(), "exporter", fields{"dir": &f.dirs, "listen": &f.listen})
	return cmd
}

func (f *exporterFlags) run(cmd *cobra.Command) error {
	if len(f.dirs) == 0 {
		return usageError("--dir is missing: a directory of the database")
	}
	collector, err := exporter.New(f.dirs)
	if err != nil {
		return flagError("dir", err)
	}
	ctx, release := signal.NotifyContext(cmd.Context(), stopSignals()...)
	defer release()
	server, err := metrics.Serve(f.listen, http.NotFound, http.NotFound)
	if err != nil {
		return flagError("listen", err)
	}
	server.Show(collector)
	fmt.Fprintf(cmd.ErrOrStderr(), "metrics: %s\n", server.URL())
	<-ctx.Done()
	return server.Close()
}
