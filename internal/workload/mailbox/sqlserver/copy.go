package sqlserver

import (
	"encoding/binary"

	"ds2/internal/workload/mailbox"
)

// rowBytes is a row in bcp's native format: whole numbers, and the length of the body before it.
const rowBytes = 8 + 4 + 4 + 4 + 2 + 2 + mailbox.BodySize

// Format is bcp's native one. Rows come in the order of the clustered key, in which the table lies: nothing is sorted,
// no page is split, and of new pages the server logs only that they are there.
func (Engine) Format() mailbox.Format {
	return mailbox.Format{RowBytes: rowBytes, Append: appendRow, ByKey: true}
}

// appendRow appends a row in the order of the columns.
func appendRow(b []byte, r *mailbox.Record) []byte {
	le := binary.LittleEndian
	b = le.AppendUint64(b, uint64(r.Message))
	b = le.AppendUint32(b, uint32(r.Mailbox))
	b = le.AppendUint32(b, r.Flags)
	b = le.AppendUint32(b, r.Sum)
	b = le.AppendUint16(b, uint16(r.Folder))
	return append(le.AppendUint16(b, uint16(len(r.Body))), r.Body...)
}
