package conclude

import (
	"ds2/internal/measure"
	"ds2/internal/result"
)

// slowest are the slowest orders of the window, the slowest first.
func (v view) slowest() (all []result.SlowOrder) {
	window := measure.Span{From: measure.Seconds(v.window.From), To: measure.Seconds(v.window.To)}
	for _, o := range v.Series.Slowest(window) {
		all = append(all, result.SlowOrder{
			From: o.From.Seconds(), To: o.To.Seconds(), Operation: o.Operation,
			OperationFrom: o.OperationFrom.Seconds(), OperationTo: o.OperationTo.Seconds(),
		})
	}
	return all
}
