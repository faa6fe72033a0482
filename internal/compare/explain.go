package compare

import (
	"ds2/internal/measure"
	"ds2/internal/result"
)

// ReadsOf are the reads of a configuration's drives, those that they can do, and the percentage
// that the first are of them; known where both were measured.
func ReadsOf(c Configuration) (reads, most, percent float64, known bool) {
	x := valuesOf(c, Condition(result.ReadsOfDevices)).values
	y := valuesOf(c, Condition(result.LimitOfReads)).values
	if len(x) == 0 || len(y) == 0 {
		return 0, 0, 0, false
	}
	reads = measure.Median(x)
	most = measure.Median(y)
	return reads, most, 100 * reads / most, true
}

// PerPrice is the result of a configuration for 1,000 of its price's currency; nil where either is
// not stated.
func PerPrice(c Configuration) (value *float64, currency string) {
	amount, currency, err := result.ParsePrice(c.Disclosure[result.PriceKey])
	if err != nil || c.Figure == nil {
		return nil, ""
	}
	return new(c.Figure.Value / amount * 1000), currency
}
