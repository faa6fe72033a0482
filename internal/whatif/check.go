package whatif

import (
	"errors"
	"math"

	"ds2/internal/measure"
)

// Check is a prediction held against a run on a drive that is not in the fit, and two simpler ones beside it.
type Check struct {
	Prediction
	Measured float64 `json:"measured"`
	Inside   bool    `json:"inside"` // the interval
	Error    float64 `json:"error_percent"`
	ByIOPS   float64 `json:"by_iops_error_percent"` // of the figure in proportion to the most random reads a second
	ByMean   float64 `json:"by_mean_error_percent"` // of a straight line over the mean of read and flush latency
}

// Check predicts runs that the fit has not seen. The fit's are those that the simpler predictors learn from.
func (m *Model) Check(fitted, others []Observation) {
	for _, o := range others {
		p, err := m.Predict(o.Drive, o.Users)
		if why, refused := errors.AsType[Refusal](err); refused {
			m.Refused = append(m.Refused, why)
			continue
		}
		m.Checks = append(m.Checks, Check{Prediction: p, Measured: o.Value,
			Inside: o.Value >= p.Low && o.Value <= p.High, Error: apart(p.Value, o.Value),
			ByIOPS: apart(proportional(fitted, o), o.Value), ByMean: apart(straight(fitted, o), o.Value)})
	}
}

// apart is by how many percent a prediction misses.
func apart(predicted, measured float64) float64 { return 100 * (predicted/measured - 1) }

// Verdict is what checks come to: how many the interval holds, and the median errors in percent.
type Verdict struct {
	Checks, Inside        int
	Error, ByIOPS, ByMean float64
}

// Verdict sums the checks up.
func (m Model) Verdict() (v Verdict) {
	var ours, iops, mean []float64
	for _, c := range m.Checks {
		if c.Inside {
			v.Inside++
		}
		ours = append(ours, math.Abs(c.Error))
		iops = append(iops, math.Abs(c.ByIOPS))
		mean = append(mean, math.Abs(c.ByMean))
	}
	if v.Checks = len(m.Checks); v.Checks == 0 {
		v.Error, v.ByIOPS, v.ByMean = math.NaN(), math.NaN(), math.NaN()
		return v
	}
	v.Error, v.ByIOPS, v.ByMean = measure.Median(ours), measure.Median(iops), measure.Median(mean)
	return v
}

// proportional predicts the figure in proportion to random reads a second, from runs with as many users.
func proportional(fitted []Observation, o Observation) float64 {
	sum, n := 0., 0.
	for _, f := range fitted {
		if f.Users == o.Users {
			sum, n = sum+math.Log(f.Value/iops(f.Drive)), n+1
		}
	}
	return math.Exp(sum/n) * iops(o.Drive)
}

func iops(d Drive) (most float64) {
	for _, p := range d.Reads {
		most = max(most, p.IOPS)
	}
	return most
}

// straight predicts the figure by a straight line over the mean latency, from runs with as many users.
func straight(fitted []Observation, o Observation) float64 {
	var n, x, y, xx, xy float64
	mean := func(d Drive) float64 { return (d.Reads[0].Mean + d.Flush) / 2 }
	for _, f := range fitted {
		if f.Users == o.Users {
			v := mean(f.Drive)
			n, x, y, xx, xy = n+1, x+v, y+f.Value, xx+v*v, xy+v*f.Value
		}
	}
	slope := (n*xy - x*y) / (n*xx - x*x)
	return (y-slope*x)/n + slope*mean(o.Drive)
}
