package mailbox

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// keysOnly is an engine whose rows are keys.
type keysOnly struct {
	Engine
	byKey bool
}

func (e keysOnly) Format() Format {
	row := func(b []byte, r *Record) []byte {
		b = binary.BigEndian.AppendUint32(b, uint32(r.Mailbox))
		b = binary.BigEndian.AppendUint16(b, uint16(r.Folder))
		return binary.BigEndian.AppendUint64(b, uint64(r.Message)^1<<63)
	}
	return Format{Header: "head", Trailer: "end", RowBytes: 14, ByKey: e.byKey, Append: row}
}

// TestParts: an engine gets each record once, in the order that it wants them, and the same bytes again.
func TestParts(t *testing.T) {
	for _, byKey := range []bool{false, true} {
		d := Dataset{Size: Size{20, 2 << 20}, Seed: 5, Engines: map[string]Engine{"a": keysOnly{byKey: byKey}}}
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
		n := d.Size.Records()
		numbers := []int64{int64(len(rows)), found.Records(), int64(found.End())}
		assert.Equal(t, []int64{n, n, n}, numbers, "by key %v", byKey)
		assert.Equal(t, byKey, sorted, "sorted")
	}
}
