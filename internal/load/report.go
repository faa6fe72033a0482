package load

import (
	"slices"
	"sync"
	"time"

	"ds2/datagen"
	"ds2/schema"
)

// Report says what a load did and where its time went.
type Report struct {
	Elapsed time.Duration
	Phases  []PhaseTime
	Tables  []TableReport // in the order of the dataset
	LeftOut []string      // a line for each thing that the server cannot take
	// a warning where little room is left for what runs add; empty: enough, or unknown
	Growth string

	mu sync.Mutex
}

// PhaseTime is how long a phase took that came to its end.
type PhaseTime struct {
	Phase schema.Phase
	Time  time.Duration
}

// TableReport is what a table holds. Parts are copied concurrently, so Busy, the sum of their
// times, may be longer than the load: Rate is that of one stream.
type TableReport struct {
	Table  datagen.Table
	Rows   int64         // all that it holds
	Before int64         // of these, what an unfinished load had copied before this one
	Bytes  int64         // copied by this load
	Busy   time.Duration // of this load; 0 where it copied nothing
}

// Rate is the rows and bytes that one stream copied in a second; 0 where this load copied nothing.
func (t TableReport) Rate() (rows, bytes float64) {
	if t.Busy == 0 {
		return 0, 0
	}
	return float64(t.Rows-t.Before) / t.Busy.Seconds(), float64(t.Bytes) / t.Busy.Seconds()
}

// newReport is one with a line for each table that parts fill, in their order.
func newReport(parts []datagen.Part) *Report {
	r := &Report{}
	for _, p := range parts {
		if !slices.ContainsFunc(r.Tables, func(t TableReport) bool { return t.Table == p.Table }) {
			r.Tables = append(r.Tables, TableReport{Table: p.Table})
		}
	}
	return r
}

// addTable adds to what a table holds.
func (r *Report) addTable(table datagen.Table, more TableReport) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.Tables {
		if t := &r.Tables[i]; t.Table == table {
			t.Rows += more.Rows
			t.Before += more.Before
			t.Bytes += more.Bytes
			t.Busy += more.Busy
		}
	}
}
