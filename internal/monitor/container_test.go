package monitor_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/moby/moby/api/types/container"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/testcontainers/testcontainers-go"

	"ds2/internal/device/devicetest"
	"ds2/internal/dockertest"
	"ds2/internal/monitor"
	"ds2/internal/topology"
)

// TestDriveOfContainer has a server in a container, whose data directory lies on a drive that ds2
// has at another path, while that path leads ds2 to the machine's own drive.
func TestDriveOfContainer(t *testing.T) {
	const user = 999 // that of the server in the image
	drive := devicetest.Mount(t, "/dev/shm", 200<<20)
	data := filepath.Join(drive.Dir, "data")
	require.NoError(t, os.Mkdir(data, 0o700))
	require.NoError(t, os.Chown(data, user, user))
	at := dockertest.StartPostgres(t, testcontainers.WithHostConfigModifier(
		func(host *container.HostConfig) {
			host.Binds = []string{data + ":" + dockertest.DataDirectory}
			host.Memory = 1 << 30
		}))

	w := observe(t, monitor.Options{}, target(t, at(dockertest.FirstDatabase)))
	require.NotNil(t, w.Machine, "%v", w.Notes)
	require.Len(t, w.Machine.Drives, 1)
	assert.Equal(t, drive.Name, w.Machine.Drives[0].Name)
	assert.ElementsMatch(t, []topology.Role{topology.Data, topology.Log}, w.Machine.Drives[0].Roles)
	assert.Empty(t, w.Found)
	assert.Equal(t, int64(1<<30), w.Available(0).MemoryBytes, "the container's limit")
}
