package postgres_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/device/devicetest"
	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
)

// TestDeviceBytes reads a table from the drive and says how much that was; what the page cache holds is no read of a
// drive.
func TestDeviceBytes(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, localpg.Options{DataDir: devicetest.TempDir(t)})
	s := open(t, server.URL("postgres"))
	// The catalogs alone are small, and every session reads some of them. A checkpoint leaves recovery nothing to read.
	pgtest.Exec(t, s.DB(),
		"CREATE TABLE filler AS SELECT repeat('x', 1000) FROM generate_series(1, 40000)", "CHECKPOINT")
	s.Close()
	got := deepChecked(t, server)
	if got.Reading.Device == nil {
		require.NotEqual(t, 0, os.Geteuid(), "root was not told what the server's process read")
		t.Skip("only root and the server's own user may look at the server's processes")
	}
	// The database was made just now, so the page cache holds it all.
	assert.LessOrEqual(t, *got.Reading.Device, got.Bytes/2, "bytes came from the drive just after they were written")
	server.Kill()
	devicetest.Forget(t, server.DataDir())
	require.NoError(t, server.Restart(t.Context()))
	got = deepChecked(t, server)
	assert.GreaterOrEqual(t, *got.Reading.Device, got.Bytes/2, "bytes came from the drive, with an empty page cache")
}
