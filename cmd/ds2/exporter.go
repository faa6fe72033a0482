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
	cmd := newCommand("exporter", f.run)
	declare(cmd.Flags(), "exporter", fields{"dir": &f.dirs, "listen": &f.listen})
	return cmd
}

func (f *exporterFlags) run(cmd *cobra.Command, _ []string) error {
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
