package sampling

import (
	"encoding/binary"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/topology"
)

// ebsMetrics is the log page as EBS's CSI driver decodes it (EBSMetrics in pkg/metrics/nvme.go of
// aws-ebs-csi-driver, August 2026), without the histograms at its end.
type ebsMetrics struct {
	EBSMagic                                 uint64
	ReadOps, WriteOps, ReadBytes, WriteBytes uint64
	TotalReadTime, TotalWriteTime            uint64
	EBSIOPSExceeded, EBSThroughputExceeded   uint64
	EC2IOPSExceeded, EC2ThroughputExceeded   uint64
	QueueLength                              uint64
}

// TestCaps decodes a log page of a volume, laid out as the driver has it.
func TestCaps(t *testing.T) {
	page, err := binary.Append(nil, binary.LittleEndian, ebsMetrics{
		EBSMagic: 0x3C23B510, ReadOps: 900000, WriteOps: 800000,
		ReadBytes: 7372800000, WriteBytes: 6553600000,
		TotalReadTime: 540000000, TotalWriteTime: 960000000,
		EBSIOPSExceeded: 31000000, EBSThroughputExceeded: 1500000, EC2ThroughputExceeded: 500000,
		QueueLength: 12,
	})
	require.NoError(t, err)
	page = append(page, make([]byte, capsBytes-len(page))...)
	seconds, err := decodeCaps(page)
	require.NoError(t, err)
	assert.Equal(t, []float64{31, 1.5, 0, .5}, seconds)
	page[0]++
	_, err = decodeCaps(page)
	assert.ErrorContains(t, err, "does not hold Amazon EBS's")
	assert.EqualValues(t, 0x48, unsafe.Sizeof(adminCommand{}), "as the ioctl's number has it")
	caps := Caps(
		[]topology.Drive{{Name: "nvme0n1", Model: "Amazon Elastic Block Store"}, {Name: "sda"}},
	)
	assert.Empty(t, caps, "here is no such volume")
}
