package postgres

import (
	"database/sql"
	"os"
	"testing"

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
	db, err := sql.Open("pgx", server.URL("postgres"))
	require.NoError(t, err)
	// The catalogs alone are small, and every session reads some of them. A checkpoint leaves recovery nothing to read.
	pgtest.Exec(t, db, "CREATE TABLE filler AS SELECT repeat('x', 1000) FROM generate_series(1, 40000)", "CHECKPOINT")
	db.Close()
	got := deepChecked(t, server)
	if got.Reading.Device == nil {
		require.NotEqual(t, 0, os.Geteuid(), "root was not told what the server's process read")
		t.Skip("only root and the server's own user may look at the server's processes")
	}
	// The database was made just now, so the page cache holds it all.
	if *got.Reading.Device > got.Bytes/2 {
		t.Errorf("%d of %d bytes came from the drive just after they were written", *got.Reading.Device, got.Bytes)
	}
	server.Kill()
	devicetest.Forget(t, server.DataDir())
	require.NoError(t, server.Restart(t.Context()))
	if got := deepChecked(t, server); *got.Reading.Device < got.Bytes/2 {
		t.Errorf("%d of %d bytes came from the drive, after the page cache had been emptied", *got.Reading.Device, got.Bytes)
	}
}
