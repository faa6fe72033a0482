package mailbox

import (
	"bytes"
	"context"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/internal/store"
)

// keysOnly is an engine whose rows are keys.
type keysOnly struct{ byKey bool }

func (e keysOnly) Format() Format {
	return Format{Header: "head", Trailer: "end", RowBytes: 14, ByKey: e.byKey, Append: func(b []byte, r *Record) []byte {
		b = binary.BigEndian.AppendUint32(b, uint32(r.Mailbox))
		b = binary.BigEndian.AppendUint16(b, uint16(r.Folder))
		return binary.BigEndian.AppendUint64(b, uint64(r.Message)^1<<63)
	}}
}
func (keysOnly) SharesLog() bool                                          { return false }
func (keysOnly) Check(context.Context, store.Database, Parameters) error  { return nil }
func (keysOnly) Connect(context.Context, store.Database) (Session, error) { return nil, nil }
func (keysOnly) Bytes(context.Context, store.Database) (int64, error)     { return 0, nil }
func (keysOnly) Counted(context.Context, store.Database) (int64, error)   { return UnknownRecords, nil }
func (keysOnly) Direct(map[string]string) string                          { return "" }

// TestParts: an engine gets each record once, in the order that it wants them, and the same bytes again.
func TestParts(t *testing.T) {
	for _, byKey := range []bool{false, true} {
		d := Dataset{Size: Size{20, 2 << 20}, Seed: 5, Engines: map[string]Engine{"a": keysOnly{byKey}}}
		parts := d.Parts("a")
		if len(parts) < 2 || d.Parts("b") != nil {
			t.Fatalf("%d parts, and %d of an engine that is not there", len(parts), len(d.Parts("b")))
		}
		var rows [][]byte
		for i, part := range parts {
			var b, again bytes.Buffer
			if n, err := part.WriteTo(&b); err != nil || n != part.Bytes || int64(b.Len()) != n {
				t.Fatalf("part %d: %d bytes of %d: %v", i, n, part.Bytes, err)
			}
			if _, err := d.Parts("a")[i].WriteTo(&again); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
				t.Fatalf("part %d is another the second time: %v", i, err)
			}
			body := bytes.TrimSuffix(bytes.TrimPrefix(b.Bytes(), []byte("head")), []byte("end"))
			require.Equal(t, 14*part.Rows, int64(len(body)), "part %d: %d bytes of %d rows", i, len(body), part.Rows)
			for ; len(body) > 0; body = body[14:] {
				rows = append(rows, body[:14])
			}
		}
		found, sorted := NewLive(1), true
		for i, row := range rows {
			found.Add(d.shape().Number(int64(binary.BigEndian.Uint64(row[6:]) ^ 1<<63)))
			sorted = sorted && (i == 0 || bytes.Compare(rows[i-1], row) < 0)
		}
		if n := d.Size.Records(); int64(len(rows)) != n || found.Records() != n || found.End() != uint64(n) || sorted != byKey {
			t.Errorf("by key %v: %d rows of %d records up to number %d, for %d; sorted %v", byKey, len(rows), found.Records(), found.End(), n, sorted)
		}
	}
}
