package result

import "ds2/internal/measure"

// Event is a command that was run at a time of a run. Times are in seconds since the first orders.
type Event struct {
	Asked   float64 `json:"asked_s"`
	From    float64 `json:"from_s"`
	To      float64 `json:"to_s"`
	Command string  `json:"command"`
	Error   string  `json:"error,omitempty"`
}

// Disturbance is what came of an event, and of those that followed before orders were back.
type Disturbance struct {
	measure.Disturbance
	Events  []int  `json:"events"`            // their numbers, from 1
	Unknown string `json:"unknown,omitempty"` // why nothing can be said
}

// Names of the conditions by which disturbances of runs are compared: of all of a run together.
const (
	LostOrders   = "cycles lost to events"
	BackAfter    = "until the rate was back, longest"
	LongestOrder = "longest cycle after an event"
)
