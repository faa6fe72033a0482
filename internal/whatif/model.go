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
	Figure
	Processors int `json:"processors"`

	Demand       Demand        `json:"demand"`
	Coefficients []Coefficient `json:"coefficients"`             // with their 95 % intervals
	Scatter      float64       `json:"scatter"`                  // standard deviation of ln rate from the law
	Law          float64       `json:"law_error"`                // the same on a drive not in the fit, besides
	Each         float64       `json:"each"`                     // of the figure, for one order a second: 60 of OPM
	EachScatter  float64       `json:"each_scatter"`             // standard deviation of its logarithm; of OPM none
	Freedom      int           `json:"freedom"`                  // degrees of it
	Inverse      matrix        `json:"inverse"`                  // of the normal matrix of the logarithms of the demand
	Read         Range         `json:"read_latency_s"`           // in which the law was fitted
	Flush        Range         `json:"flush_latency_s"`          // a write of the log with its flush
	Write        Range         `json:"write_latency_s,omitzero"` // of data; absent: nobody waited for any
	Users        Range         `json:"users"`
	Runs         []Run         `json:"runs"`
	Checks       []Check       `json:"checks,omitempty"` // of drives that are not in the fit
	Refused      []Refusal     `json:"refused,omitempty"`
}

// Figure is what the runs came to.
type Figure struct {
	Unit string `json:"unit"` // "OPM"
	Name string `json:"name"` // "Orders per minute (OPM)"
	One  string `json:"one"`  // that users do: "an order"
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
	Write    float64 `json:"write_latency_s,omitempty"`
	Value    float64 `json:"value"` // of the figure
	Fitted   float64 `json:"fitted"`
	Distance float64 `json:"distance_percent"`
}

// observed takes in the runs of the fit and the ranges that they span.
func (m *Model) observed(all []Observation) {
	for _, o := range all {
		b := m.Demand.solve(o.Drive, o.Users, m.Processors)
		m.Read.hold(b.ReadLatency)
		m.Flush.hold(o.Drive.Flush)
		m.Write.hold(o.Drive.Write)
		m.Users.hold(float64(o.Users))
		m.Runs = append(m.Runs, Run{
			Drive: o.Drive.Name, Users: o.Users, Read: b.ReadLatency, Flush: o.Drive.Flush, Write: o.Drive.Write,
			Value: o.Value, Fitted: m.Each * b.Rate, Distance: apart(o.Value, m.Each*b.Rate),
		})
	}
}

// Prediction is what a store would do on a drive.
type Prediction struct {
	Drive       string  `json:"drive"`
	Users       int     `json:"users"`
	Value       float64 `json:"value"` // of the figure
	Low         float64 `json:"low"`   // of the 90 % interval
	High        float64 `json:"high"`
	ReadLatency float64 `json:"read_latency_s"` // at that rate
	Flush       float64 `json:"flush_latency_s"`
	Write       float64 `json:"write_latency_s,omitempty"` // of data; absent: the model or the drive's record has none
	// Where an order's time goes, in percent.
	Processor float64 `json:"processor_percent"`
	Read      float64 `json:"read_percent"`
	Commit    float64 `json:"commit_percent"`
	Writes    float64 `json:"write_percent,omitempty"`
	// Of the figure if reads, flushes, or writes of data, took half as long, in percent; absent: outside the range.
	HalfRead  *float64 `json:"half_read_gain_percent,omitempty"`
	HalfFlush *float64 `json:"half_flush_gain_percent,omitempty"`
	HalfWrite *float64 `json:"half_write_gain_percent,omitempty"`
	// NoWrites says that the drive's record does not tell what a write of data takes, which is left out.
	NoWrites bool `json:"writes_unknown,omitempty"`
}

// Refusal is why nothing is predicted for a drive.
type Refusal struct {
	Drive string `json:"drive"`
	Users int    `json:"users"`
	Why   string `json:"why"`
}

func (r Refusal) Error() string { return fmt.Sprintf("%s with %d users: %s", r.Drive, r.Users, r.Why) }

// Most is the largest part of an order's time, in percent.
func (p Prediction) Most() float64 { return max(p.Processor, p.Read, p.Commit, p.Writes) }

// HeldBack names the largest part of an order's time.
func (p Prediction) HeldBack() string {
	switch p.Most() {
	case p.Read:
		return "reads"
	case p.Commit:
		return "log flushes"
	case p.Writes:
		return "writes of data"
	}
	return "processors"
}

