package sampling

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

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"ds2/internal/outside"
	"ds2/internal/topology"
)

// Exporter is a node_exporter or windows_exporter on a machine under test, or the CSI driver of EBS
// that tells of its volumes. It is asked itself, once
// a second, and needs no Prometheus beside it.
type Exporter struct {
	Name    string // its host:port, which tells the machines of several apart
	Machine topology.Machine
	URL     *url.URL // that is asked

	kind  *exporterKind
	first exposition
}

// What only ds2's own exporter shows: of each directory that it was given the drives that it lies
// on, and what the server of a data directory may use.
const (
	DirectoryInfo     = "ds2_directory_info" // directory, device
	ServerMemoryLimit = "ds2_server_memory_limit_bytes"
	ServerCPULimit    = "ds2_server_cpu_limit"
)

// Named are the drives that the exporter tells to lie under its directories; none: it has none.
func (e *Exporter) Named() []string { return inOrder(e.first.valuesBy(DirectoryInfo, "device")) }

// DrivesOf are the drives that a file of the machine lies on, as far as the exporter was told of a
// directory above it, or of one only: a container may have it under another path.
func (e *Exporter) DrivesOf(file string) (drives []string) {
	byDirectory := map[string][]string{}
	for _, m := range e.first[DirectoryInfo] {
		dir := string(m.Metric["directory"])
		byDirectory[dir] = append(byDirectory[dir], string(m.Metric["device"]))
	}
	longest := ""
	for dir, devices := range byDirectory {
		above := topology.Within(file, dir)
		if above && len(dir) >= len(longest) || !above && len(byDirectory) == 1 {
			longest = dir
			drives = devices
		}
	}
	return drives
}

// Container is what the server on the machine may use of it, where the exporter tells.
func (e *Exporter) Container() topology.Container {
	limit := func(name string) float64 { return orZero(foldValues(e.first[name], math.Min)) }
	return topology.Container{
		MemoryBytes: int64(limit(ServerMemoryLimit)),
		Processors:  limit(ServerCPULimit),
	}
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
	e := &Exporter{Name: u.Host, URL: u}
	if e.first, err = e.scrape(ctx); err != nil {
		return nil, err
	}
	known := slices.IndexFunc(exporterKinds, func(k *exporterKind) bool {
		return e.first[k.metric(processors).name] != nil
	})
	if known < 0 && len(volumesDriver.read(e.first, figureKinds["limits"])) > 0 {
		return e, nil
	}
	if known < 0 {
		return nil, fmt.Errorf(
			"%s shows nothing of a node_exporter or windows_exporter: neither %s nor %s",
			u.Redacted(), nodeExporter.metric(processors).name,
			windowsExporter.metric(processors).name)
	}
	e.kind = exporterKinds[known]
	e.Machine = e.kind.machine(e.first)
	e.narrowQuery(ctx)
	return e, nil
}

// OfMachine tells that the exporter shows a machine, and not volumes only.
func (e *Exporter) OfMachine() bool { return e.kind != nil }

// narrowQuery has the exporter asked for no more than is used: all that it knows, each second, is
// work for the machine under test.
func (e *Exporter) narrowQuery(ctx context.Context) {
	if e.URL.RawQuery != "" {
		return // the user has chosen
	}
	query := url.Values{}
	for _, m := range e.first[e.kind.metric("success").name] {
		collector := string(m.Metric["collector"])
		if m.Value == 1 && slices.Contains(e.kind.metrics["collectors"], metric{name: collector}) {
			query.Add("collect[]", collector)
		}
	}
	if len(query) == 0 {
		return
	}
	e.URL.RawQuery = query.Encode()
	if _, err := e.scrape(ctx); err != nil { // such as through a proxy that knows no such question
		e.URL.RawQuery = ""
	}
}

