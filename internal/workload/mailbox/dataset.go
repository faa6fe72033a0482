package mailbox

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"

	"ds2/datagen"
	"ds2/internal/store"
	"ds2/internal/workload"
	"ds2/schema"
)

var (
	_ workload.Dataset   = Dataset{}
	_ workload.PerTarget = Dataset{}
)

// Dataset is what a load brings into a mailbox database.
type Dataset struct {
	Size    Size // has passed Check
	Seed    uint64
	Profile string // of the runs that it is meant for
}

func (d Dataset) shape() Shape { return Shape{d.Size.Mailboxes, d.Seed} }

// String names the mailboxes.
func (d Dataset) String() string { return d.Size.String() }

// Info is what the database is to say of itself.
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

// For gives records of their own to a target, by its label, unless a seed was asked for: storage then gains nothing by
// deduplication.
func (d Dataset) For(label string) workload.Dataset {
	if d.Seed == 0 {
		h := fnv.New64a()
		h.Write([]byte(label))
		d.Seed = h.Sum64()
	}
	return d
}

// Telltales are of the table of records.
func (Dataset) Telltales() map[string]string { return map[string]string{string(table): "folder_id"} }

// Statements are those of the workload's own schema.
func (d Dataset) Statements(engine string, phase schema.Phase, p schema.Params) ([]schema.Statement, error) {
	if phase == schema.Data {
		return nil, nil // rows are always streamed
	}
	p.Workload = Name
	return schema.Statements(engine, phase, p)
}

// table is the one table.
const table datagen.Table = "messages"

// partRecords is how many records a part has: 14 MB of them, so that a load that is resumed repeats little.
const partRecords = 2048

// Parts are the records by number. Their bytes are those of PostgreSQL's COPY in its binary format: as text, a body takes twice
// as many.
func (d Dataset) Parts(string) []datagen.Part {
	var parts []datagen.Part
	shape := d.shape()
	for from, all := int64(0), d.Size.Records(); from < all; from += partRecords {
		n := min(partRecords, all-from)
		parts = append(parts, datagen.Part{
			Table: table, File: string(table), Rows: n, Bytes: int64(len(copyHeader)+len(copyTrailer)) + n*copyRow, Binary: true,
			WriterTo: records{shape, uint64(from), uint64(n)},
		})
	}
	return parts
}

// records writes records from a number on.
type records struct {
	shape   Shape
	from, n uint64
}

// PostgreSQL's binary format of COPY: a header, rows of as many fields as the table has columns, each with its length before
// it, and a trailer.
const (
	copyHeader  = "PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	copyTrailer = "\xff\xff"
	copyFields  = 6
	copyRow     = 2 + copyFields*4 + 8 + 4 + 4 + 4 + 2 + BodySize
)

// WriteTo writes the records.
func (r records) WriteTo(w io.Writer) (written int64, err error) {
	put := func(b []byte) {
		if err == nil {
			var n int
			n, err = w.Write(b)
			written += int64(n)
		}
	}
	put([]byte(copyHeader))
	var record Record
	row := make([]byte, 0, copyRow)
	for n := r.from; n < r.from+r.n && err == nil; n++ {
		r.shape.Fill(&record, n, uint32(mix(n^r.shape.Seed)))
		put(appendRow(row, &record))
	}
	put([]byte(copyTrailer))
	return written, err
}

// appendRow appends a row in the order of the columns.
func appendRow(b []byte, r *Record) []byte {
	be := binary.BigEndian
	b = be.AppendUint16(b, copyFields)
	b = be.AppendUint64(be.AppendUint32(b, 8), uint64(r.Message))
	b = be.AppendUint32(be.AppendUint32(b, 4), uint32(r.Mailbox))
	b = be.AppendUint32(be.AppendUint32(b, 4), r.Flags)
	b = be.AppendUint32(be.AppendUint32(b, 4), r.Sum)
	b = be.AppendUint16(be.AppendUint32(b, 2), uint16(r.Folder))
	return append(be.AppendUint32(b, uint32(len(r.Body))), r.Body...)
}
