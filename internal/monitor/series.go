package monitor

import (
	"math"
	"sort"
	"time"
)

// Series is a figure over time, oldest first.
type Series []Point

// Point is one reading.
type Point struct {
	Time  time.Time
	Value float64
}

// At is the newest reading at or before t; NaN where that is more than 30 s old.
func (s Series) At(t time.Time) float64 {
	i := sort.Search(len(s), func(i int) bool { return s[i].Time.After(t) })
	if i == 0 || t.Sub(s[i-1].Time) > staleAfter {
		return math.NaN()
	}
	return s[i-1].Value
}
