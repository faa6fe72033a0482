package sampling

import (
	"encoding/binary"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/topology"
)

// TestCaps decodes a log page of a volume, laid out as Amazon documents it.
func TestCaps(t *testing.T) {
	page := make([]byte, capsBytes)
	binary.LittleEndian.PutUint32(page, 0x3C23B510)
	for i, v := range []uint64{ // from byte 8 on
		// operations, bytes, microseconds
		900000, 800000, 7372800000, 6553600000, 540000000, 960000000,
		31000000, 1500000, 0, 500000, // for which limits were exceeded
		12, // under way
	} {
		binary.LittleEndian.PutUint64(page[8+8*i:], v)
	}
	seconds, err := decodeCaps(page)
	require.NoError(t, err)
	assert.Equal(t, []float64{31, 1.5, 0, .5}, seconds)
	page[0]++
	_, err = decodeCaps(page)
	assert.ErrorContains(t, err, "none of Amazon EBS's")
	assert.EqualValues(t, 0x48, unsafe.Sizeof(adminCommand{}), "as the ioctl's number has it")
	_, told := Caps(
		[]topology.Drive{{Name: "nvme0n1", Model: "Amazon Elastic Block Store"}, {Name: "sda"}},
	)
	assert.False(t, told, "here is no such volume")
}
