package result

// Warm is the state of the store when measuring began, after a wait for it.
type Warm struct {
	Most       float64  `json:"most_s"`                          // that the wait could take after the warm-up
	Waited     float64  `json:"waited_s"`                        // that it took
	Reached    bool     `json:"reached"`                         // all of the below held
	At         float64  `json:"reached_at_s,omitempty"`          // when it was seen that they did, from the start of the run on
	Buffers    *float64 `json:"buffers"`                         // share of the server's cache in use, 0 to 1, 0.9 at least; nil: the server does not say
	Estimated  bool     `json:"buffers_estimated,omitempty"`     // by the pages that the server has read
	Fits       bool     `json:"database_fits_buffers,omitempty"` // so that it may never fill them
	Checkpoint bool     `json:"checkpoint"`                      // was made since just before the first operations
	Uncounted  bool     `json:"checkpoints_uncounted,omitempty"` // the server does not count checkpoints, so none was waited for
	Slope      *float64 `json:"read_latency_slope_s"`            // change of the mean latency of data reads from one second to the next, at most 0.0005 up or down; nil: hardly a read reached the drives
	Samples    int      `json:"samples"`                         // seconds that the slope is over

	// By which share the later half of these seconds differs from the earlier, at most .05 up or down; nil: not known.
	Orders       *float64 `json:"orders_change"`
	ReadsAnOrder *float64 `json:"reads_per_order_change"`
}

// Pace is how the rate of an open loop was found at which the drives do a wanted number of I/Os.
type Pace struct {
	Target  float64 `json:"target_iops"`
	First   float64 `json:"first_rate_per_s"` // orders, before anything was measured
	Rate    float64 `json:"rate_per_s"`       // orders, as the windows had it
	Reached bool    `json:"reached"`          // four samples in a row were within 2 % of the target, and the rate was kept from then on; otherwise the last samples set it together
	Samples int     `json:"samples"`
	Length  float64 `json:"sample_s"`
	Limited bool    `json:"limited,omitempty"` // at the end the store did not complete what was offered
}
