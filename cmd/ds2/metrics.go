package main

import (
	"context"
	"fmt"
	"io"
	"net"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"

	"ds2/internal/experiment"
	"ds2/internal/metrics"
	"ds2/internal/workload"
)

// defaultMetricsAddr is where /metrics is served. Where it is taken, by another run, a free port is.
const defaultMetricsAddr = "127.0.0.1:9464"

// metricsFlags say where a run's figures go to Prometheus.
type metricsFlags struct{ metricsAddr, pushgateway string }

func (f *metricsFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.metricsAddr, "metrics-addr", defaultMetricsAddr, "address to serve /metrics on; empty: none")
	flags.StringVar(&f.pushgateway, "pushgateway", "", "URL of a Prometheus Pushgateway that gets the figures at the end of the run, for runs shorter than a scrape interval or two")
}

// collectors show a run to Prometheus.
func collectors(o experiment.Options, run *experiment.Run) []prometheus.Collector {
	labels := metrics.Run{
		Version: o.Version, Engine: o.Targets[0].Engine(), Size: o.Plan.Size(), ID: o.RunID, Threads: o.Driver.Threads,
	}
	if w, ok := o.Plan.Workload().(workload.OperationCounter); ok {
		name, help := w.OperationCounter()
		labels.Operations = &metrics.Counter{Name: name, Help: help}
	}
	all := []prometheus.Collector{metrics.NewCollector(labels, run.Meter()), metrics.NewLimitCollector(run.Verdicts)}
	if sampler := run.Sampler(); sampler != nil {
		all = append(all, metrics.NewHostCollector(sampler))
	}
	return all
}

// serve serves the run's figures; nil where none are asked for.
func (f *metricsFlags) serve(o experiment.Options, run *experiment.Run, stderr io.Writer) (*metrics.Server, error) {
	if f.metricsAddr == "" {
		return nil, nil
	}
	all := collectors(o, run)
	server, err := metrics.Serve(f.metricsAddr, all...)
	if err != nil && f.metricsAddr == defaultMetricsAddr {
		host, _, _ := net.SplitHostPort(f.metricsAddr)
		server, err = metrics.Serve(net.JoinHostPort(host, "0"), all...)
	}
	if err != nil {
		return nil, flagError("metrics-addr", err)
	}
	fmt.Fprintf(stderr, "metrics: %s\n", server.URL())
	return server, nil
}

// push pushes the run's figures, where that is asked for. The run counts all the same where it fails.
func (f *metricsFlags) push(ctx context.Context, o experiment.Options, run *experiment.Run, stderr io.Writer) {
	if f.pushgateway == "" {
		return
	}
	if err := metrics.Push(ctx, f.pushgateway, o.RunID, collectors(o, run)...); err != nil {
		fmt.Fprintln(stderr, "warning:", redact(err.Error()))
	}
}
