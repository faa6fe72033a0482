package monitor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"ds2/internal/outside"
	"ds2/internal/store"
)

// Exporter is a node_exporter or windows_exporter on a machine under test. It is asked itself, once
// a second, and needs no Prometheus beside it.
type Exporter struct {
	Name    string // its host:port, which tells the machines of several apart
	Machine Machine

	url   *url.URL
	kind  *exporterKind
	first exposition
}

// maxExposition is what an exporter's answer may have in bytes.
const maxExposition = 32 << 20

// OpenExporter asks the exporter at a URL such as http://db1:9100/metrics what it shows. Of what it
// shows, only the collectors that columns are made of are asked from then on, where it says which
// it has.
func OpenExporter(ctx context.Context, address string) (*Exporter, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("write the exporter's URL as http://host:9100/metrics")
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/metrics"
	}
	e := &Exporter{Name: u.Host, url: u}
	if e.first, err = e.scrape(ctx); err != nil {
		return nil, err
	}
	known := slices.IndexFunc(exporterKinds, func(k *exporterKind) bool {
		return e.first[k.probe] != nil
	})
	if known < 0 {
		return nil, fmt.Errorf(
			"%s shows nothing of a node_exporter or windows_exporter: neither %s nor %s",
			u.Redacted(),
			nodeExporter.probe,
			windowsExporter.probe,
		)
	}
	e.kind = exporterKinds[known]
	e.Machine = e.kind.machine(e.first)
	e.narrow(ctx)
	return e, nil
}

// narrow has the exporter asked for no more than is used: all that it knows, each second, is work
// for the machine under test.
func (e *Exporter) narrow(ctx context.Context) {
	if e.url.RawQuery != "" {
		return // the user has chosen
	}
	query := url.Values{}
	for _, m := range e.first[e.kind.success] {
		if collector := string(m.Metric["collector"]); m.Value == 1 &&
			slices.Contains(e.kind.collectors, collector) {
			query.Add("collect[]", collector)
		}
	}
	if len(query) == 0 {
		return
	}
	e.url.RawQuery = query.Encode()
	if _, err := e.scrape(ctx); err != nil { // such as through a proxy that knows no such question
		e.url.RawQuery = ""
	}
}

// scrape asks the exporter once.
func (e *Exporter) scrape(ctx context.Context) (exposition, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, e.url.String(), nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "text/plain;version=0.0.4")
	client := http.Client{Timeout: outside.Scrape}
	response, err := client.Do(request)
	if e, ok := errors.AsType[*url.Error](
		err,
	); ok { // which has the query, in which a token may stand
		err = fmt.Errorf("ask %s: %w", request.URL.Host, e.Err)
	}
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers with %s", request.URL.Redacted(), response.Status)
	}
	families, err := parseExposition(response.Body)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", request.URL.Redacted(), err)
	}
	return families, nil
}

// parseExposition reads what an exporter shows, in Prometheus's text format.
func parseExposition(text io.Reader) (exposition, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(io.LimitReader(text, maxExposition))
	if err != nil {
		return nil, err
	}
	samples, err := expfmt.ExtractSamples(
		&expfmt.DecodeOptions{},
		slices.Collect(maps.Values(families))...)
	x := make(exposition, len(families))
	for _, s := range samples {
		name := string(s.Metric[model.MetricNameLabel])
		x[name] = append(x[name], s)
	}
	return x, err
}

// exposition is what an exporter shows at a time: of each name the metrics, with their labels.
type exposition map[string]model.Vector

// by gives the values of a name by one of its labels.
func (x exposition) by(name, label string) map[string]float64 {
	values := map[string]float64{}
	for _, m := range x[name] {
		values[string(m.Metric[model.LabelName(label)])] = float64(m.Value)
	}
	return values
}

// text is a label of the first metric of a name; empty where there is none.
func (x exposition) text(name, label string) string {
	if len(x[name]) == 0 {
		return ""
	}
	return string(x[name][0].Metric[model.LabelName(label)])
}

// fold makes one value of those of a name that fit; NaN of none.
func (x exposition) fold(
	name string,
	fits func(labels model.Metric) bool,
	f func(a, b float64) float64,
) float64 {
	all := math.NaN()
	for _, m := range x[name] {
		v := float64(m.Value)
		switch {
		case fits != nil && !fits(m.Metric):
		case math.IsNaN(all):
			all = v
		default:
			all = f(all, v)
		}
	}
	return all
}

