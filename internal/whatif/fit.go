package whatif

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"ds2/internal/measure"
)

// Observation is what a run came to on a drive.
type Observation struct {
	Drive Drive
	Users int
	Rate  float64 // orders a second
	Value float64 // of the figure
}

// ErrUnknown says that runs do not tell what an order takes.
var ErrUnknown = errors.New("the runs do not tell what an order takes of processor, reads and flushes")

// Fit finds the demand by which the logarithms of the rates are nearest to those observed, by least squares (Levenberg
// and Marquardt).
func Fit(all []Observation, processors int, f Figure) (Model, error) {
	m := Model{Format: Format, Kind: Kind, Figure: f, Processors: processors, Freedom: len(all) - terms}
	begin := start(all)
	if begin.Writes == 0 {
		m.Freedom++ // a term less
	}
	if m.Freedom < 2 {
		return m, fmt.Errorf("%w: %d runs are too few, %d are needed", ErrUnknown, len(all), len(all)+2-m.Freedom)
	}
	distance := math.Inf(1)
	var t [terms]float64
	var normal matrix
	for _, processor := range []float64{begin.Processor, .001, .01, .1} { // the distance may have more than one valley
		begin.Processor = processor
		if at, sum, n := descend(begin.terms(), all, processors); sum < distance {
			t, distance, normal = at, sum, n
		}
	}
	inverse, ok := normal.known()
	if !ok {
		return m, ErrUnknown
	}
	m.Demand, m.Scatter, m.Inverse = demandOf(t), math.Sqrt(distance/float64(m.Freedom)), inverse
	for j, c := range []Coefficient{
		{Name: "processor", Unit: "ms", Value: 1e3 * m.Demand.Processor},
		{Name: "reads", Unit: f.One, Value: m.Demand.Reads},
		{Name: "flushes", Unit: f.One, Value: m.Demand.Flushes},
		{Name: "writes of data", Unit: f.One, Value: m.Demand.Writes},
	} {
		half := math.Exp(measure.Student(.975, float64(m.Freedom)) * m.Scatter * math.Sqrt(inverse[j][j]))
		c.Low, c.High = c.Value/half, c.Value*half
		known := half < 10         // not where it is NaN
		needed := j == 1 || j == 2 // others may be too little to tell
		if needed || j == 0 && m.Demand.Processor > LeastProcessor || j == 3 && m.Demand.Writes > LeastWrites && known {
			m.Coefficients = append(m.Coefficients, c)
		}
		if needed && !known {
			return m, fmt.Errorf("%w: %s lies between %.2g and %.2g %s; "+
				"make runs longer, latencies more different, or the database larger than its buffers",
				ErrUnknown, c.Name, c.Low, c.High, c.Unit)
		}
	}
	m.Law = m.lawError(all)
	m.Each, m.EachScatter = each(all)
	m.observed(all)
	return m, nil
}

// each is the figure by the rate, and the standard deviation of its logarithm, as of one that is like any of the runs.
func each(all []Observation) (mean, scatter float64) {
	logs := make([]float64, len(all))
	for i, o := range all {
		logs[i] = math.Log(o.Value / o.Rate)
		mean += logs[i] / float64(len(all))
	}
	for _, l := range logs {
		scatter += (l - mean) * (l - mean)
	}
	n := float64(len(all))
	return math.Exp(mean), math.Sqrt(scatter / (n - 1) * (1 + 1/n))
}

// leastLaw is how far the law is off by itself, as a standard deviation of the logarithm of the rate: it is an
// approximation, and 3 % is what it misses simulated networks by (TestSimulated).
const leastLaw = .03

// lawError is how far the law is off on a drive that it was not fitted on: each drive is left out in turn, and
// predicted from the others. What their scatter alone explains is taken off. All runs on a drive are off together, so
// that neither more of them nor their scatter shows it.
func (m Model) lawError(all []Observation) float64 {
	var sum, drives float64
	left := map[string]bool{}
	for _, o := range all {
		name := o.Drive.Name
		if left[name] {
			continue
		}
		left[name] = true
		others := slices.DeleteFunc(slices.Clone(all), func(o Observation) bool { return o.Drive.Name == name })
		t, _, normal := descend(m.Demand.terms(), others, m.Processors)
		inverse, ok := normal.known()
		if !ok {
			continue // the others do not tell
		}
		var off, unsure, runs float64
		by := Model{Demand: demandOf(t), Processors: m.Processors, Inverse: inverse}
		for _, o := range all {
			if o.Drive.Name == name {
				off += math.Log(o.Rate / by.Demand.solve(o.Drive, o.Users, m.Processors).Rate)
				unsure += by.unsure(o.Drive, o.Users)
				runs++
			}
		}
		if unsure > 10*runs {
			continue // nor do they then, as without the only drive that is slow to write
		}
		sum, drives = sum+off*off/runs/runs-m.Scatter*m.Scatter*(1+unsure)/runs, drives+1
	}
	return math.Sqrt(max(leastLaw*leastLaw, sum/max(drives, 1)))
}

