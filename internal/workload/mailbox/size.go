package mailbox

import "fmt"

// Size is how much a database is to hold.
type Size struct {
	Mailboxes    int   `json:"mailboxes"`
	MailboxBytes int64 `json:"mailbox_bytes"`
}

// MinBytes is the smallest size of a database, below which the shares of its parts are not what they are in a large
// one.
const MinBytes = 10 << 20

// maxRecords bounds what one driver keeps in memory of a database.
const maxRecords = 1 << 32

// recordBytes is what a record takes in the database after the load: its page, its entry in the index, of 28 bytes on
// leaves that are filled to nine tenths, and its part of the free space map.
const recordBytes = 8192 * (1 + 1./262 + 1./4000)

// Bytes is the size of the database.
func (s Size) Bytes() int64 { return int64(s.Mailboxes) * s.MailboxBytes }

// Records is how many records make the size.
func (s Size) Records() int64 {
	bytes := float64(s.Mailboxes) * float64(s.MailboxBytes) // it may be more than an int64 holds
	return int64(bytes / recordBytes)
}

// Check refuses sizes that make no database.
func (s Size) Check() error {
	switch {
	case s.Mailboxes < 1 || s.Mailboxes > 10_000_000:
		return fmt.Errorf("%d mailboxes: it must be 1 to 10000000", s.Mailboxes)
	case s.MailboxBytes < 1<<20 || s.MailboxBytes > 1<<40:
		return fmt.Errorf("mailboxes of %d bytes: it must be 1MB to 1TB", s.MailboxBytes)
	case s.Records() > maxRecords:
		return fmt.Errorf("%s hold %d records, and a database at most %d: take fewer or smaller ones",
			s, s.Records(), int64(maxRecords))
	case s.Bytes() < MinBytes:
		return fmt.Errorf("%s make %d MB, and a database has at least %d MB: take more or larger ones",
			s, s.Bytes()>>20, MinBytes>>20)
	}
	return nil
}

// String gives mailboxes and size as they are written on the command line.
func (s Size) String() string {
	return fmt.Sprintf("%d mailboxes of %d MB", s.Mailboxes, s.MailboxBytes>>20)
}
