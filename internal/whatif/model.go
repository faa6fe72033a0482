package whatif

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"ds2/internal/atomicfile"
	"ds2/internal/device"
	"ds2/internal/measure"
)

// Format and Kind tell a model from other records.
const (
	Format = 1
	Kind   = "whatif"
)

// Level is of the intervals of predictions.
const Level = .90

// Model is what runs on a store showed of it.
type Model struct {
	Format     int       `json:"format"`
	Kind       string    `json:"kind"`
	KitVersion string    `json:"kit_version"`
	Start      time.Time `json:"start"`
	Store      string    `json:"store"` // engine, size and buffers
	Processors int       `json:"processors"`

	Demand       Demand        `json:"demand"`
	Coefficients []Coefficient `json:"coefficients"`    // with their 95 % intervals
	Scatter      float64       `json:"scatter"`         // standard deviation of the logarithm of OPM from the law
	Law          float64       `json:"law_error"`       // the same of the law on a drive that is not in the fit, beside what runs scatter
	Freedom      int           `json:"freedom"`         // degrees of it
	Inverse      matrix        `json:"inverse"`         // of the normal matrix of the logarithms of the demand
	Read         Range         `json:"read_latency_s"`  // in which the law was fitted
	Flush        Range         `json:"flush_latency_s"` // a write of the log with its flush
	Users        Range         `json:"users"`
	Runs         []Run         `json:"runs"`
	Checks       []Check       `json:"checks,omitempty"` // of drives that are not in the fit
	Refused      []Refusal     `json:"refused,omitempty"`
}

// Coefficient is what an order takes of something.
type Coefficient struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Range is from where to where something was seen.
type Range struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

func (r *Range) hold(v float64) {
	if r.Low == 0 || v < r.Low {
		r.Low = v
	}
	r.High = max(r.High, v)
}

func (r Range) holds(v float64) bool { return v >= r.Low && v <= r.High }

// Run is a run of the fit, and how far it lies from the law.
type Run struct {
	Drive    string  `json:"drive"`
	Users    int     `json:"users"`
	Read     float64 `json:"read_latency_s"`
	Flush    float64 `json:"flush_latency_s"`
	OPM      float64 `json:"opm"`
	Fitted   float64 `json:"fitted_opm"`
	Distance float64 `json:"distance_percent"`
}

// observed takes in the runs of the fit and the ranges that they span.
func (m *Model) observed(all []Observation) {
	for _, o := range all {
		b := m.Demand.solve(o.Drive, o.Users, m.Processors)
		m.Read.hold(b.ReadLatency)
		m.Flush.hold(o.Drive.Flush)
		m.Users.hold(float64(o.Users))
		m.Runs = append(m.Runs, Run{Drive: o.Drive.Name, Users: o.Users, Read: b.ReadLatency, Flush: o.Drive.Flush,
			OPM: o.OPM, Fitted: b.OPM(), Distance: 100 * (o.OPM/b.OPM() - 1)})
	}
}

// Prediction is what a store would do on a drive.
type Prediction struct {
	Drive       string  `json:"drive"`
	Users       int     `json:"users"`
	OPM         float64 `json:"opm"`
	Low         float64 `json:"low"` // of the 90 % interval
	High        float64 `json:"high"`
	ReadLatency float64 `json:"read_latency_s"` // at that rate
	Flush       float64 `json:"flush_latency_s"`
	// Where an order's time goes, in percent.
	Processor float64 `json:"processor_percent"`
	Read      float64 `json:"read_percent"`
	Commit    float64 `json:"commit_percent"`
	// Of OPM if reads, or flushes, took half as long, in percent; absent: that is outside the range.
	HalfRead  *float64 `json:"half_read_gain_percent,omitempty"`
	HalfFlush *float64 `json:"half_flush_gain_percent,omitempty"`
}

// Refusal is why nothing is predicted for a drive.
type Refusal struct {
	Drive string `json:"drive"`
	Users int    `json:"users"`
	Why   string `json:"why"`
}

func (r Refusal) Error() string { return fmt.Sprintf("%s with %d users: %s", r.Drive, r.Users, r.Why) }

// HeldBack names the largest part of an order's time.
func (p Prediction) HeldBack() string {
	switch max(p.Processor, p.Read, p.Commit) {
	case p.Read:
		return "reads"
	case p.Commit:
		return "log flushes"
	}
	return "processors"
}

