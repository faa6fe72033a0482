package monitor_test

import (
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/device/devicetest"
	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/monitor"
	"ds2/internal/sampling"
	"ds2/internal/store"
	"ds2/internal/topology"
)

// TestTablespacesOfOneServer has two databases of one server, each in a default tablespace on a
// separate drive: both drives are observed, none twice, and what all databases of a server share is
// counted once.
func TestTablespacesOfOneServer(t *testing.T) {
	t.Parallel()
	drives := []devicetest.Drive{
		devicetest.Mount(t, "/dev/shm", 100<<20),
		devicetest.Mount(t, "/dev/shm", 100<<20),
	}
	server := pgtest.Start(t, localpg.Options{})
	admin := pgtest.DB(t, server.URL("postgres"))
	var targets []store.Database
	for i, drive := range drives {
		out, err := osexec.Command("chown", "--reference="+server.DataDir(), drive.Dir).
			CombinedOutput()
		require.NoError(t, err, "%s", out)
		name := fmt.Sprintf("on%d", i)
		pgtest.Exec(t, admin, fmt.Sprintf("CREATE TABLESPACE %s LOCATION '%s'", name, drive.Dir))
		pgtest.Exec(t, admin, fmt.Sprintf("CREATE DATABASE %s TABLESPACE %s", name, name))
		targets = append(targets, target(t, server.URL(name)))
	}
	w := observe(t, monitor.Options{}, targets...)
	require.NotNil(t, w.Machine, "the machine is not observed: %v", w.Notes)
	of := map[string]bool{}
	for _, drive := range drives {
		of[drive.Name] = true
	}
	for _, d := range w.Machine.Drives {
		want := topology.Log // that of the data directory
		if of[d.Name] {
			want = topology.Data
		}
		assert.Equal(t, []topology.Role{want}, d.Roles, d.Name)
		delete(of, d.Name)
	}
	assert.Empty(t, of, "drives that are not observed")
	columns := sampling.Table{}
	for _, source := range w.Sources {
		for _, c := range source.Columns {
			columns.Columns = append(columns.Columns, c.Name)
		}
	}
	for want, shared := range [][]string{
		1: {
			sampling.DatabaseLogBytes, sampling.DatabaseLogWrites, sampling.DatabaseLogSyncs, sampling.DatabaseCheckpoints,
			sampling.DatabaseCheckpointPages, sampling.DatabaseSessionPages, sampling.DatabaseBackgroundPages,
			sampling.ServerProcessors, sampling.ServerReadBytes,
		},
		2: {sampling.DatabaseSize, "db.commits_per_second", sampling.SessionsRunning, sampling.DatabaseRoundTrip},
	} {
		for _, column := range shared {
			assert.Len(t, columns.Items(column), want, column)
		}
	}
}

// TestTunnel has a server at the loopback address answer as one at the other end of a tunnel does:
// neither its process nor its files are here, so this machine's drives are none of its.
func TestTunnel(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t)
	db := pgtest.DB(t, address)
	pgtest.Exec(
		t,
		db,
		"CREATE SCHEMA there",
		"CREATE FUNCTION there.pg_backend_pid() RETURNS int LANGUAGE sql AS 'SELECT 99999999'",
		"CREATE FUNCTION there.pg_control_system(OUT system_identifier bigint) LANGUAGE sql AS 'SELECT 1'",
		"DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = there, pg_catalog, public', "+
			"current_database()); END $$",
	)
	here := observe(t, monitor.Options{}, target(t, pgtest.Database(t)))
	assert.True(t, here.Machine != nil && here.Local, "a server on this machine: %v", here.Notes)
	s := target(t, address)
	w := observe(t, monitor.Options{}, s)
	assert.True(t, w.Machine == nil && !w.Local, "a server that is elsewhere: %+v", w.Machine)
	_, _, _, ok := w.Free(s, "/")
	assert.False(t, ok, "this machine's room is taken for that of a server that is elsewhere")
}

// TestPowerFails: where a meter cannot be read, nothing traces I/Os any longer.
func TestPowerFails(t *testing.T) {
	s := target(t, pgtest.Database(t))
	programs := func() (n int) { // of this process, in the kernel
		files, err := filepath.Glob("/proc/self/fd/*")
		require.NoError(t, err)
		for _, file := range files {
			if is, _ := os.Readlink(file); strings.HasPrefix(is, "anon_inode:bpf") {
				n++
			}
		}
		return n
	}
	o := monitor.Options{IOTrace: true}
	w := observe(t, o, s)
	if w.IOTrace == nil {
		t.Skip(w.Notes)
	}
	require.NotZero(t, programs())
	w.Close()
	require.Zero(t, programs())
	o.PowerCommand = "exit 1"
	_, err := monitor.Observe(t.Context(), []store.Database{s}, 0, o)
	require.ErrorContains(t, err, "exit status 1")
	require.Zero(t, programs())
}
