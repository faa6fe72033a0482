package store

// DeepReading is how a deep check reads. The zero value has one reader that is as fast as it can be.
type DeepReading struct {
	Readers int     // at once; 0: 1
	Rate    float64 // bytes a second that they read together at most; 0: no bound
	Log     bool    // read the server's log to its end too, and check it
}

// DeepCheck is what reading and checking a database to the last page gave.
type DeepCheck struct {
	Target    string   `json:"target,omitempty"`
	Server    string   `json:"server"`    // its name and version
	Checksums bool     `json:"checksums"` // whether pages carry checksums, which every read from storage verifies
	Objects   int      `json:"objects"`   // tables and indexes
	Bytes     int64    `json:"bytes"`     // of all their pages
	Seconds   float64  `json:"seconds"`   // of reading and checking
	Reading   *Reading `json:"reading"`   // nil where the server reads and checks in one
	Damage    []Damage `json:"damage"`    // empty: nothing was found
	Unchecked []string `json:"unchecked"` // what was read but not checked further, each with the reason

	Pages int64     `json:"pages,omitempty"` // of all tables and indexes
	Log   *LogCheck `json:"log,omitempty"`   // nil: it was not asked for
}

// LogCheck is what reading the log of a server to its end gave.
type LogCheck struct {
	Method  string  `json:"method"`           // what read it
	Unread  string  `json:"unread,omitempty"` // why nobody could; the rest is empty then
	Bytes   int64   `json:"bytes"`
	Records int64   `json:"records"` // 0: not counted
	Seconds float64 `json:"seconds"`
	Bad     string  `json:"bad,omitempty"` // the fault at which reading ended, in the reader's words
}

// Reading is how fast a deep check read all pages.
type Reading struct {
	Seconds float64 `json:"seconds"`
	Readers int     `json:"readers,omitempty"`          // at once
	Rate    float64 `json:"rate_bytes_per_s,omitempty"` // that was not to be exceeded; 0: none
	Reads   int64   `json:"reads,omitempty"`
	Bad     int64   `json:"bad_pages"`    // that could not be read, by their checksum or header
	Cached  int64   `json:"cached_bytes"` // what was in the server's cache already
	Device  *int64  `json:"device_bytes"` // got from the drives, not from the kernel's page cache; nil: unknown
	Size    int64   `json:"read_bytes"`   // of one read at most
	MeanMS  float64 `json:"mean_ms"`      // of one read
	MaxMS   float64 `json:"max_ms"`
}

// MBPerSecond is the rate of a number of bytes in a time, in 10^6 bytes a second.
func MBPerSecond(bytes int64, seconds float64) float64 {
	if seconds == 0 {
		return 0
	}
	return float64(bytes) / 1e6 / seconds
}

// Damage is one fault that a deep check found.
type Damage struct {
	Object string `json:"object"` // table or index
	Place  string `json:"place"`  // file and block within it, such as "main block 17"; empty: the server named none
	Found  string `json:"found"`  // in the server's words
}
