package result

// Debt is the work that servers had put off when a run ended, and then were made to do.
type Debt struct {
	Seconds float64 `json:"seconds"` // of all steps
	IO              // of all steps

	// Rows that were removed or replaced and still took room, over all targets, and what is left of these.
	RowsBefore int64 `json:"rows_before"`
	RowsAfter  int64 `json:"rows_after"`

	Steps []DebtStep `json:"steps"`
	Error string     `json:"error,omitempty"` // why not all was done

	// Older says that no checkpoint was made before the run, so that some of it may be older than that.
	Older bool `json:"older,omitempty"`
}

// DebtStep is one thing that had been put off.
type DebtStep struct {
	Target  string  `json:"target"`
	Name    string  `json:"name"`
	At      float64 `json:"at_s"` // since the first orders
	Seconds float64 `json:"seconds"`
	IO              // to the second in which it was
}

// IO is what the drives under the databases did; nil where nobody counted.
type IO struct {
	Reads        *float64 `json:"reads"`
	Writes       *float64 `json:"writes"`
	ReadBytes    *float64 `json:"read_bytes"`
	WrittenBytes *float64 `json:"written_bytes"`
}

// Names of conditions of runs whose debt was settled.
const (
	DebtTime     = "work put off: time to do it" // in seconds
	DebtReads    = "work put off: reads"
	DebtWrites   = "work put off: writes"
	RateWithDebt = "result with the work put off" // the figure that counts, over the time of the run and of that
)
