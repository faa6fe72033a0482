package store

// DeepCheck is what checking a database to the last page gave.
type DeepCheck struct {
	Target    string   `json:"target,omitempty"`
	Server    string   `json:"server"`    // its name and version
	Checksums bool     `json:"checksums"` // whether pages carry checksums, which every read from storage verifies
	Objects   int      `json:"objects"`   // tables and indexes
	Bytes     int64    `json:"bytes"`     // of all their pages
	Seconds   float64  `json:"seconds"`
	Damage    []Damage `json:"damage"`    // empty: nothing was found
	Unchecked []string `json:"unchecked"` // what was not checked, each with the reason

	// ChecksumFailures is how many the server has counted since its statistics began; nil: it does not count them.
	ChecksumFailures *int64 `json:"checksum_failures,omitempty"`
}

// BytesPerSecond is the rate at which it read.
func (d DeepCheck) BytesPerSecond() float64 { return float64(d.Bytes) / max(d.Seconds, 1e-9) }

// Damage is one fault that a deep check found.
type Damage struct {
	Object string `json:"object"` // table or index
	Place  string `json:"place"`  // such as "block 17 row 3"; empty: the server's words name it
	Found  string `json:"found"`  // in the server's words
}
