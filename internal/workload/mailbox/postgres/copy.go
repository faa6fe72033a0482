package postgres

import (
	"encoding/binary"

	"ds2/internal/workload/mailbox"
)

// PostgreSQL's binary format of COPY: a header, rows of as many fields as the table has columns, each with its length
// before it, and a trailer.
const (
	copyHeader  = "PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	copyTrailer = "\xff\xff"
	copyFields  = 6
	copyRow     = 2 + copyFields*4 + 8 + 4 + 4 + 4 + 2 + mailbox.BodySize
)

// Format is COPY's binary one. Rows come by their numbers, and the key is made after them.
func (Engine) Format() mailbox.Format {
	return mailbox.Format{Header: copyHeader, Trailer: copyTrailer, RowBytes: copyRow, Append: appendRow}
}

// appendRow appends a row in the order of the columns.
func appendRow(b []byte, r *mailbox.Record) []byte {
	be := binary.BigEndian
	b = be.AppendUint16(b, copyFields)
	b = be.AppendUint64(be.AppendUint32(b, 8), uint64(r.Message))
	b = be.AppendUint32(be.AppendUint32(b, 4), uint32(r.Mailbox))
	b = be.AppendUint32(be.AppendUint32(b, 4), r.Flags)
	b = be.AppendUint32(be.AppendUint32(b, 4), r.Sum)
	b = be.AppendUint16(be.AppendUint32(b, 2), uint16(r.Folder))
	return append(be.AppendUint32(b, uint32(len(r.Body))), r.Body...)
}
