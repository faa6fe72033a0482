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
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"ds2/internal/store"
)

// Exporter is a node_exporter or windows_exporter on a machine under test. It is asked itself, once a second, and needs
// no Prometheus beside it.
type Exporter struct {
	Name    string // its host:port, which tells the machines of several apart
	Machine Machine

	url    string
	client *http.Client
	kind   *exporterKind
	first  exposition
}

// What an exporter may take of a run: so long for an answer, of so many bytes.
const (
	exporterTime  = 5 * time.Second
	maxExposition = 32 << 20
)

// OpenExporter asks the exporter at a URL such as http://db1:9100/metrics what it shows. Of what it shows, only the
// collectors that columns are made of are asked from then on, where it says which it has.
func OpenExporter(ctx context.Context, address string) (*Exporter, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("write the exporter's URL as http://host:9100/metrics")
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/metrics"
	}
	e := &Exporter{Name: u.Host, url: u.String(), client: &http.Client{Timeout: exporterTime}}
	if e.first, err = e.scrape(ctx); err != nil {
		return nil, err
	}
	if e.kind = kindOf(e.first); e.kind == nil {
		return nil, fmt.Errorf("%s shows nothing of a node_exporter or windows_exporter: neither %s nor %s",
			u.Redacted(), nodeExporter.probe, windowsExporter.probe)
	}
	e.Machine = e.kind.machine(e.first)
	return e, e.narrow(ctx, u)
}

// narrow has the exporter asked for no more than is used: all that it knows, each second, is work for the machine under
// test.
func (e *Exporter) narrow(ctx context.Context, u *url.URL) error {
	if u.RawQuery != "" {
		return nil // the user has chosen
	}
	query := url.Values{}
	for _, m := range e.first[e.kind.success] {
		if collector := m.labels["collector"]; m.value == 1 && slices.Contains(e.kind.collectors, collector) {
			query.Add("collect[]", collector)
		}
	}
	if len(query) == 0 {
		return nil
	}
	all := e.url
	u.RawQuery = query.Encode()
	e.url = u.String()
	if _, err := e.scrape(ctx); err != nil { // such as through a proxy that knows no such question
		e.url = all
	}
	return ctx.Err()
}

// scrape asks the exporter once.
func (e *Exporter) scrape(ctx context.Context) (exposition, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, e.url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "text/plain;version=0.0.4")
	response, err := e.client.Do(request)
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
	samples, err := expfmt.ExtractSamples(&expfmt.DecodeOptions{}, slices.Collect(maps.Values(families))...)
	x := make(exposition, len(families))
	for _, s := range samples {
		labels := make(map[string]string, len(s.Metric))
		for name, value := range s.Metric {
			labels[string(name)] = string(value)
		}
		x.add(labels[model.MetricNameLabel], labels, float64(s.Value))
	}
	return x, err
}

// exposition is what an exporter shows at a time: of each name the metrics, with their labels.
type exposition map[string][]metric

type metric struct {
	labels map[string]string
	value  float64
}

func (x exposition) add(name string, labels map[string]string, value float64) {
	x[name] = append(x[name], metric{labels, value})
}

// by gives the values of a name by one of its labels.
func (x exposition) by(name, label string) map[string]float64 {
	values := map[string]float64{}
	for _, m := range x[name] {
		values[m.labels[label]] = m.value
	}
	return values
}

// labels are those of the first metric of a name.
func (x exposition) labels(name string) map[string]string {
	if len(x[name]) == 0 {
		return nil
	}
	return x[name][0].labels
}

// fold makes one value of those of a name that fit; NaN of none.
func (x exposition) fold(name string, fits func(labels map[string]string) bool, f func(a, b float64) float64) float64 {
	all := math.NaN()
	for _, m := range x[name] {
		switch {
		case fits != nil && !fits(m.labels):
		case math.IsNaN(all):
			all = m.value
		default:
			all = f(all, m.value)
		}
	}
	return all
}

func (x exposition) sum(name string, fits func(labels map[string]string) bool) float64 {
	return x.fold(name, fits, func(a, b float64) float64 { return a + b })
}

// Source reads the machine: the columns that the machine itself would give, of these drives or, without any, all. Where
// there are several machines, each column has the exporter's name before its item, and the processors are not told
// apart.
func (e *Exporter) Source(devices []string, several bool) (Source, error) {
	src, err := e.kind.source(e.first, devices, e.scrape)
	if err != nil {
		return Source{}, fmt.Errorf("%s %w", e.Name, err)
	}
	src.Name = "exporter of " + e.Name
	if several {
		e.setApart(&src)
	}
	return src, nil
}

// setApart puts the exporter's name into all names.
func (e *Exporter) setApart(src *Source) {
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
}

// item is an item's name among those of several machines.
func (e *Exporter) item(own string) string {
	if own == "" {
		return e.Name
	}
	return e.Name + "." + own
}

// openExporters opens the exporters of the machines under test, which then stand in the record as one machine.
func (w *Observer) openExporters(ctx context.Context) error {
	fail := func(err error) error { return &OptionError{"exporter", err} }
	several := len(w.o.Exporters) > 1
	for _, address := range w.o.Exporters {
		e, err := OpenExporter(ctx, address)
		if err != nil {
			return fail(err)
		}
		if slices.ContainsFunc(w.exporters, func(other *Exporter) bool { return other.Name == e.Name }) {
			return fail(fmt.Errorf("%s is given twice", e.Name))
		}
		src, err := e.Source(w.devices, several)
		if err != nil {
			return &OptionError{"devices", err}
		}
		if err := w.noteUncounted(ctx, src); err != nil {
			return fail(err)
		}
		w.exporters, w.Sources = append(w.exporters, e), append(w.Sources, src)
		for _, drive := range w.drives(e.kind, e.first) {
			if several {
				drive.Name, drive.Machine = e.item(drive.Name), e.Name
			}
			e.Machine.Drives = append(e.Machine.Drives, drive)
		}
		w.join(e.Machine)
	}
	return nil
}

// drives are those that were asked for or, without any, all that an exporter shows.
func (w *Observer) drives(kind *exporterKind, x exposition) (all []Drive) {
	devices := w.devices
	if len(devices) == 0 {
		devices = drivesAmong(inOrder(kind.disks(x)))
	}
	for _, name := range devices {
		all = append(all, Drive{Name: name, Model: kind.model(x, name), Roles: w.roles[name]})
	}
	return all
}

// join makes one machine of all: their names, and the sums of what they have.
func (w *Observer) join(m Machine) {
	if w.Machine == nil {
		w.Machine = &m
		return
	}
	all := w.Machine
	all.Hostname += ", " + m.Hostname
	all.Processors += m.Processors
	all.MemoryBytes += m.MemoryBytes
	all.Drives = append(all.Drives, m.Drives...)
}

// machineOf is the machine of a target; nil where nothing is known of it.
func (w *Observer) machineOf(t store.Database) *Machine {
	if len(w.exporters) < 2 {
		return w.Machine
	}
	if e := w.exporterOf(t); e != nil {
		return &e.Machine
	}
	return nil
}

// exporterOf is the exporter of a target's machine; nil where none is known to be.
func (w *Observer) exporterOf(t store.Database) *Exporter {
	for _, e := range w.exporters {
		if len(w.exporters) == 1 || strings.EqualFold(hostname(e.Name), HostOf(t.Label())) {
			return e
		}
	}
	return nil
}

// hostname is the host of host:port.
func hostname(address string) string { return (&url.URL{Host: address}).Hostname() }
