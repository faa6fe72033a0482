package postgres

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

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
	server, db := backupServer(t)
	pgtest.Exec(t, db, "CREATE TABLE filler AS SELECT repeat('x', 1000) FROM generate_series(1, 20000)")
	var told, total int64
	got, err := openStore(t, server.URL("postgres")).Can().Backup.ReadBackup(t.Context(), func(done, all int64) { told, total = done, all })
	require.NoError(t, err)
	var tablespaces int64
	require.NoError(t, db.QueryRow("SELECT sum(pg_tablespace_size(oid))::bigint FROM pg_tablespace").Scan(&tablespaces))
	t.Logf("%+v; tablespaces take %d", got, tablespaces)
	// The archive has a header for each file and a few small files besides.
	if got.Bytes < tablespaces || float64(got.Bytes) > 1.03*float64(tablespaces)+1e6 || got.Seconds <= 0 || !got.Checksums {
		t.Errorf("read %+v of tablespaces of %d bytes", got, tablespaces)
	}
	assert.True(t, told == got.Bytes && total >= tablespaces, "progress ended at %d of %d", told, total)
	assert.True(t, os.Geteuid() != 0 || got.Device != nil, "root was not told what the server's process read")
	nothingLeft(t, db)

	pgtest.Exec(t, db, "CREATE ROLE nobody LOGIN PASSWORD 'secret'")
	_, err = openStore(t, pgtest.As(t, server.URL("postgres"), "nobody", "secret")).Can().Backup.ReadBackup(t.Context(), func(int64, int64) {})
	if e, ok := errors.AsType[*store.Error](err); !ok || e.Class != store.Config || e.Hint == "" {
		t.Errorf("without the right: %v", err)
	}
}

// backupServer starts a server with checksums that the test may kill.
func backupServer(t *testing.T) (*localpg.Server, *sql.DB) {
	t.Helper()
	server := pgtest.Start(t, localpg.Options{Checksums: true})
	return server, open(t, server)
}

func openStore(t *testing.T, target string) *Store {
	t.Helper()
	return pgtest.Open(t, Open, target).(*Store)
}

// nothingLeft waits until the server serves no backup, and makes sure that there is no slot.
func nothingLeft(t *testing.T, db *sql.DB) {
	t.Helper()
	const left = "SELECT (SELECT count(*) FROM pg_stat_progress_basebackup) + (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'walsender'), (SELECT count(*) FROM pg_replication_slots)"
	processes, slots := 1, 0
	for end := time.Now().Add(5 * time.Minute); processes > 0 && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		require.NoError(t, db.QueryRow(left).Scan(&processes, &slots))
	}
	assert.True(t, processes <= 0 && slots <= 0, "%d processes and %d slots are left behind", processes, slots)
}

// amid calls f while the server is at a backup: it waits for a checkpoint whose process the test has stopped.
func amid(t *testing.T, db *sql.DB, f func(checkpointer int)) {
	t.Helper()
	var checkpointer int
	require.NoError(t, db.QueryRow("SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'").Scan(&checkpointer))
	if err := syscall.Kill(checkpointer, syscall.SIGSTOP); err != nil {
		t.Skip("only root and the server's own user may stop its processes: ", err)
	}
	t.Cleanup(func() { syscall.Kill(checkpointer, syscall.SIGCONT) })
	f(checkpointer)
}

// underWay waits until the server is at a backup.
func underWay(t *testing.T, db *sql.DB) {
	t.Helper()
	phase := ""
	for end := time.Now().Add(5 * time.Minute); phase == ""; time.Sleep(10 * time.Millisecond) {
		err := db.QueryRow("SELECT phase FROM pg_stat_progress_basebackup WHERE phase LIKE 'waiting for checkpoint%'").Scan(&phase)
		if err != nil && !errors.Is(err, sql.ErrNoRows) || time.Now().After(end) {
			t.Fatal("no backup began: ", err)
		}
	}
}

// TestReadBackupCutOff has the server killed, the backup canceled and ds2 killed amid a backup. Nothing is left behind.
func TestReadBackupCutOff(t *testing.T) {
	server, db := backupServer(t)
	st := openStore(t, server.URL("postgres"))
	begin := func(ctx context.Context) chan error {
		done := make(chan error, 1)
		go func() {
			_, err := st.Can().Backup.ReadBackup(ctx, func(int64, int64) {})
			done <- err
		}()
		underWay(t, db)
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
		program := exec.Command(os.Args[0], "-test.run", "^TestReadBackupToBeKilled$")
		program.Env = append(os.Environ(), "DS2_TEST_BACKUP="+server.URL("postgres"))
		require.NoError(t, program.Start())
		underWay(t, db)
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
	next := openStore(t, server.URL("postgres")) // the connections of the other are dead
	if b, err := next.Can().Backup.ReadBackup(t.Context(), func(int64, int64) {}); err != nil || b.Bytes == 0 {
		t.Errorf("the next backup: %+v, %v", b, err)
	}
}

// TestReadBackupToBeKilled is the program that TestReadBackupCutOff kills.
func TestReadBackupToBeKilled(t *testing.T) {
	if target := os.Getenv("DS2_TEST_BACKUP"); target != "" {
		_, err := openStore(t, target).Can().Backup.ReadBackup(t.Context(), func(int64, int64) {})
		t.Error(err)
	}
}
