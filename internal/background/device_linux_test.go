package background

import (
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/device/devicetest"
	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
)

// TestDeviceSeesScrub holds what a scan says that it read against the counters of a drive that
// nothing else uses. The kernel has nothing of the drive in its cache.
func TestDeviceSeesScrub(t *testing.T) {
	drive := devicetest.Mount(t, "/dev/shm", 300<<20)
	server := pgtest.Start(
		t,
		localpg.Options{DataDir: filepath.Join(drive.Dir, "data"), Settings: map[string]string{
			"shared_buffers": "16MB",
			"max_wal_size":   "64MB",
			"min_wal_size":   "32MB",
			"autovacuum":     "off",
		}},
	)
	s := pgtest.Open(t, postgres.Open, server.URL("postgres"))
	pgtest.Exec(
		t,
		s.DB(),
		// 57 MB
		"CREATE TABLE big AS SELECT n, repeat(md5(n::text), 30) FROM generate_series(1, 50000) n",
		"CHECKPOINT",
	)
	devicetest.Forget(t, server.DataDir())

	const rate, seconds = 8e6, 5
	before := drive.Counts(t).ReadBytes
	r, err := NewScrubs([]store.Database{s}, rate, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	r.Start()
	time.Sleep(seconds * time.Second)
	r.Close()
	seen := drive.Counts(t).ReadBytes - before
	x := r.Results()[0]
	t.Logf("asked for %.2f MB/s, read %.2f MB/s in %d requests; the drive counted %.2f MB/s",
		rate/1e6, x.PerSecond()/1e6, x.Requests, seen/1e6/x.Seconds)
	// A busy machine may read more slowly than it should, which only shows in the log above.
	assert.True(t, x.Error == "" && x.PerSecond() <= 1.1*rate && x.Requests >= 20, "%+v", x)
	// The server itself reads too, and the kernel ahead of both.
	assert.GreaterOrEqual(
		t,
		seen,
		0.9*float64(x.Bytes),
		"that the drive counted, by what the scan says",
	)
	assert.LessOrEqual(
		t,
		seen,
		1.25*float64(x.Bytes),
		"that the drive counted, by what the scan says",
	)
	require.NotNil(t, x.Device, "what the server's process read from drives")
	assert.GreaterOrEqual(
		t,
		float64(*x.Device),
		0.9*float64(x.Bytes),
		"from drives, as the scan says",
	)
	assert.LessOrEqual(t, float64(*x.Device), seen, "from drives, as the scan says")
}
