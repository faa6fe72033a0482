package main

import (
	"fmt"
	"net/http"
	"os/signal"
	"slices"

	"github.com/spf13/cobra"

	"ds2/internal/exporter"
	"ds2/internal/metrics"
)

// newExporterCommand shows a database server's machine, and the drives below some directories, to
// Prometheus and to ds2's own --exporter.
func newExporterCommand() *cobra.Command {
	var dirs []string
	var listen string
	cmd := newCommand("exporter", func(cmd *cobra.Command, _ []string) error {
		if len(dirs) == 0 || slices.Contains(dirs, "") { // as of a variable that is not set
			return usageError("--dir is missing: a directory of the database")
		}
		collector, err := exporter.New(dirs)
		if err != nil {
			return flagError("dir", err)
		}
		ctx, release := signal.NotifyContext(cmd.Context(), stopSignals()...)
		defer release()
		server, err := metrics.Serve(listen, http.NotFound, http.NotFound)
		if err != nil {
			return flagError("listen", err)
		}
		server.Show(collector)
		fmt.Fprintf(cmd.ErrOrStderr(), "metrics: %s\n", server.URL())
		<-ctx.Done()
		return server.Close()
	})
	declare(cmd.Flags(), "exporter", fields{"dir": &dirs, "listen": &listen})
	return cmd
}
