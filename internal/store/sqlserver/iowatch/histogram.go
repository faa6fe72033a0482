package iowatch

import (
	"encoding/xml"
	"fmt"
	"maps"
	"time"

	"ds2/internal/measure"
)

// histogram counts I/Os by their duration, in a unit that is not known.
type histogram map[int64]uint64

// parse reads what the histogram target tells. The server's pages say that a full one ignores new durations, while some
// servers are said to count them as others and not to tell, so that a full one is an error, too.
func parse(text string) (histogram, error) {
	var told struct {
		Truncated int64 `xml:"truncated,attr"`
		Buckets   int   `xml:"buckets,attr"`
		Slots     []struct {
			Count uint64 `xml:"count,attr"`
			Value int64  `xml:"value"`
		} `xml:"Slot"`
	}
	if text == "" { // nothing has come yet
		return nil, nil
	}
	if err := xml.Unmarshal([]byte(text), &told); err != nil {
		return nil, fmt.Errorf("read the histogram: %w", err)
	}
	h := histogram{}
	for _, s := range told.Slots {
		h[s.Value] += s.Count
	}
	switch {
	case told.Truncated > 0:
		return h, fmt.Errorf("the histogram lost %d", told.Truncated)
	case told.Buckets > 0 && len(told.Slots) >= told.Buckets:
		return h, fmt.Errorf("the histogram is full: it cannot tell apart more than %d durations", told.Buckets)
	}
	return h, nil
}

// minus is what came after an earlier state.
func (h histogram) minus(was histogram) histogram {
	since := histogram{}
	for value, n := range h {
		if n > was[value] {
			since[value] = n - was[value]
		}
	}
	return since
}

// times are the durations, each taken for the longest that is told by the same number.
func (h histogram) times(name string, unit time.Duration) measure.Distribution {
	each, sum, micros := unit.Microseconds(), int64(0), map[int64]uint64{}
	for value, n := range h {
		sum += int64(n) * value
		micros[value*each+each-1] = n
	}
	return measure.Counted(name, time.Duration(sum)*unit, maps.All(micros))
}
