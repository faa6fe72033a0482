package monitor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/api"
	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
)

// virtual are Linux's devices that hold no data of their own, or hold it in memory: what lies on others counts there.
var virtual = []string{"loop", "ram", "zram", "dm-", "md", "bcache", "drbd", "zd", "sr", "fd"}

// Prometheus is a server that has observed the machines under test by node_exporter.
type Prometheus struct{ api v1.API }

// NewPrometheus makes a client of the server at a URL, without connecting.
func NewPrometheus(url string) (*Prometheus, error) {
	client, err := api.NewClient(api.Config{Address: url, RoundTripper: bounded{api.DefaultRoundTripper}})
	if err != nil {
		return nil, fmt.Errorf("read Prometheus URL: %w", err)
	}
	return &Prometheus{v1.NewAPI(client)}, nil
}

// bounded gives up an answer that is longer than any that ds2 asks for.
type bounded struct{ http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		response.Body = http.MaxBytesReader(nil, response.Body, maxAnswer)
	}
	return response, err
}

// maxAnswer is what an answer of Prometheus may have in bytes: 11,000 points, the most that it gives, of two hundred items.
const maxAnswer = 64 << 20

// nodeColumns are the record's columns as queries. %s stands for the selector of the machine; the label named tells the
// items of a column apart. irate takes the last two scrapes, so a value stands for the time between them.
var nodeColumns = []struct{ column, label, query string }{
	{DiskReads, "device", `irate(node_disk_reads_completed_total{%s}[5m])`},
	{DiskWrites, "device", `irate(node_disk_writes_completed_total{%s}[5m])`},
	{DiskReadBytes, "device", `irate(node_disk_read_bytes_total{%s}[5m])`},
	{DiskWrittenBytes, "device", `irate(node_disk_written_bytes_total{%s}[5m])`},
	{DiskReadTime, "device", `irate(node_disk_read_time_seconds_total{%[1]s}[5m]) / irate(node_disk_reads_completed_total{%[1]s}[5m])`},
	{DiskWriteTime, "device", `irate(node_disk_write_time_seconds_total{%[1]s}[5m]) / irate(node_disk_writes_completed_total{%[1]s}[5m])`},
	{DiskBusy, "device", `irate(node_disk_io_time_seconds_total{%s}[5m])`},
	{DiskQueue, "device", `irate(node_disk_io_time_weighted_seconds_total{%s}[5m])`},
	{CPUBusy, "", `1 - avg(sum by (cpu) (irate(node_cpu_seconds_total{%s, mode=~"idle|iowait"}[5m])))`},
	{CPUIOWait, "", `avg(irate(node_cpu_seconds_total{%s, mode="iowait"}[5m]))`},
	{CPUBusy, "cpu", `1 - sum by (cpu) (irate(node_cpu_seconds_total{%s, mode=~"idle|iowait"}[5m]))`},
	{CPUSteal, "", `avg(irate(node_cpu_seconds_total{%s, mode="steal"}[5m]))`},
	{CPUFrequency, "", `avg(node_cpu_scaling_frequency_hertz{%s})`},
	{CPUThrottles, "", `sum(irate(node_cpu_core_throttles_total{%[1]s}[5m])) + sum(irate(node_cpu_package_throttles_total{%[1]s}[5m]))`},
	{Temperature, "", `max(node_thermal_zone_temp{%s})`},
	{MemoryAvailable, "", `node_memory_MemAvailable_bytes{%s}`},
	{NetworkReceived, "device", `irate(node_network_receive_bytes_total{%s, device!="lo"}[5m])`},
	{NetworkSent, "device", `irate(node_network_transmit_bytes_total{%s, device!="lo"}[5m])`},
	{NetworkUsed, "device", `(irate(node_network_receive_bytes_total{%[1]s}[5m]) > irate(node_network_transmit_bytes_total{%[1]s}[5m])` +
		` or irate(node_network_transmit_bytes_total{%[1]s}[5m])) / (node_network_speed_bytes{%[1]s} > 0)`},
}

