package load

import (
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
	LeftOut []string      // a line for each thing that an Adapter's server cannot take

	// Processor is how long processors of this machine worked for this process in PhaseData; 0 where nobody knows.
	Processor time.Duration

	mu sync.Mutex
}

// Time is how long a phase took; 0 where it was not reached.
func (r *Report) Time(phase schema.Phase) time.Duration {
	for _, p := range r.Phases {
		if p.Phase == phase {
			return p.Time
		}
	}
	return 0
}

// PhaseTime is how long a phase took.
type PhaseTime struct {
	Phase schema.Phase
	Time  time.Duration
}

// TableReport is what was copied into a table. Parts go in side by side, so Busy, the sum of their times, may be longer
// than the load: rows and bytes by Busy are the rates of one stream.
type TableReport struct {
	Table       datagen.Table
	Rows, Bytes int64
	Busy        time.Duration
}

func newReport(parts []datagen.Part) *Report {
	r := &Report{}
	seen := map[datagen.Table]bool{}
	for _, p := range parts {
		if !seen[p.Table] {
			seen[p.Table] = true
			r.Tables = append(r.Tables, TableReport{Table: p.Table})
		}
	}
	return r
}

func (r *Report) add(table datagen.Table, rows, bytes int64, busy time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.Tables {
		if t := &r.Tables[i]; t.Table == table {
			t.Rows += rows
			t.Bytes += bytes
			t.Busy += busy
		}
	}
}
