package result

// Mailbox is what is special to a run of workload mailbox.
type Mailbox struct {
	Mailboxes    int     `json:"mailboxes"` // of each target
	MailboxBytes int64   `json:"mailbox_bytes"`
	Profile      string  `json:"profile"`
	Insert       int     `json:"insert_percent"`
	Delete       int     `json:"delete_percent"`
	Replace      int     `json:"replace_percent"`
	Read         int     `json:"read_percent"`
	Lazy         int     `json:"lazy_commit_percent"`
	Batch        int     `json:"operations_per_transaction"`
	PerMailbox   float64 `json:"iops_per_mailbox,omitempty"`
	Headroom     float64 `json:"headroom_percent,omitempty"`
	Target       float64 `json:"target_iops,omitempty"` // over all targets; 0: none

	BytesBefore []int64 `json:"bytes_before,omitempty"` // of each target's records
	BytesAfter  []int64 `json:"bytes_after,omitempty"`

	Pace *Pace `json:"pace,omitempty"` // nil: users worked as fast as they could
}

// Pace is the rate of transactions by which a run makes its target.
type Pace struct {
	Calibrated float64  `json:"calibrated_per_s"` // transactions, as the first measurement gave it
	Frozen     *float64 `json:"frozen_per_s"`     // as the window had it; nil: the target was never met
	IOs        float64  `json:"iops_per_transaction"`
	Samples    int      `json:"samples"`
}
