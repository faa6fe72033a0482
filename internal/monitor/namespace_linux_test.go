package monitor_test

import (
	neturl "net/url"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/device/devicetest"
	"ds2/internal/diskspace"
	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/monitor"
	"ds2/internal/store"
	"ds2/internal/topology"
)

// TestMountNamespace has a server whose mounts are its own: under the path of its data lies a drive
// that ds2, under the same path, does not see. Devices that are named are held against that drive.
func TestMountNamespace(t *testing.T) {
	t.Parallel()
	drive := devicetest.Mount(t, "/dev/shm", 300<<20)
	outside := devicetest.Mount(t, "/dev/shm", 200<<20)
	data := filepath.Join(outside.Dir, "data")
	first := pgtest.Start(t, localpg.Options{DataDir: data})
	url := first.URL("postgres")
	bin := first.BinDir()
	require.NoError(t, first.Stop())
	info, err := os.Stat(data)
	require.NoError(t, err)
	owner := info.Sys().(*syscall.Stat_t)
	out, err := osexec.Command("cp", "-a", data, drive.Dir).CombinedOutput()
	require.NoError(t, err, "%s", out)

	at, err := neturl.Parse(url)
	require.NoError(t, err)
	postgres := filepath.Join(t.TempDir(), "postgres")
	program := osexec.Command("unshare", "--mount", "sh", "-c",
		`mount --bind "$1" "$2" && cd / && exec "$3" -D "$2/data" -p "$4"`,
		"sh", drive.Dir, outside.Dir, postgres, at.Port())
	script := "#!/bin/sh\nexec setpriv --reuid=" + itoa(owner.Uid) + " --regid=" + itoa(owner.Gid) +
		" --clear-groups " + bin + "/postgres \"$@\"\n"
	require.NoError(t, os.WriteFile(postgres, []byte(script), 0o755))
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	program.Stdout = log
	program.Stderr = log
	require.NoError(t, program.Start())
	t.Cleanup(func() {
		assert.NoError(t, program.Process.Signal(os.Interrupt))
		assert.NoError(t, program.Wait())
	})
	var database store.Database
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		database = target(t, url)
		if err = database.DB().PingContext(t.Context()); err == nil {
			break
		}
		text, _ := os.ReadFile(log.Name())
		require.True(t, time.Now().Before(deadline), "%v: %s", err, text)
	}

	w := observe(t, monitor.Options{}, database)
	require.NotNil(t, w.Machine, "%v", w.Notes)
	require.Len(t, w.Machine.Drives, 1)
	assert.Equal(t, drive.Name, w.Machine.Drives[0].Name)
	assert.ElementsMatch(t, []topology.Role{topology.Data, topology.Log}, w.Machine.Drives[0].Roles)
	assert.Empty(t, foundElsewhere(w))

	rooms := w.Rooms()
	require.Len(t, rooms, 1)
	assert.Equal(t, outside.Dir, rooms[0].Mount, "as the server has it")
	size, ok := diskspace.Size(drive.Dir)
	require.True(t, ok)
	assert.Equal(t, size, rooms[0].Size)
	now, _ := diskspace.Size(rooms[0].Dir)
	assert.Equal(t, size, now)
	_, _, mount, known := w.Free(database, data)
	assert.True(t, known)
	assert.Equal(t, outside.Dir, mount)

	elsewhere := observe(t, monitor.Options{Devices: []string{outside.Name}}, database)
	found := foundElsewhere(elsewhere)
	require.Len(t, found, 2, "of data and log")
	assert.Equal(t, drive.Name+", not "+outside.Name, found[0].Detail)
	right := observe(t, monitor.Options{Devices: []string{"data=" + drive.Name}}, database)
	assert.Empty(t, foundElsewhere(right))
}

// foundElsewhere is what was found of drives that are not the devices that were named.
func foundElsewhere(w *monitor.Observer) (found []monitor.Found) {
	for _, f := range w.Found {
		if f.Kind == monitor.DevicesElsewhere {
			found = append(found, f)
		}
	}
	return found
}

func itoa(n uint32) string { return strconv.FormatUint(uint64(n), 10) }
