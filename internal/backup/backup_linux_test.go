package backup

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/device/devicetest"
	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/monitor"
	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
)

// TestBackupFromDrive reads two databases of a cluster on a drive of its own, from the drive and not from the page
// cache, and compares what the server says that it sent, what its process read, and what the kernel counted of the
// drive.
func TestBackupFromDrive(t *testing.T) {
	drive := devicetest.Mount(t, "", 1<<30)
	settings := map[string]string{"fsync": "off"}
	server := pgtest.Start(t, localpg.Options{DataDir: filepath.Join(drive.Dir, "data"), Settings: settings})
	execute := func(statements ...string) {
		t.Helper()
		pgtest.Exec(t, pgtest.Open(t, postgres.Open, server.URL("postgres")).DB(), statements...)
	}
	execute("CREATE DATABASE other",
		"CREATE TABLE filler AS SELECT repeat('x', 1000) FROM generate_series(1, 200000)")
	server.Kill()
	devicetest.Forget(t, server.DataDir())
	require.NoError(t, server.Restart(t.Context()))
	execute("CHECKPOINT")
	devicetest.Forget(t, server.DataDir())

	var stores []store.Database
	for _, name := range []string{"postgres", "other"} {
		stores = append(stores, pgtest.Open(t, postgres.Open, server.URL(name)))
	}
	observer, err := monitor.Observe(t.Context(), stores, 0, monitor.Options{})
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "record")
	before := drive.Counts(t).ReadBytes
	told := int64(0)
	r, err := Run(t.Context(), Options{
		Targets: stores, Dir: dir, RunID: "test", Observer: observer,
		Tell: func(_ string, done, _ int64) { told = done },
	})
	require.NoError(t, err)
	kernel := drive.Counts(t).ReadBytes - before
	if len(r.Units) != 1 || len(r.Units[0].Targets) != 2 || r.Status != result.Done || told != r.Bytes {
		t.Fatalf("%+v; told %d", r, told)
	}
	if r.Units[0].Device == nil {
		t.Skip("only root and the server's own user may look at the server's processes")
	}
	counted := 0.0
	for _, v := range r.Volumes {
		if v.Name == drive.Name {
			table, err := result.ReadHost(dir, r.Start)
			require.NoError(t, err)
			counted = v.ReadBytes * float64(len(table.Rows))
		}
	}
	for who, bytes := range map[string]float64{
		"the server's process": float64(*r.Units[0].Device), "the kernel": kernel, "the record": counted,
	} {
		assert.InEpsilon(t, r.Bytes, bytes, 0.1, who)
	}
	again, err := result.ReadSummary[result.Backup](dir)
	require.NoError(t, err)
	assert.Equal(t, r.MBPerSecond, again.MBPerSecond)
	assert.Positive(t, again.MBPerSecond)
}