func (x exposition) sum(name string, fits func(labels model.Metric) bool) float64 {
	return x.fold(name, fits, func(a, b float64) float64 { return a + b })
}

// Source reads the machine: the columns that the machine itself would give, of these drives or,
// without any, all. Where there are several machines, each column has the exporter's name before
// its item, and the CPUs are not told apart.
func (e *Exporter) Source(
	devices []string,
	several bool,
	flushes map[string]flushing,
) (Source, error) {
	// The time of all CPUs, idle ones included, goes on as long as the exporter itself is asked and
	// no cache before it.
	shown := math.NaN()
	show := func(ctx context.Context) (counted, error) {
		now, err := e.scrape(ctx)
		was := shown
		if err == nil {
			shown = now.sum(e.kind.probe, nil)
		}
		if err == nil && shown == was {
			return counted{}, errStandsStill
		}
		return e.kind.counted(now), err
	}
	src, err := e.kind.source(e.kind.counted(e.first), devices, flushes, show)
	if err != nil {
		return Source{}, fmt.Errorf("%s %w", e.Name, err)
	}
	src.Name = "exporter of " + e.Name
	if !several {
		return src, nil
	}
	for i := range src.Figures {
		f := &src.Figures[i]
		f.Label, f.Item = cmp.Or(f.Label, "machine"), e.item(f.Item)
	}
	src.Columns = slices.DeleteFunc(src.Columns, func(c Column) bool {
		column, item := SplitColumn(c.Name)
		return column == CPUBusy && item != ""
	})
	for i, c := range src.Columns {
		column, item := SplitColumn(c.Name)
		src.Columns[i].Name = ItemColumn(column, e.item(item))
	}
	return src, nil
}

// item is an item's name among those of several machines.
func (e *Exporter) item(own string) string {
	if own == "" {
		return e.Name
	}
	return e.Name + "." + own
}

// openExporters opens the exporters of the machines under test, which then stand in the record as
// one machine.
func (w *Observer) openExporters(ctx context.Context) error {
	fail := func(err error) error { return &OptionError{"exporter", err} }
	several := len(w.o.Exporters) > 1
	for _, address := range w.o.Exporters {
		e, err := OpenExporter(ctx, address)
		if err != nil {
			return fail(err)
		}
		if slices.ContainsFunc(w.exporters, func(other *Exporter) bool {
			return other.Name == e.Name
		}) {
			return fail(fmt.Errorf("%s is given twice", e.Name))
		}
		drives := e.drives(w.devices, w.roles)
		src, err := e.Source(w.devices, several, w.withoutJournals(drives))
		if err != nil {
			return &OptionError{"devices", err}
		}
		if err := w.sample(ctx, drives, src); err != nil {
			return fail(err)
		}
		w.exporters = append(w.exporters, e)
		if w.Machine == nil {
			w.Machine = new(e.Machine)
		} else {
			w.Machine.Hostname += ", " + e.Machine.Hostname
			w.Machine.Processors += e.Machine.Processors
			w.Machine.MemoryBytes += e.Machine.MemoryBytes
		}
		for _, drive := range drives {
			if several {
				drive.Name = e.item(drive.Name)
				drive.Machine = e.Name
			}
			w.Machine.Drives = append(w.Machine.Drives, drive)
		}
	}
	return nil
}

// drives are those that were asked for or, without any, all that the exporter shows.
func (e *Exporter) drives(devices []string, roles map[string][]Role) (all []Drive) {
	if len(devices) == 0 {
		devices = drivesAmong(inOrder(e.kind.disks(e.first)))
	}
	for _, name := range devices {
		drive := Drive{Name: name, Roles: roles[name]}
		for _, m := range e.first["node_disk_info"] { // Windows has none
			if string(m.Metric["device"]) == name {
				drive.Model = string(m.Metric["model"])
			}
		}
		all = append(all, drive)
	}
	return all
}

// exporterOf is the exporter of a target's machine; nil where none is known to be.
func (w *Observer) exporterOf(t store.Database) *Exporter {
	for _, e := range w.exporters {
		if len(w.exporters) == 1 || strings.EqualFold(e.url.Hostname(), HostOf(t.Label())) {
			return e
		}
	}
	return nil
}