// Fill puts the counters of one machine into the rows of t. The instance is node_exporter's, as host:port or the host
// alone. Without devices every drive counts that node_exporter shows.
func (p *Prometheus) Fill(ctx context.Context, t *Table, instance string, devices []string) error {
	machine := fmt.Sprintf("instance=~%q", regexp.QuoteMeta(instance)+"(:[0-9]+)?")
	disks := fmt.Sprintf(`, device!~"(%s).*|nvme\\d+c\\d+n\\d+"`, strings.Join(virtual, "|"))
	if len(devices) > 0 {
		disks = fmt.Sprintf(", device=~%q", strings.Join(devices, "|"))
	}
	found := false
	for _, c := range nodeColumns {
		selector := machine
		if strings.HasPrefix(c.column, "disk.") {
			selector += disks
		}
		all, err := p.query(ctx, fmt.Sprintf(c.query, selector), t.Rows)
		if err != nil {
			return fmt.Errorf("query Prometheus for %s: %w", c.column, err)
		}
		for _, one := range all {
			found = true
			t.Set(ItemColumn(c.column, string(one.labels[model.LabelName(c.label)])), one.series)
		}
	}
	if !found {
		return fmt.Errorf("query Prometheus: it holds nothing of a node_exporter with instance %q for the time of the run", instance)
	}
	return nil
}

// FillPower puts watts into the rows of t, from a query that gives one series.
func (p *Prometheus) FillPower(ctx context.Context, t *Table, query string) error {
	all, err := p.query(ctx, query, t.Rows)
	if err != nil {
		return fmt.Errorf("query Prometheus for power: %w", err)
	}
	if len(all) != 1 {
		return fmt.Errorf("query Prometheus for power: %q gives %d series; want one, such as sum(…)", query, len(all))
	}
	t.Set(Power, all[0].series)
	return nil
}

type labelled struct {
	labels model.Metric
	series Series
}

// span is how much of a run is asked for at once: Prometheus gives at most 11,000 points a series.
const span = 10_000 * Interval

// query evaluates an expression at each second from the first row to the last, and returns the series in the order of their labels.
func (p *Prometheus) query(ctx context.Context, query string, rows []Row) ([]labelled, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	series := map[string]*labelled{}
	end := rows[len(rows)-1].Time
	for from := rows[0].Time; !from.After(end); from = from.Add(span) {
		to := from.Add(span - Interval)
		if to.After(end) {
			to = end
		}
		value, _, _, err := p.api.QueryRange(ctx, query, v1.Range{Start: from, End: to, Step: Interval})
		if err != nil {
			return nil, err
		}
		matrix, ok := value.(model.Matrix)
		if value == nil {
			return nil, errors.New("it answers with nothing")
		}
		if !ok {
			return nil, fmt.Errorf("it answers with a %s, not with series over time", value.Type())
		}
		for _, stream := range matrix {
			if stream == nil {
				return nil, errors.New("it answers with null for a series")
			}
			key := stream.Metric.String()
			if series[key] == nil {
				series[key] = &labelled{labels: stream.Metric}
			}
			for _, v := range stream.Values {
				if f := float64(v.Value); !math.IsNaN(f) {
					series[key].series = append(series[key].series, Point{v.Timestamp.Time(), f})
				}
			}
		}
	}
	var keys []string
	for key := range series {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	all := make([]labelled, len(keys))
	for i, key := range keys {
		all[i] = *series[key]
	}
	return all, nil
}

// Machine describes a machine as its node_exporter does at a time; what it does not tell stays empty.
func (p *Prometheus) Machine(ctx context.Context, instance string, at time.Time) (Machine, error) {
	selector := fmt.Sprintf("{instance=~%q}", regexp.QuoteMeta(instance)+"(:[0-9]+)?")
	var m Machine
	for metric, take := range map[string]func(model.Metric, float64){
		"node_uname_info" + selector: func(l model.Metric, _ float64) {
			m.Hostname, m.Kernel = string(l["nodename"]), string(l["release"])
		},
		"node_os_info" + selector: func(l model.Metric, _ float64) { m.System = string(l["pretty_name"]) },
		"node_memory_MemTotal_bytes" + selector: func(_ model.Metric, v float64) {
			m.MemoryBytes = int64(v)
		},
		"count(count by (cpu) (node_cpu_seconds_total" + selector + "))": func(_ model.Metric, v float64) {
			m.Processors = int(v)
		},
	} {
		value, _, _, err := p.api.Query(ctx, metric, at)
		if err != nil {
			return m, fmt.Errorf("query Prometheus for the machine: %w", err)
		}
		if vector, ok := value.(model.Vector); ok && len(vector) > 0 && vector[0] != nil {
			take(vector[0].Metric, float64(vector[0].Value))
		}
	}
	return m, nil
}
