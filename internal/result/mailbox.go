package result

// Mailbox is what is special to a run of workload mailbox.
type Mailbox struct {
	Mailboxes    int    `json:"mailboxes"` // of each target
	MailboxBytes int64  `json:"mailbox_bytes"`
	Profile      string `json:"profile"`
	Insert       int    `json:"insert_percent"`
	Delete       int    `json:"delete_percent"`
	Replace      int    `json:"replace_percent"`
	Read         int    `json:"read_percent"`
	Lazy         int    `json:"lazy_commit_percent"`
	Batch        int    `json:"operations_per_transaction"`

	PerMailbox float64 `json:"iops_per_mailbox,omitempty"`
	Headroom   float64 `json:"headroom_percent,omitempty"`
	Target     float64 `json:"target_iops,omitempty"` // over all targets; 0: none

	// Of each target, before and after the run: records, and bytes of them and of their index.
	RecordsBefore []int64 `json:"records_before,omitempty"`
	RecordsAfter  []int64 `json:"records_after,omitempty"`
	BytesBefore   []int64 `json:"bytes_before,omitempty"`
	BytesAfter    []int64 `json:"bytes_after,omitempty"`
}
