package monitor_test

import (
	"fmt"
	osexec "os/exec"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/internal/device/devicetest"
	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/monitor"
	"ds2/internal/store"
)

// TestTablespacesOfOneServer has two databases of one server, each in a default tablespace on a drive of its own: both
// drives are observed, none twice, and what all databases of a server share is counted once.
func TestTablespacesOfOneServer(t *testing.T) {
	t.Parallel()
	drives := []devicetest.Drive{devicetest.Mount(t, "/dev/shm", 100<<20), devicetest.Mount(t, "/dev/shm", 100<<20)}
	server, err := localpg.Start(t.Context(), localpg.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { server.Stop() })
	admin := open(t, server.URL("postgres"))
	var targets []store.Database
	for i, drive := range drives {
		if out, err := osexec.Command("chown", "--reference="+server.DataDir(), drive.Dir).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		name := fmt.Sprintf("on%d", i)
		pgtest.Exec(t, admin, fmt.Sprintf("CREATE TABLESPACE %s LOCATION '%s'", name, drive.Dir))
		pgtest.Exec(t, admin, fmt.Sprintf("CREATE DATABASE %s TABLESPACE %s", name, name))
		targets = append(targets, target(t, server.URL(name)))
	}
	w, err := monitor.Observe(t.Context(), targets, 0, monitor.Options{})
	require.NoError(t, err)
	if w.Machine == nil {
		t.Fatalf("the machine is not observed: %v", w.Notes)
	}
	roles := map[string][]monitor.Role{}
	for _, d := range w.Machine.Drives {
		roles[d.Name] = d.Roles
	}
	for _, drive := range drives {
		if got := roles[drive.Name]; !slices.Equal(got, []monitor.Role{monitor.Data}) {
			t.Errorf("drive %s of a database has the roles %v, want data", drive.Name, got)
		}
		delete(roles, drive.Name)
	}
	for name, got := range roles { // that of the data directory
		if !slices.Equal(got, []monitor.Role{monitor.Log}) {
			t.Errorf("drive %s of the server's log has the roles %v, want log", name, got)
		}
	}
	columns := monitor.Table{}
	for _, source := range w.Sources {
		for _, c := range source.Columns {
			columns.Columns = append(columns.Columns, c.Name)
		}
	}
	for column, want := range map[string]int{
		monitor.DatabaseLogBytes: 1, monitor.DatabaseLogSyncs: 1, monitor.DatabaseCheckpoints: 1, monitor.DatabaseCheckpointPages: 1,
		monitor.DatabaseSessionPages: 1, monitor.DatabaseBackgroundPages: 1, monitor.ServerProcessors: 1, monitor.ServerReadBytes: 1,
		monitor.DatabaseSize: 2, "db.commits_per_second": 2, monitor.SessionsRunning: 2, monitor.DatabaseRoundTrip: 2,
	} {
		if got := columns.Items(column); len(got) != want {
			t.Errorf("%s is in the columns %q, want %d of them", column, got, want)
		}
	}
}

// TestTunnel has a server at the loopback address answer as one at the other end of a tunnel does: neither its process
// nor its files are here, so this machine's drives are none of its.
func TestTunnel(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t)
	db := open(t, address)
	for _, statement := range []string{
		"CREATE SCHEMA there",
		"CREATE FUNCTION there.pg_backend_pid() RETURNS int LANGUAGE sql AS 'SELECT 99999999'",
		"CREATE FUNCTION there.pg_control_system(OUT system_identifier bigint) LANGUAGE sql AS 'SELECT 1'",
		"DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = there, pg_catalog, public', current_database()); END $$",
	} {
		pgtest.Exec(t, db, statement)
	}
	here, err := monitor.Observe(t.Context(), []store.Database{target(t, pgtest.Database(t))}, 0, monitor.Options{})
	require.NoError(t, err)
	if here.Machine == nil || !here.Local {
		t.Errorf("the machine of a server on it is not observed: %v", here.Notes)
	}
	s := target(t, address)
	w, err := monitor.Observe(t.Context(), []store.Database{s}, 0, monitor.Options{})
	require.NoError(t, err)
	if w.Machine != nil || w.Local {
		t.Errorf("machine %+v is observed for a server that is elsewhere", w.Machine)
	}
	if _, _, _, ok := w.Free(s, "/"); ok {
		t.Error("this machine's room is taken for that of a server that is elsewhere")
	}
}