// maxSteps are many times those that measured runs take; without scatter there is always a little to be gained.
const maxSteps = 1000

// descend goes from t to where the squared distance of the runs is least nearby.
func descend(t [terms]float64, all []Observation, processors int) (_ [terms]float64, distance float64, normal matrix) {
	distance = math.Inf(1)
	residuals := func(t [terms]float64) (r []float64, sum float64) {
		for _, o := range all {
			r = append(r, math.Log(o.Rate/demandOf(t).solve(o.Drive, o.Users, processors).Rate))
			sum += r[len(r)-1] * r[len(r)-1]
		}
		return r, sum
	}
	for damping, step := 1e-3, 0; ; step++ {
		r, sum := residuals(t)
		normal = matrix{}
		var gradient [terms]float64
		for i, o := range all {
			g := slopes(t, o.Drive, o.Users, processors)
			for j := range terms {
				gradient[j] += g[j] * r[i]
				for k := range terms {
					normal[j][k] += g[j] * g[k]
				}
			}
		}
		normal[3][3] = max(normal[3][3], 1e-9) // of writes that no drive is slow to do
		if damping >= 1e9 || step == maxSteps || distance-sum < 1e-12*sum {
			return t, sum, normal
		}
		distance = sum
		for ; damping < 1e9; damping *= 10 {
			damped := normal
			for j := range terms {
				damped[j][j] += damping * (normal[j][j] + 1e-9)
			}
			inverse, ok := damped.inverse()
			if !ok {
				continue
			}
			next := t
			for j := range terms {
				for k := range terms {
					next[j] += inverse[j][k] * gradient[k]
				}
			}
			if _, smaller := residuals(next); smaller < sum {
				t, damping = next, damping/10
				break
			}
		}
	}
}

// start is where the search begins: of no part can an order take more than would take all of its time, on any drive.
func start(all []Observation) Demand {
	d := Demand{Processor: 1e-4, Reads: math.Inf(1), Flushes: math.Inf(1)}
	for _, o := range all {
		part := float64(o.Users) / o.Rate / 4
		d.Reads, d.Flushes = min(d.Reads, part/o.Drive.Reads[0].Mean), min(d.Flushes, part/o.Drive.Flush)
		if o.Drive.Write > 0 && (d.Writes == 0 || part/o.Drive.Write < d.Writes) {
			d.Writes = part / o.Drive.Write
		}
	}
	return d
}

// slopes are those of the logarithm of the rate by the logarithms of the demand.
func slopes(t [terms]float64, drive Drive, users, processors int) (g [terms]float64) {
	const step = 1e-4
	for j := range terms {
		up, down := t, t
		up[j] += step
		down[j] -= step
		more, less := demandOf(up).solve(drive, users, processors), demandOf(down).solve(drive, users, processors)
		g[j] = math.Log(more.Rate/less.Rate) / (2 * step)
	}
	return g
}

type matrix [terms][terms]float64

// known is the inverse of a normal matrix. Where drives take all of an order's time nothing is known of the
// processors, and where none is slow to write nothing of writes, and it does not matter.
func (m matrix) known() (inverse matrix, ok bool) {
	for _, j := range []int{0, 3} {
		if m[j][j] < 1e-6 {
			for k := range terms {
				m[j][k], m[k][j] = 0, 0
			}
			m[j][j] = 1
		}
	}
	return m.inverse()
}

// inverse is by Gauss and Jordan; false where there is none.
func (m matrix) inverse() (inverse matrix, ok bool) {
	for j := range terms {
		inverse[j][j] = 1
	}
	for j := range terms {
		pivot := j
		for k := j; k < terms; k++ {
			if math.Abs(m[k][j]) > math.Abs(m[pivot][j]) {
				pivot = k
			}
		}
		m[j], m[pivot], inverse[j], inverse[pivot] = m[pivot], m[j], inverse[pivot], inverse[j]
		p := m[j][j]
		if !(math.Abs(p) > 1e-14) {
			return inverse, false
		}
		for k := range terms {
			m[j][k] /= p
			inverse[j][k] /= p
		}
		for i := range terms {
			if f := m[i][j]; i != j {
				for k := range terms {
					m[i][k] -= f * m[j][k]
					inverse[i][k] -= f * inverse[j][k]
				}
			}
		}
	}
	return inverse, true
}
