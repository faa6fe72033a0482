package measure

import "fmt"

// Latencies sums up the interval's response times by series name.
func (iv Interval) Latencies() (map[string]Latency, error) {
	byName := make(map[string]Latency, len(iv.Histograms))
	for name, text := range iv.Histograms {
		h, err := decode(text)
		if err != nil {
			return nil, err
		}
		byName[name] = summarize(h)
	}
	return byName, nil
}

// Distribution gives, by series name, the response times in milliseconds at the quantiles asked for (0.5 is the median,
// 1 the maximum), of the intervals that lie in span.
func (s Series) Distribution(span Span, quantiles []float64) (map[string][]float64, error) {
	sums, _, err := s.histograms(span)
	if err != nil {
		return nil, fmt.Errorf("compute distribution: %w", err)
	}
	byName := make(map[string][]float64, len(sums))
	for name, h := range sums {
		for _, q := range quantiles {
			byName[name] = append(byName[name], float64(h.ValueAtQuantile(100*q))/1000)
		}
	}
	return byName, nil
}
