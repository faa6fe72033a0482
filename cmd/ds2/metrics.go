package main

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path/filepath"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ds2/internal/live"
	"ds2/internal/metrics"
	"ds2/internal/report"
	"ds2/internal/result"
	"ds2/internal/runs"
	"ds2/internal/workload"
)

// defaultMetricsAddr is where /metrics and the live page are served. Where it is taken, by another
// run, a free port is.
const defaultMetricsAddr = "127.0.0.1:9464"

// metricsFlags say where a run's figures go to Prometheus, and where the command shows what it is
// at.
type metricsFlags struct {
	metricsAddr, pushgateway string
}

func (f *metricsFlags) add(flags *pflag.FlagSet) {
	declare(flags, "metrics",
		fields{"metrics-addr": &f.metricsAddr, "pushgateway": &f.pushgateway})
}

// check refuses addresses that cannot be served on or pushed to, before anything is connected to.
func (f *metricsFlags) check() error {
	if f.metricsAddr != "" {
		if _, err := net.ResolveTCPAddr("tcp", f.metricsAddr); err != nil {
			return usageError(
				"--metrics-addr: %w: write it as 127.0.0.1:9464, or :9464 for all addresses",
				err,
			)
		}
	}
	u, err := url.Parse(f.pushgateway)
	if f.pushgateway == "" ||
		err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") {
		return nil
	}
	return usageError("--pushgateway: %q is not a URL: write it as http://host:9091", f.pushgateway)
}

// collector shows a run to Prometheus. It reads the run's own counts whenever it is asked, and
// counts nothing itself.
func collector(run *runs.Run) prometheus.Collector {
	o := run.Options()
	shown := metrics.Run{
		Version:       o.KitVersion,
		Engine:        o.Databases[0].Engine(),
		Size:          o.Plan.Size(),
		ID:            o.RunID,
		Threads:       o.Threads,
		Configuration: o.Place.Configuration,
		Block:         o.Place.Block,
		Meter:         run.Meter(),
		Verdicts:      run.Verdicts,
		Sampler:       run.Sampler(),
		IOPS:          run.IOPS,
	}
	if w, ok := o.Plan.Workload().(workload.Exporter); ok {
		shown.Counters = w.Counters()
	}
	if o.Observer.IOTrace != nil {
		shown.IO = o.Observer.IOTrace.Totals
	}
	return metrics.NewCollector(shown)
}

// served is what a command serves while it is at work: /metrics, and the live page. A nil one
// serves nothing.
type served struct {
	server *metrics.Server
	page   *live.Page
	record string // that the command writes; empty: none, or not known yet
	// whose runs are listed, by their configurations
	benches map[string]result.Bench
}

// serve begins to serve what the command is at where that is asked for, unless it is served
// already, until the command ends. The record is the one that the command writes; empty: it is not
// known yet.
func (f *metricsFlags) serve(i *interrupts, cmd *cobra.Command, quiet bool, record string) error {
	if i.served != nil {
		i.served.record = record
		return nil
	}
	if f.metricsAddr == "" {
		return nil
	}
	page := live.New(cmd.CommandPath())
	server, err := metrics.Serve(f.metricsAddr, page.Document, page.Stream)
	if err != nil && f.metricsAddr == defaultMetricsAddr {
		server, err = metrics.Serve("127.0.0.1:0", page.Document, page.Stream)
	}
	if err != nil {
		page.End("")
		return flagError("metrics-addr", err)
	}
	tell := unlessQuiet(quiet, i.stderr)
	fmt.Fprintf(tell, "metrics: %s\nlive page: %s\n", server.URL(), server.PageURL())
	i.served = &served{server, page, record, map[string]result.Bench{}}
	return nil
}

// show shows a run or a load, until the next one or rest.
func (s *served) show(on live.Show, figures prometheus.Collector) {
	if s == nil {
		return
	}
	s.server.Show(figures)
	s.page.Begin(on)
}

// rest says that a run or load is over, though the command may not be, and what it came to, if
// anything.
func (s *served) rest(result string) {
	if s == nil {
		return
	}
	// Until the next one Prometheus finds no figures, in place of the last ones of a run that is
	// over.
	s.server.Show()
	s.page.Rest(result)
}

// list shows the runs of a configuration beside those of the others.
func (s *served) list(configuration string, b result.Bench) {
	if s != nil {
		s.benches[configuration] = b
		s.page.ListRuns(live.RowsOf(s.benches))
	}
}

// offer has the record in dir, and its report, be fetched while it is served.
func (s *served) offer(dir string) {
	if s == nil {
		return
	}
	s.server.Handle("GET /"+reportFile, func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, filepath.Join(dir, reportFile))
	})
	s.server.Handle("GET /record"+result.ArchiveExt, func(w http.ResponseWriter, _ *http.Request) {
		if err := result.Pack(w, dir); err != nil {
			s.doing("send the record: %v", err)
		}
	})
}

// doing says what the command is at besides.
func (s *served) doing(format string, args ...any) {
	if s != nil {
		s.page.Doing(format, args...)
	}
}

// found shows what the runs so far come to.
func (s *served) found(page report.Page) error {
	if s == nil {
		return nil
	}
	part, err := page.First()
	if err == nil {
		s.page.Found(part)
	}
	return err
}

// close ends the serving, and says so on the page.
func (s *served) close() {
	if s == nil {
		return
	}
	text := "the command has ended"
	if s.record != "" {
		text += "; its record is in " + s.record
	}
	s.page.End(text)
	s.server.Close()
}

// push pushes the figures of a run that has been judged, where that is asked for. The run counts
// all the same where it fails.
func (f *metricsFlags) push(i *interrupts, run *runs.Run) {
	if f.pushgateway == "" {
		return
	}
	ctx := i.Soft
	if ctx.Err() != nil { // the first Ctrl-C ended the run
		ctx = i.Hard
	}
	if err := metrics.Push(ctx, f.pushgateway, run.Options().RunID, collector(run)); err != nil {
		warn(i.stderr, "%s", redact(err.Error()))
	}
}
