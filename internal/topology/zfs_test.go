package topology

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestParsePool reads outputs of `zpool list -v -H -P -L`.
func TestParsePool(t *testing.T) {
	for file, want := range map[string][]string{
		"zpool-mirrors": {"nvme0n1p1", "nvme1n1p1", "sdc1", "sdd1", "nvme2n1p1"},
		"zpool-raidz":   {"sda1", "sdb1", "dm-3"},
		"zpool-single":  {"vdb1"},
	} {
		rows, err := os.ReadFile("testdata/" + file)
		require.NoError(t, err)
		assert.Equal(t, want, parsePool(string(rows)), file)
	}
}
