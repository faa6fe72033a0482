package result

import "ds2/internal/store"

// Replay is a replay test: how long the server took to redo its log after it was killed, by its own log.
type Replay struct {
	store.Redo
	Wanted        int64    `json:"wanted_bytes"` // of log that was to stand since the last checkpoint
	Stood         int64    `json:"stood_bytes"`  // shortly before the kill, by the server's positions
	MBPerSecond   float64  `json:"mb_per_s"`     // of 10^6 bytes
	SecondsPerMiB float64  `json:"seconds_per_mib"`
	Recovery      float64  `json:"recovery_s"`        // from the start of the server until it took connections
	Changed       []string `json:"changed,omitempty"` // settings, for the time of the test
}
