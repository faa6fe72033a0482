package mailbox

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"

	"ds2/datagen"
	"ds2/internal/store"
	"ds2/internal/workload"
	"ds2/schema"
)

// Dataset is what a load brings into a mailbox database.
type Dataset struct {
	Size    Size // has passed Check
	Seed    uint64
	Profile string // of the runs that it is meant for

	Engines map[string]Engine // that it can be loaded into, by their names
}

// makeShape is what the records are made again from.
func (d Dataset) makeShape() Shape { return Shape{d.Size.Mailboxes, d.Seed} }
func (d Dataset) String() string   { return d.Size.String() }

// Info is what the table ds2_info says of the dataset.
func (d Dataset) Info() store.Info {
	return store.Info{
		store.InfoWorkload: Name,
		store.InfoSize:     d.String(),
		infoMailboxes:      fmt.Sprint(d.Size.Mailboxes),
		infoMailboxBytes:   fmt.Sprint(d.Size.MailboxBytes),
		infoSeed:           fmt.Sprint(d.Seed),
		infoProfile:        d.Profile,
	}
}

// For gives a target separate records, by its label, unless a seed was asked for: storage then
// gains nothing by deduplication.
func (d Dataset) For(label string) workload.Dataset {
	if d.Seed == 0 {
		h := fnv.New64a()
		h.Write([]byte(label))
		d.Seed = h.Sum64()
	}
	return d
}

// SignatureColumns tell tables of the mailbox store from those of others.
func (Dataset) SignatureColumns() map[string]string {
	return map[string]string{string(table): "folder_id"}
}

// Params names the workload's own schema, which has lazy commits, and the size.
func (d Dataset) Params(p schema.Params) schema.Params {
	p.Workload = Name
	p.Bytes = d.Size.TotalBytes()
	p.Layout.Uses = schema.Features{
		Files: true, Recovery: true, ServerState: true, Owners: true, DelayedDurability: true,
	}
	return p
}

// table is the one table.
const table datagen.Table = "messages"

// partRecords is how many records a part has: 14 MB of them, so that a load that is resumed repeats
// little.
const partRecords = 2048

// rowBytes is what a row is, for the progress of a load.
const rowBytes = 8 + 4 + 4 + 4 + 2 + BodySize

// Parts are the records, in the order that an engine wants.
func (d Dataset) Parts(engine string) []datagen.Part {
	e, ok := d.Engines[engine]
	if !ok {
		return nil // nor is there a schema
	}
	shape := d.makeShape()
	all := d.Size.CountRecords()
	number := func(i uint64) uint64 { return i }
	if e.ByKey() {
		order := sync.OnceValue(func() []uint32 { return byKey(shape, all) })
		number = func(i uint64) uint64 { return uint64(order()[i]) }
	}
	var parts []datagen.Part
	for from := int64(0); from < all; from += partRecords {
		n := min(partRecords, all-from)
		parts = append(parts, datagen.Part{
			Table: table, File: string(table), Rows: n, Bytes: n * rowBytes,
			Open: func() datagen.Rows {
				return shape.generateRows(number, uint64(from), uint64(from+n))
			},
		})
	}
	return parts
}

// byKey is the numbers of the first n records in the order of their keys; a number is below
// maxRecords.
func byKey(shape Shape, n int64) []uint32 {
	order := make([]uint32, n)
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(i, j uint32) int {
		a := shape.KeyOf(uint64(i))
		b := shape.KeyOf(uint64(j))
		return cmp.Or(cmp.Compare(a.Mailbox, b.Mailbox), cmp.Compare(a.Folder, b.Folder),
			cmp.Compare(a.Message, b.Message))
	})
	return order
}

// generateRows are the records of some places; number is that of the record of a place.
func (s Shape) generateRows(number func(place uint64) uint64, from, end uint64) datagen.Rows {
	r := new(Record)
	row := new([6]datagen.Value)
	return func() []datagen.Value {
		if from == end {
			return nil
		}
		n := number(from)
		from++
		s.FillRecord(r, n, uint32(mixBits(n^s.Seed)))
		row[0].Int = r.Message
		row[1].Int = int64(r.Mailbox)
		row[2].Int = int64(int32(r.Flags))
		row[3].Int = int64(int32(r.Sum))
		row[4].Int = int64(r.Folder)
		row[5].Text = r.Body
		return row[:]
	}
}

// Size is how much a database is to hold.
type Size struct {
	Mailboxes    int   `json:"mailboxes"`
	MailboxBytes int64 `json:"mailbox_bytes"`
}

// MinBytes is the smallest size of a database, below which the shares of its parts are not what
// they are in a large one.
const MinBytes = 10 << 20

// maxRecords bounds what one driver keeps in memory of a database.
const maxRecords = 1 << 32

// recordBytes is what a record takes in the database after the load: its page, its entry in the
// index, of 28 bytes on leaves that are filled to nine tenths, and its part of the free space map.
const recordBytes = 8192 * (1 + 1./262 + 1./4000)

// FitMailboxes is the mailboxes of a size that Jetstress's reports put on a file system: 60 % of
// it, in steps of 50; the rest is for growth and the log, alike.
func FitMailboxes(bytes, mailbox int64) int {
	return int(0.6*float64(bytes)/float64(mailbox)) / 50 * 50
}

// TotalBytes are those of all mailboxes.
func (s Size) TotalBytes() int64 { return int64(s.Mailboxes) * s.MailboxBytes }

// CountRecords are as many as fill the mailboxes.
func (s Size) CountRecords() int64 {
	bytes := float64(s.Mailboxes) * float64(s.MailboxBytes) // it may be more than an int64 holds
	return int64(bytes / recordBytes)
}

// CheckSize refuses sizes that make no database.
func (s Size) CheckSize() error {
	switch {
	case s.Mailboxes < 1 || s.Mailboxes > 10_000_000:
		return fmt.Errorf("%d mailboxes: it must be 1 to 10000000", s.Mailboxes)
	case s.MailboxBytes < 1<<20 || s.MailboxBytes > 1<<40:
		return fmt.Errorf("mailboxes of %d bytes: it must be 1MB to 1TB", s.MailboxBytes)
	case s.CountRecords() > maxRecords:
		return fmt.Errorf("%s hold %d records, and a database holds at most %d: choose fewer or smaller mailboxes",
			s, s.CountRecords(), int64(maxRecords))
	case s.TotalBytes() < MinBytes:
		return fmt.Errorf("%s come to %d MB, and a database has at least %d MB: choose more or larger mailboxes",
			s, s.TotalBytes()>>20, MinBytes>>20)
	}
	return nil
}

func (s Size) String() string {
	return fmt.Sprintf("%d mailboxes of %d MB", s.Mailboxes, s.MailboxBytes>>20)
}
