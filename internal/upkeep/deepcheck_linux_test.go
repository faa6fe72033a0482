package upkeep

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/device/devicetest"
	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/monitor"
	"ds2/internal/progress"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
)

// TestDeepCheckReads holds what a deep check says of its drive against the counters of the drive,
// which nothing else uses. Of drives that are not observed nothing is said.
func TestDeepCheckReads(t *testing.T) {
	drive := devicetest.Mount(t, "/dev/shm", 300<<20)
	server := pgtest.Start(t, localpg.Options{
		DataDir: filepath.Join(drive.Dir, "data"),
		Settings: map[string]string{
			"shared_buffers": "16MB", "max_wal_size": "64MB", "min_wal_size": "32MB",
		},
	})
	s := pgtest.Open(t, postgres.Open, server.URL("postgres"))
	pgtest.Exec(t, s.DB(),
		"CREATE TABLE big AS SELECT n, repeat(md5(n::text), 30) FROM generate_series(1, 40000) n",
		"CHECKPOINT")
	targets := []store.Database{s}
	observer, err := monitor.Observe(t.Context(), targets, 0, monitor.Options{})
	require.NoError(t, err)
	devicetest.Forget(t, server.DataDir())

	before := drive.Counts(t)
	all, err := DeepCheck(t.Context(), targets, observer, progress.Ignore)
	require.NoError(t, err)
	after := drive.Counts(t)
	require.NotNil(t, all[0].DriveReads)
	require.NotNil(t, all[0].DriveReadMean)
	reads := after.Reads - before.Reads
	assert.InEpsilon(t, reads, *all[0].DriveReads*all[0].Seconds, .05)
	assert.InEpsilon(
		t, (after.ReadSeconds-before.ReadSeconds)/reads, *all[0].DriveReadMean, .05,
	)

	all, err = DeepCheck(t.Context(), targets, new(monitor.Observer), progress.Ignore)
	require.NoError(t, err)
	assert.Nil(t, all[0].DriveReads)
	assert.Nil(t, all[0].DriveReadMean)
}
