package measure

import (
	"encoding/json"
	"math"

	"github.com/aclements/go-moremath/stats"
)

// Change is by how much one set of measurements differs from another.
type Change struct {
	Percent float64 // of the geometric means: 100 (b/a − 1)
	// Low and High are the bounds of the 95 % confidence interval of Percent, and P is the probability of a difference
	// at least as large if there is none. All are NaN (null in JSON) where there are too few measurements to know their
	// scatter.
	Low, High, P float64

	deviation, freedom float64 // of the logarithm of the ratio; 0 where they are not known
}

// newChange is that of a logarithm of a ratio with its standard deviation, estimated with so many degrees of freedom. It
// was looked at so many times as often as a single test: the levels of its interval and of P are tightened by that.
func newChange(logarithm, deviation, freedom, looks float64) Change {
	half := deviation * Student(1-0.025/looks, freedom)
	c := Change{Percent: percentOf(logarithm), Low: percentOf(logarithm - half), High: percentOf(logarithm + half), P: 1, deviation: deviation, freedom: freedom}
	if logarithm != 0 {
		c.P = min(1, looks*2*stats.TDist{V: freedom}.CDF(-math.Abs(logarithm)/deviation))
	}
	return c
}

func percentOf(logarithm float64) float64 { return 100 * math.Expm1(logarithm) }

// Significant says whether the confidence interval excludes no difference.
func (c Change) Significant() bool { return c.Low > 0 || c.High < 0 }

// Within says whether the confidence interval is known and reaches at most so many percent points from the estimate.
func (c Change) Within(percent float64) bool {
	return c.High-c.Percent <= percent && c.Percent-c.Low <= percent
}

// changeJSON is Change in JSON, which has no NaN.
type changeJSON struct {
	Percent *float64 `json:"pct"`
	Low     *float64 `json:"low_pct"`
	High    *float64 `json:"high_pct"`
	P       *float64 `json:"p"`
}

// MarshalJSON writes null for what is NaN.
func (c Change) MarshalJSON() ([]byte, error) {
	known := func(v float64) *float64 {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		return &v
	}
	return json.Marshal(changeJSON{known(c.Percent), known(c.Low), known(c.High), known(c.P)})
}

// UnmarshalJSON reads NaN for null.
func (c *Change) UnmarshalJSON(text []byte) error {
	var j changeJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	value := func(p *float64) float64 {
		if p == nil {
			return math.NaN()
		}
		return *p
	}
	*c = Change{Percent: value(j.Percent), Low: value(j.Low), High: value(j.High), P: value(j.P)}
	return nil
}
