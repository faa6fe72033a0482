package monitor

import (
	"context"
	"errors"
	"fmt"
	"maps"
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

// Prometheus is a server that has observed the machines under test by their exporters.
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

// maxAnswer is what an answer of Prometheus may have in bytes: ten minutes of scrapes each second of a machine with some hundred
// processors.
const maxAnswer = 64 << 20

// observed is a machine that an exporter observes for a Prometheus.
type observed struct {
	kind     *exporterKind
	selector string     // of its metrics
	shown    exposition // at a time
}

// find looks for a machine at a time. The instance is its exporter's, as host:port or the host alone.
func (p *Prometheus) find(ctx context.Context, instance string, at time.Time) (o observed, err error) {
	value, _, _, err := p.api.Query(ctx, fmt.Sprintf("{__name__=~%q, instance=~%q}", nodeExporter.metrics+"|"+windowsExporter.metrics, regexp.QuoteMeta(instance)+"(:[0-9]+)?"), at)
	if err != nil {
		return o, err
	}
	vector, _ := value.(model.Vector)
	vector = slices.DeleteFunc(vector, func(s *model.Sample) bool { return s == nil })
	if len(vector) == 0 {
		return o, nil
	}
	// A machine may be observed twice, under two names of a job: one counts.
	same := func(s *model.Sample) string {
		return fmt.Sprintf("instance=%q, job=%q", string(s.Metric["instance"]), string(s.Metric["job"]))
	}
	one := same(slices.MinFunc(vector, func(a, b *model.Sample) int { return strings.Compare(same(a), same(b)) }))
	o.shown = exposition{}
	for _, s := range vector {
		if same(s) == one {
			o.shown.take(s.Metric, float64(s.Value))
		}
	}
	if o.kind = kindOf(o.shown); o.kind != nil {
		o.selector = fmt.Sprintf("{__name__=~%q, %s}", o.kind.metrics, one)
	}
	return o, nil
}

// take adds a metric of Prometheus.
func (x exposition) take(m model.Metric, value float64) {
	labels := make(map[string]string, len(m))
	for name, v := range m {
		labels[string(name)] = string(v)
	}
	x.add(labels[model.MetricNameLabel], labels, value)
}

// scrapes calls f with what the exporter showed at each scrape after from and up to to, in their order.
func (p *Prometheus) scrapes(ctx context.Context, selector string, from, to time.Time, f func(at time.Time, shown exposition) error) error {
	value, _, _, err := p.api.Query(ctx, fmt.Sprintf("%s[%dms]", selector, to.Sub(from).Milliseconds()), to)
	if err != nil {
		return err
	}
	matrix, ok := value.(model.Matrix)
	if !ok {
		return errors.New("it answers with something else than series over time")
	}
	all := map[time.Time]exposition{}
	for _, stream := range matrix {
		if stream == nil {
			return errors.New("it answers with null for a series")
		}
		for _, v := range stream.Values {
			at := v.Timestamp.Time()
			if all[at] == nil {
				all[at] = exposition{}
			}
			all[at].take(stream.Metric, float64(v.Value))
		}
	}
	for _, at := range slices.SortedFunc(maps.Keys(all), time.Time.Compare) {
		if err := f(at, all[at]); err != nil {
			return err
		}
	}
	return nil
}

const (
	span     = 10 * time.Minute // of scrapes that are asked for at once
	lookback = 5 * time.Minute  // how far two scrapes may be apart
)

// Fill puts the counters of one machine into the rows of t: what came between two scrapes into all rows between them. The instance
// is that of its exporter, as host:port or the host alone. Without devices every drive counts that the exporter shows.
func (p *Prometheus) Fill(ctx context.Context, t *Table, instance string, devices []string) error {
	if len(t.Rows) == 0 {
		return nil
	}
	begin, end := t.Rows[0].Time, t.Rows[len(t.Rows)-1].Time
	o, err := p.find(ctx, instance, end)
	if err == nil && o.kind == nil {
		o, err = p.find(ctx, instance, begin)
	}
	if err != nil {
		return fmt.Errorf("query Prometheus: %w", err)
	}
	if o.kind == nil {
		return fmt.Errorf("query Prometheus: it holds nothing of an exporter with instance %q for the time of the run", instance)
	}
	var now exposition
	src, err := o.kind.source(o.shown, devices, func() exposition { return now })
	if err != nil {
		return &OptionError{"devices", fmt.Errorf("the exporter in Prometheus %w", err)}
	}
	places := make([]int, len(src.Columns))
	for i, c := range src.Columns {
		places[i] = t.place(c.Name)
	}
	rows := t.Rows
	var was []float64
	var wasAt time.Time
	fill := func(at time.Time, shown exposition) error {
		if !at.After(wasAt) {
			return nil // of the last span
		}
		now = shown
		values := slices.Repeat([]float64{math.NaN()}, len(src.Figures))
		if err := src.Read(ctx, values); err != nil {
			return err
		}
		for ; len(rows) > 0 && !rows[0].Time.After(at); rows = rows[1:] {
			for i, c := range src.Columns {
				if was != nil && at.Sub(wasAt) <= lookback {
					rows[0].Values[places[i]] = c.derive(at.Sub(wasAt).Seconds(), was, values)
				}
			}
		}
		was, wasAt = values, at
		return nil
	}
	for from := begin.Add(-lookback); from.Before(end); from = from.Add(span) {
		if err := p.scrapes(ctx, o.selector, from, from.Add(span), fill); err != nil {
			return fmt.Errorf("query Prometheus: %w", err)
		}
	}
	return nil
}

// FillPower puts watts into the rows of t, from a query that gives one series.
func (p *Prometheus) FillPower(ctx context.Context, t *Table, query string) error {
	series := map[string]Series{}
	for rows := t.Rows; len(rows) > 0; {
		part := rows[:min(len(rows), 10_000)] // Prometheus gives at most 11,000 points a series
		rows = rows[len(part):]
		value, _, _, err := p.api.QueryRange(ctx, query, v1.Range{Start: part[0].Time, End: part[len(part)-1].Time, Step: Interval})
		if err != nil {
			return fmt.Errorf("query Prometheus for power: %w", err)
		}
		matrix, ok := value.(model.Matrix)
		if !ok || slices.Contains(matrix, nil) {
			return errors.New("query Prometheus for power: it answers with something else than series over time")
		}
		for _, stream := range matrix {
			key := stream.Metric.String()
			for _, v := range stream.Values {
				series[key] = append(series[key], Point{v.Timestamp.Time(), float64(v.Value)})
			}
		}
	}
	if len(series) != 1 {
		return fmt.Errorf("query Prometheus for power: %q gives %d series; want one, such as sum(…)", query, len(series))
	}
	for _, one := range series {
		t.Set(Power, one)
	}
	return nil
}