// Predict says what so many users would do on a drive. The error is a Refusal.
func (m Model) Predict(d Drive, users int) (Prediction, error) {
	b := m.Demand.solve(d, users, m.Processors)
	refuse := func(format string, args ...any) (Prediction, error) {
		return Prediction{}, Refusal{Drive: d.Name, Users: users, Why: fmt.Sprintf(format, args...)}
	}
	ms := func(r Range) string { return fmt.Sprintf("%.3g to %.3g ms", 1e3*r.Low, 1e3*r.High) }
	switch last := d.Reads[len(d.Reads)-1]; {
	case !m.Users.holds(float64(users)):
		return refuse("fitted from %g to %g users", m.Users.Low, m.Users.High)
	case rises(d) && b.Orders*b.Read > float64(last.Depth):
		return refuse("%.0f reads would be under way at once, and the drive still did more at depth %d, its deepest: "+
			"measure it deeper", b.Orders*b.Read, last.Depth)
	case !m.Read.holds(b.ReadLatency):
		return refuse("fitted for reads of %s; this drive's would take %.3g ms", ms(m.Read), 1e3*b.ReadLatency)
	case !m.Flush.holds(d.Flush):
		return refuse("fitted for log flushes of %s; this drive's take %.3g ms", ms(m.Flush), 1e3*d.Flush)
	}
	p := Prediction{Drive: d.Name, Users: users, OPM: b.OPM(), ReadLatency: b.ReadLatency, Flush: d.Flush}
	half := m.half(d, users)
	p.Low, p.High = p.OPM/half, p.OPM*half
	whole := b.Processor + b.Read + b.Commit
	p.Processor, p.Read, p.Commit = 100*b.Processor/whole, 100*b.Read/whole, 100*b.Commit/whole
	gain := func(read, flush float64) *float64 {
		faster := d.faster(read, flush)
		f := m.Demand.solve(faster, users, m.Processors)
		if !m.Read.holds(f.ReadLatency) || !m.Flush.holds(faster.Flush) {
			return nil
		}
		return new(100 * (f.Orders/b.Orders - 1))
	}
	p.HalfRead, p.HalfFlush = gain(.5, 1), gain(1, .5)
	return p, nil
}

// half is the factor by which OPM may lie on either side: by the scatter of runs, as the demand is not known better,
// and as the law is off.
func (m Model) half(d Drive, users int) float64 {
	variance := m.Scatter*m.Scatter*(1+m.unsure(d, users)) + m.Law*m.Law
	return math.Exp(measure.Student((1+Level)/2, float64(m.Freedom)) * math.Sqrt(variance))
}

// unsure is the variance of the logarithm of OPM as the demand is not known better, in that of runs.
func (m Model) unsure(d Drive, users int) (variance float64) {
	g := slopes(m.Demand.terms(), d, users, m.Processors)
	for j := range terms {
		for k := range terms {
			variance += g[j] * g[k] * m.Inverse[j][k]
		}
	}
	return variance
}

// rises says that a drive did more at the last depth than before: what it can do at most is not known.
func rises(d Drive) bool {
	n := len(d.Reads)
	return n == 1 || d.Reads[n-1].IOPS > 1.1*d.Reads[n-2].IOPS
}

// Save writes the model.
func (m Model) Save(path string) error { return atomicfile.WriteJSON(path, m) }

// Read reads a model. Its errors name the file.
func Read(path string) (m Model, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return m, fmt.Errorf("read model: %w; ds2 whatif learn writes one, model.json in the directory of its --out", err)
	}
	if err = json.Unmarshal(text, &m); err == nil {
		err = m.check()
	}
	if err != nil {
		return m, fmt.Errorf("read model %s: %w", path, err)
	}
	return m, nil
}

func (m Model) check() error {
	if m.Kind != Kind || m.Format != Format {
		return fmt.Errorf("it is of kind %q and format %d, not a model of format %d as ds2 whatif learn writes it",
			m.Kind, m.Format, Format)
	}
	for _, v := range []float64{m.Demand.Processor, m.Demand.Reads, m.Demand.Flushes, m.Scatter,
		m.Law, float64(m.Processors), float64(m.Freedom), m.Read.Low, m.Flush.Low, m.Users.Low} {
		if !(v > 0) || v > 1e12 {
			return errors.New("its figures are out of bounds")
		}
	}
	return nil
}

// Curve is OPM over the latency of reads, at one of flushes.
type Curve struct {
	Flush  float64
	Points [][2]float64 // seconds of a read, OPM
}

// Curves draw the law over the range in which it was fitted.
func (m Model) Curves(users int) (all []Curve) {
	at := func(r Range, share float64) float64 { return r.Low * math.Pow(r.High/r.Low, share) }
	for _, share := range []float64{0, .5, 1} {
		c := Curve{Flush: at(m.Flush, share)}
		for i := range 21 {
			read := at(m.Read, float64(i)/20)
			d := Drive{Flush: c.Flush, Reads: []device.Point{{Depth: 1, IOPS: math.MaxFloat64, Mean: read}}}
			c.Points = append(c.Points, [2]float64{read, m.Demand.solve(d, users, m.Processors).OPM()})
		}
		all = append(all, c)
	}
	return all
}
