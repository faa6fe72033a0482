package dockertest

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"

	"ds2/internal/localpg/pgtest"
)

// The image of a server, another than the default where this variable names one.
const (
	containerVariable = "DS2_TEST_POSTGRES_IMAGE"
	containerImage    = "postgres:18"
)

// FirstDatabase is one that a server in a container has at once.
const FirstDatabase = "first"

// DataDirectory is that of a server in a container, by the container's own paths.
const DataDirectory = "/var/lib/postgresql/data"

// StartPostgres starts PostgreSQL in a container that ends with the test, and gives the addresses
// of databases of its. The image is PostgreSQL's own where Docker has or can fetch it, elsewhere
// one that the test builds.
func StartPostgres(
	t *testing.T,
	options ...testcontainers.ContainerCustomizer,
) (at func(database string) string) {
	t.Helper()
	Engine(t)
	image := cmp.Or(os.Getenv(containerVariable), containerImage)
	asked := os.Getenv(containerVariable) != ""
	server, err := startContainer(t, append(options, testcontainers.WithImage(image)))
	if err != nil && !asked {
		t.Logf("no container of %s, so one of PostgreSQL %s is built: %v",
			image, pgtest.Server(t).Version(), err)
		image = "an image of the test's own"
		build := testcontainers.FromDockerfile{
			Context: imageContext(t), BuildLogWriter: t.Output(),
		}
		server, err = startContainer(t, append(options, testcontainers.WithDockerfile(build)))
	}
	require.NoError(t, err)
	t.Logf("on a container of %s", image)
	host, err := server.Host(t.Context())
	require.NoError(t, err)
	port, err := server.MappedPort(t.Context(), "5432/tcp")
	require.NoError(t, err)
	return func(database string) string {
		address := net.JoinHostPort(host, port.Port())
		return fmt.Sprintf("postgres://postgres:test@%s/%s", address, database)
	}
}

// startContainer starts a server that ends with the test.
func startContainer(
	t *testing.T,
	options []testcontainers.ContainerCustomizer,
) (testcontainers.Container, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	// The image's first start is for its own preparations.
	ready := wait.ForLog("database system is ready to accept connections").WithOccurrence(2)
	variables := map[string]string{
		"POSTGRES_PASSWORD": "test", "POSTGRES_DB": FirstDatabase,
		"PGDATA": DataDirectory, // since 18 the image has another
	}
	server, err := testcontainers.Run(ctx, "", append(options,
		testcontainers.WithEnv(variables),
		testcontainers.WithExposedPorts("5432/tcp"),
		testcontainers.WithWaitStrategy(ready),
	)...)
	testcontainers.CleanupContainer(t, server)
	return server, err
}

// imageContext is a directory that Docker builds an image of PostgreSQL from where none can be
// pulled, of the programs of the test's own server.
func imageContext(t *testing.T) string {
	t.Helper()
	bin := pgtest.Server(t).BinDir()
	if _, err := os.Stat(filepath.Join(bin, "pg_config")); err != nil {
		t.Skipf("where the server's files are is not known: %v", err)
	}
	_, file, _, _ := runtime.Caller(0) // the script lies beside it, whichever package's tests run
	dir := t.TempDir()
	script := filepath.Join(filepath.Dir(file), "testdata", "context")
	out, err := exec.Command(script, bin, dir).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return dir
}
