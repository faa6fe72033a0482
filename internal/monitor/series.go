package monitor

import "time"

// Series is a figure over time, oldest first.
type Series []Point

// Point is one reading.
type Point struct {
	Time  time.Time
	Value float64
}