// Predict says what so many users would do on a drive. The error is a Refusal.
func (m Model) Predict(d Drive, users int) (Prediction, error) {
	unknown := m.Demand.Writes > 0 && d.Write == 0
	if m.Demand.Writes == 0 {
		d.Write = 0
	}
	b := m.Demand.solve(d, users, m.Processors)
	refuse := func(format string, args ...any) (Prediction, error) {
		return Prediction{}, Refusal{Drive: d.Name, Users: users, Why: fmt.Sprintf(format, args...)}
	}
	ms := func(r Range) string { return fmt.Sprintf("%.3g to %.3g ms", 1e3*r.Low, 1e3*r.High) }
	inWrites := func(d Drive) bool { return d.Write == 0 || m.Write.holds(d.Write) }
	switch last := d.Reads[len(d.Reads)-1]; {
	case !m.Users.holds(float64(users)):
		return refuse("fitted from %g to %g users", m.Users.Low, m.Users.High)
	case rises(d) && b.Rate*b.Read > float64(last.Depth):
		return refuse("%.0f reads would be under way at once, and the drive still did more at depth %d, its deepest: "+
			"measure it deeper", b.Rate*b.Read, last.Depth)
	case !m.Read.holds(b.ReadLatency):
		return refuse("fitted for reads of %s; this drive's would take %.3g ms", ms(m.Read), 1e3*b.ReadLatency)
	case !m.Flush.holds(d.Flush):
		return refuse("fitted for log flushes of %s; this drive's take %.3g ms", ms(m.Flush), 1e3*d.Flush)
	case !inWrites(d):
		return refuse("fitted for writes of data of %s; this drive's take %.3g ms", ms(m.Write), 1e3*d.Write)
	}
	p := Prediction{Drive: d.Name, Users: users, Value: m.Each * b.Rate, ReadLatency: b.ReadLatency, Flush: d.Flush,
		Write: d.Write, NoWrites: unknown}
	half := m.half(d, users)
	p.Low, p.High = p.Value/half, p.Value*half
	whole := (b.Processor + b.Read + b.Commit + b.Write) / 100
	p.Processor, p.Read, p.Commit, p.Writes = b.Processor/whole, b.Read/whole, b.Commit/whole, b.Write/whole
	gain := func(read, flush, write float64) *float64 {
		faster := d.faster(read, flush, write)
		f := m.Demand.solve(faster, users, m.Processors)
		if !m.Read.holds(f.ReadLatency) || !m.Flush.holds(faster.Flush) || !inWrites(faster) {
			return nil
		}
		return new(100 * (f.Rate/b.Rate - 1))
	}
	p.HalfRead, p.HalfFlush = gain(.5, 1, 1), gain(1, .5, 1)
	if d.Write > 0 {
		p.HalfWrite = gain(1, 1, .5)
	}
	return p, nil
}

// half is the factor by which the figure may lie on either side: by the scatter of runs, as the demand is not known
// better, as the law is off, and as the figure of an order differs.
func (m Model) half(d Drive, users int) float64 {
	variance := m.Scatter*m.Scatter*(1+m.unsure(d, users)) + m.Law*m.Law + m.EachScatter*m.EachScatter
	return math.Exp(measure.Student((1+Level)/2, float64(m.Freedom)) * math.Sqrt(variance))
}

// unsure is the variance of the logarithm of the rate as the demand is not known better, in that of runs.
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
		return m, fmt.Errorf("read model: %w; ds2 whatif learn writes one, model.json in the directory of its --out",
			err)
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
		m.Law, float64(m.Processors), float64(m.Freedom), m.Read.Low, m.Flush.Low, m.Users.Low, m.Each} {
		if !(v > 0) || v > 1e12 {
			return errors.New("its figures are out of bounds")
		}
	}
	if m.Unit == "" || !(m.Demand.Writes >= 0) {
		return errors.New("its figures are out of bounds")
	}
	return nil
}

// Curve is the figure over the latency of reads, at one of flushes.
type Curve struct {
	Flush  float64
	Points [][2]float64 // seconds of a read, the figure
}

// Curves draw the law over the range in which it was fitted.
func (m Model) Curves(users int) (all []Curve) {
	at := func(r Range, share float64) float64 { return r.Low * math.Pow(r.High/r.Low, share) }
	for _, share := range []float64{0, .5, 1} {
		c := Curve{Flush: at(m.Flush, share)}
		for i := range 21 {
			read := at(m.Read, float64(i)/20)
			reads := []device.Point{{Depth: 1, IOPS: math.MaxFloat64, Mean: read}}
			d := Drive{Flush: c.Flush, Write: m.Write.Low, Reads: reads}
			c.Points = append(c.Points, [2]float64{read, m.Each * m.Demand.solve(d, users, m.Processors).Rate})
		}
		all = append(all, c)
	}
	return all
}