// scrape asks the exporter once.
func (e *Exporter) scrape(ctx context.Context) (exposition, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, e.URL.String(), nil)
	if err != nil {
		return nil, err
	}
	// The plain text that every exporter can write, and that needs no more than a parser.
	request.Header.Set("Accept", "text/plain;version=0.0.4")
	client := http.Client{Timeout: outside.Scrape}
	response, err := client.Do(request)
	// An *url.Error has the query, in which a token may stand.
	if e, ok := errors.AsType[*url.Error](err); ok {
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

// valuesBy gives the values of a name by one of its labels.
func (x exposition) valuesBy(name, label string) map[string]float64 {
	values := map[string]float64{}
	for _, m := range x[name] {
		values[string(m.Metric[model.LabelName(label)])] = float64(m.Value)
	}
	return values
}

// foldValues makes one value of those of some metrics; NaN of none.
func foldValues(metrics model.Vector, f func(a, b float64) float64) float64 {
	all := math.NaN()
	for _, m := range metrics {
		if math.IsNaN(all) {
			all = float64(m.Value)
		} else {
			all = f(all, float64(m.Value))
		}
	}
	return all
}

// sumValues is the sum of some metrics; NaN of none.
func sumValues(metrics model.Vector) float64 {
	return foldValues(metrics, func(a, b float64) float64 { return a + b })
}

// Source reads the machine: the columns that the machine itself would give, of these drives or,
// without any, all. Where there are several machines, each column has the exporter's name before
// its item, and the CPUs are not told apart.
func (e *Exporter) Source(
	devices []string,
	several bool,
	flushes map[string]topology.Flushing,
) (Source, error) {
	// The time of all CPUs, idle ones included, goes on as long as the exporter itself is asked and
	// no cache before it.
	shown := math.NaN()
	show := func(ctx context.Context) (counted, error) {
		now, err := e.scrape(ctx)
		was := shown
		if err == nil {
			shown = sumValues(now[e.kind.metric(processors).name])
		}
		if err == nil && shown == was {
			return counted{}, errStandsStill
		}
		return e.kind.counted(now), err
	}
	src, err := e.kind.newSource(e.kind.counted(e.first), devices, flushes, show)
	if err != nil {
		return Source{}, fmt.Errorf("%s %w", e.Name, err)
	}
	src.Name = "exporter of " + e.Name
	if !several {
		return src, nil
	}
	for i := range src.Figures {
		f := &src.Figures[i]
		f.Label = cmp.Or(f.Label, "machine")
		f.Item = e.Item(f.Item)
	}
	all := src.Columns
	src.Columns = nil
	for _, c := range all {
		column, item := SplitColumn(c.Name)
		if column != CPUBusy || item == "" {
			c.Name = ItemColumn(column, e.Item(item))
			src.Columns = append(src.Columns, c)
		}
	}
	return src, nil
}

// Item is an item's name among those of several machines.
func (e *Exporter) Item(own string) string {
	if own == "" {
		return e.Name
	}
	return e.Name + "." + own
}

// Drives are those that were asked for or, without any, all that the exporter shows.
func (e *Exporter) Drives(
	devices []string,
	roles map[string][]topology.Role,
) (all []topology.Drive) {
	if len(devices) == 0 {
		devices = topology.DrivesAmong(inOrder(e.kind.disks(e.first)))
	}
	for _, name := range devices {
		drive := topology.Drive{Name: name, Roles: roles[name]}
		for _, m := range e.first["node_disk_info"] { // Windows has none
			if string(m.Metric["device"]) == name {
				drive.Model = string(m.Metric["model"])
				drive.Serial = string(m.Metric["serial"])
			}
		}
		all = append(all, drive)
	}
	return all
}

// Free is how many bytes are free on the file system of a file of the machine, and which that is;
// false where that is not known.
func (e *Exporter) Free(file string) (bytes int64, mount string, known bool) {
	free, mount := e.kind.findRoom(e.first, file)
	return int64(orZero(free)), mount, !math.IsNaN(free)
}
