package result

// Reader is what read beside the users, over the whole run.
type Reader struct {
	Target   string   `json:"target"`
	Rate     float64  `json:"rate_bytes_per_s,omitempty"` // that was asked for
	Seconds  float64  `json:"seconds"`
	Requests int64    `json:"requests"` // of the log: pieces that came
	Bytes    int64    `json:"bytes"`
	Device   *int64   `json:"device_bytes"`      // of these, what came from drives; the rest was in the kernel's cache; nil: nobody knows
	MeanMS   *float64 `json:"mean_ms,omitempty"` // of a request
	MaxMS    *float64 `json:"max_ms,omitempty"`
	Passes   int      `json:"passes,omitempty"`   // through the whole database
	Failures int      `json:"failures,omitempty"` // requests and connections that failed
	Error    string   `json:"error,omitempty"`    // of the last
}

// PerSecond is the rate at which it read, in bytes a second.
func (r Reader) PerSecond() float64 {
	if r.Seconds <= 0 {
		return 0
	}
	return float64(r.Bytes) / r.Seconds
}
