package result

import (
	"fmt"

	"ds2/internal/measure"
)

// Warm is the state of the store when measuring began, after a wait for it. What is nil the server
// does not say.
type Warm struct {
	// that the wait could take after the warm-up
	Most    float64 `json:"most_s"`
	Waited  float64 `json:"waited_s"` // that it took
	Reached bool    `json:"reached"`  // all of the below held
	// when they were seen to, since the run's start
	At float64 `json:"reached_at_s,omitempty"`
	// share of the server's cache in use, 0.9 at least
	Buffers *float64 `json:"buffers"`
	// why they are, by the pages that the server has read
	Estimated string `json:"buffers_estimated,omitempty"`
	Fits      bool   `json:"database_fits_buffers,omitempty"` // so that it may never fill them
	// was made since just before the first operations
	Checkpoint bool `json:"checkpoint"`
	// by the server, so none was waited for
	Uncounted bool `json:"checkpoints_uncounted,omitempty"`
	// Slope is the change of the mean latency of data reads from one second to the next, at most
	// 0.0005 up or down; nil: hardly a read reached the drives.
	Slope   *float64 `json:"read_latency_slope_s"`
	Samples int      `json:"samples"` // seconds that the slope is over

	// By which share the later half of these seconds differs from the earlier, at most .05 up or
	// down; nil: not known.
	Orders       *float64 `json:"orders_change"`
	ReadsAnOrder *float64 `json:"reads_per_order_change"`
}

// Pace is how the rate of an open loop was found at which the drives do a wanted number of I/Os.
type Pace struct {
	Target float64 `json:"target_iops"`
	First  float64 `json:"first_rate_per_s"` // orders, before anything was measured
	Rate   float64 `json:"rate_per_s"`       // orders, as the windows had it
	// Reached says that four samples in a row were within 2 % of the target, from where on the rate
	// was kept; otherwise the last samples set it together.
	Reached bool    `json:"reached"`
	Samples int     `json:"samples"`
	Length  float64 `json:"sample_s"`
	// at the end the store did not complete what was offered
	Limited bool `json:"limited,omitempty"`
}

// Space is how full a file system was as the run began and as it ended, in bytes.
type Space struct {
	Mount      string `json:"mount"`
	Bytes      int64  `json:"bytes"`
	FreeBefore int64  `json:"free_before"`
	FreeAfter  int64  `json:"free_after"`
}

// Text is its size, and which share of it was used before and after.
func (s Space) Text() string {
	used := func(free int64) float64 { return 100 * (1 - float64(free)/float64(max(s.Bytes, 1))) }
	return fmt.Sprintf("%s: %d MB, %.1f %% used before and %.1f %% after", s.Mount, s.Bytes/1e6,
		used(s.FreeBefore), used(s.FreeAfter))
}

// Scrub is what a background scan read, over the whole run.
type Scrub struct {
	Target   string  `json:"target"`
	Rate     float64 `json:"rate_bytes_per_s,omitempty"` // that was asked for
	Seconds  float64 `json:"seconds"`
	Requests int64   `json:"requests"`
	Bytes    int64   `json:"bytes"`
	// what of it came from drives, not the kernel's cache; nil: unknown
	Device   *int64   `json:"device_bytes"`
	MeanMS   *float64 `json:"mean_ms,omitempty"` // of a request
	MaxMS    *float64 `json:"max_ms,omitempty"`
	Passes   int      `json:"passes,omitempty"`   // through the whole database
	Failures int      `json:"failures,omitempty"` // requests and connections that failed
	Error    string   `json:"error,omitempty"`    // of the last
}

// PerSecond is the rate at which it read, in bytes a second.
func (r Scrub) PerSecond() float64 { return float64(r.Bytes) / max(r.Seconds, 1e-9) }

// RequestsPerSecond is the rate of its requests.
func (r Scrub) RequestsPerSecond() float64 { return float64(r.Requests) / max(r.Seconds, 1e-9) }

// RequestBytes are those of a request, on average.
func (r Scrub) RequestBytes() int64 { return r.Bytes / max(r.Requests, 1) }

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

// SlowOrder is one of the slowest orders; times are since the first orders.
type SlowOrder struct {
	From          float64 `json:"from_s"`
	To            float64 `json:"to_s"`
	Operation     string  `json:"operation"` // that took the most time
	OperationFrom float64 `json:"operation_from_s"`
	OperationTo   float64 `json:"operation_to_s"`
}
