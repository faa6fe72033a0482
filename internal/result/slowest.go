package result

import "ds2/internal/monitor"

// Causes of slow orders: what the record shows to have been under way for most of an order's slowest operation.
const (
	CauseLogFlush   = monitor.WaitLogFlush
	CauseDataRead   = monitor.WaitDataRead
	CauseUser       = "user"
	CauseLock       = "lock"
	CauseStorage    = "storage"
	CauseProcessors = "processors"
	CauseCheckpoint = "checkpoint"
	Unexplained     = "unexplained"
)

// SlowOrders are the slowest orders of a window, and why they were slow as far as that is known.
type SlowOrders struct {
	Traced bool        `json:"io_traced"`
	Causes []SlowCause `json:"causes"` // by the number of orders; what is unexplained is the last
	Orders []SlowOrder `json:"orders"` // the slowest first
}

// SlowCause is how many of the slowest orders had a cause.
type SlowCause struct {
	Cause      string         `json:"cause"`
	Orders     int            `json:"orders"`
	Longest    float64        `json:"longest_ms"`
	Operations map[string]int `json:"operations"` // that took the most time
}

// SlowOrder is one of the slowest orders; times are since the first orders.
type SlowOrder struct {
	From          float64 `json:"from_s"`
	To            float64 `json:"to_s"`
	Operation     string  `json:"operation"` // that took the most time
	OperationFrom float64 `json:"operation_from_s"`
	OperationTo   float64 `json:"operation_to_s"`
	Cause         string  `json:"cause"`
}
