package store

import (
	"context"

	"ds2/internal/measure"
)

// IOTimes are how long I/Os of a database's files take, as its server's own events tell.
type IOTimes interface {
	// Read gives the times since it was called the last time, by what the I/Os were for, such as "log write". An error
	// says which are left out, and why.
	Read(ctx context.Context) ([]measure.Distribution, error)

	// End ends the timing.
	End(ctx context.Context) (IOTimed, error)
}

// IOTimed is what showed of the timing of I/Os by events.
type IOTimed struct {
	Unit string `json:"unit,omitempty"` // of durations, as the ratio tells; empty: unknown

	// Ratio is that of their mean to the mean time in milliseconds that the server counts; nil: one of them has none.
	Ratio  *float64 `json:"ratio"`
	Events int64    `json:"events"` // I/Os of which events told
	IOs    int64    `json:"ios"`    // of the same roles, as the server counts them
}
