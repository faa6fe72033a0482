package postgres_test

import (
	"context"
	"database/sql"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
)

// TestReadBackup reads a backup of a cluster and compares its bytes with what the server itself says that its
// tablespaces take.
func TestReadBackup(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, localpg.Options{Checksums: true})
	s := open(t, server.URL("postgres"))
	pgtest.Exec(t, s.DB(), "CREATE TABLE filler AS SELECT repeat('x', 1000) FROM generate_series(1, 20000)")
	var told, total int64
	got, err := s.Can().Backup.ReadBackup(t.Context(), func(done, all int64) { told, total = done, all })
	require.NoError(t, err)
	tablespaces := pgtest.Value[int64](t, s.DB(), "SELECT sum(pg_tablespace_size(oid))::bigint FROM pg_tablespace")
	t.Logf("%+v; tablespaces take %d", got, tablespaces)
	// The archive has a header for each file and a few small files besides.
	most := 1.03*float64(tablespaces) + 1e6
	assert.True(t, got.Bytes >= tablespaces && float64(got.Bytes) <= most && got.Seconds > 0 && got.Checksums,
		"read %+v of tablespaces of %d bytes", got, tablespaces)
	assert.True(t, told == got.Bytes && total >= tablespaces, "progress ended at %d of %d", told, total)
	assert.True(t, os.Geteuid() != 0 || got.Device != nil, "root was not told what the server's process read")
	nothingLeft(t, s.DB())
}

// nothingLeft waits until the server serves no backup, and makes sure that there is no slot.
func nothingLeft(t *testing.T, db *sql.DB) {
	t.Helper()
	pgtest.Await(t, db, `SELECT NOT EXISTS (SELECT FROM pg_stat_progress_basebackup)
		AND NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'walsender')`)
	assert.Zero(t, pgtest.Value[int](t, db, "SELECT count(*) FROM pg_replication_slots"), "slots are left behind")
}

// amid calls f while the server is at a backup: it waits for a checkpoint whose process the test has stopped. It is
// stopped when idle: amid a checkpoint it may hold the lock of the control file, for which the backup would wait first.
func amid(t *testing.T, db *sql.DB, f func(checkpointer int)) {
	t.Helper()
	const find = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'"
	pgtest.Exec(t, db, "CHECKPOINT")
	pgtest.Await(t, db, "SELECT EXISTS ("+find+" AND wait_event = 'CheckpointerMain')")
	checkpointer := pgtest.Value[int](t, db, find)
	if err := syscall.Kill(checkpointer, syscall.SIGSTOP); err != nil {
		t.Skip("only root and the server's own user may stop its processes: ", err)
	}
	t.Cleanup(func() { syscall.Kill(checkpointer, syscall.SIGCONT) })
	f(checkpointer)
}

// underWay asks whether the server is at a backup.
const underWay = "SELECT EXISTS (SELECT FROM pg_stat_progress_basebackup WHERE phase LIKE 'waiting for checkpoint%')"

// TestReadBackupCutOff has the server killed, the backup canceled and ds2 killed amid a backup. Nothing is left behind.
func TestReadBackupCutOff(t *testing.T) {
	if target := os.Getenv("DS2_TEST_BACKUP"); target != "" { // the program to be killed
		_, err := open(t, target).Can().Backup.ReadBackup(t.Context(), func(int64, int64) {})
		t.Fatal(err)
	}
	server := pgtest.Start(t, localpg.Options{Checksums: true})
	s := open(t, server.URL("postgres"))
	db := s.DB()
	begin := func(ctx context.Context) chan error {
		done := make(chan error, 1)
		go func() {
			_, err := s.Can().Backup.ReadBackup(ctx, func(int64, int64) {})
			done <- err
		}()
		pgtest.Await(t, db, underWay)
		return done
	}
	amid(t, db, func(checkpointer int) {
		ctx, cancel := context.WithCancel(t.Context())
		done := begin(ctx)
		cancel()
		assert.ErrorIs(t, <-done, context.Canceled, "canceled")
		syscall.Kill(checkpointer, syscall.SIGCONT)
	})
	nothingLeft(t, db)

	amid(t, db, func(checkpointer int) {
		program := exec.Command(os.Args[0], "-test.run", "^TestReadBackupCutOff$")
		program.Env = append(os.Environ(), "DS2_TEST_BACKUP="+server.URL("postgres"))
		require.NoError(t, program.Start())
		pgtest.Await(t, db, underWay)
		program.Process.Kill()
		program.Wait()
		syscall.Kill(checkpointer, syscall.SIGCONT)
	})
	nothingLeft(t, db)

	amid(t, db, func(int) {
		done := begin(t.Context())
		server.Kill()
		assert.Equal(t, store.Connection, store.Classify(<-done), "the server was killed")
	})
	require.NoError(t, server.Restart(t.Context()))
	db.SetMaxIdleConns(0)
	nothingLeft(t, db)
	next := open(t, server.URL("postgres")) // the connections of the other are dead
	b, err := next.Can().Backup.ReadBackup(t.Context(), func(int64, int64) {})
	assert.True(t, err == nil && b.Bytes > 0, "the next backup: %+v, %v", b, err)
}
