package mailbox

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ordered is an engine that takes records by their keys, or not.
type ordered struct {
	Engine
	byKey bool
}

func (e ordered) ByKey() bool { return e.byKey }

// TestParts: an engine gets each record once, in the order that it wants them, and the same again.
func TestParts(t *testing.T) {
	for _, byKey := range []bool{false, true} {
		d := Dataset{
			Size:    Size{20, 2 << 20},
			Seed:    5,
			Engines: map[string]Engine{"a": ordered{byKey: byKey}},
		}
		parts := d.Parts("a")
		require.Greater(t, len(parts), 1)
		require.Nil(t, d.Parts("b"), "of an engine that is not there")
		found := NewLive(1)
		n := int64(0)
		sorted := true
		var last []byte
		for i, part := range parts {
			before := n
			rows := part.Open()
			again := d.Parts("a")[i].Open()
			for row := rows(); row != nil; row = rows() {
				n++
				require.True(
					t,
					reflect.DeepEqual(row, again()),
					"part %d is another the second time",
					i,
				)
				found.AddRecord(d.makeShape().NumberOf(row[0].Int))
				key := binary.BigEndian.AppendUint32(nil, uint32(row[1].Int))
				key = binary.BigEndian.AppendUint16(key, uint16(row[4].Int))
				key = binary.BigEndian.AppendUint64(key, uint64(row[0].Int)^1<<63)
				sorted = sorted && bytes.Compare(last, key) < 0
				last = key
			}
			assert.Equal(t, part.Rows, n-before, "rows of part %d", i)
		}
		want := d.Size.CountRecords()
		assert.Equal(
			t,
			[]int64{want, want, want},
			[]int64{n, found.CountRecords(), int64(found.EndOfNumbers())},
			"by key %v",
			byKey,
		)
		assert.Equal(t, byKey, sorted, "sorted")
	}
}
