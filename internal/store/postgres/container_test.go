package postgres_test

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"

	"ds2/internal/dockertest"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/store/postgres"
	"ds2/internal/storetest"
	ds2postgres "ds2/internal/workload/ds2/postgres"
)

// containerImage is the image of TestConformanceInContainer, another than the default where this variable names one.
const (
	containerVariable = "DS2_TEST_POSTGRES_IMAGE"
	containerImage    = "postgres:18"
	containerDatabase = "first"
)

// TestConformanceInContainer runs the suite on PostgreSQL's own image where Docker has or can fetch it, elsewhere on
// one that the test builds. Where Docker does not answer, TestConformance, on the server of package localpg, has to do.
func TestConformanceInContainer(t *testing.T) {
	image := cmp.Or(os.Getenv(containerVariable), containerImage)
	asked := os.Getenv(containerVariable) != ""
	dockertest.Engine(t)
	server, err := startContainer(t, testcontainers.WithImage(image))
	if err != nil && !asked {
		t.Logf("no container of %s, so one of PostgreSQL %s is built: %v", image, pgtest.Server(t).Version(), err)
		image = "an image of the test's own"
		build := testcontainers.FromDockerfile{ContextArchive: imageContext(t), BuildLogWriter: t.Output()}
		server, err = startContainer(t, testcontainers.WithDockerfile(build))
	}
	require.NoError(t, err)
	t.Logf("on a container of %s", image)
	host, err := server.Host(t.Context())
	require.NoError(t, err)
	port, err := server.MappedPort(t.Context(), "5432/tcp")
	require.NoError(t, err)
	at := func(database string) string {
		return fmt.Sprintf("postgres://postgres:test@%s/%s", net.JoinHostPort(host, port.Port()), database)
	}
	first := open(t, at(containerDatabase)).DB()
	assert.NoError(t, first.PingContext(t.Context()), "the database that the container was told to make")
	databases := 0
	database := func(testing.TB) string {
		databases++
		return at(fmt.Sprintf("ds2_%d", databases))
	}
	storetest.Run(t, storetest.Engine{
		Open: postgres.Open, Calls: ds2postgres.Connect, Kill: killOthers, Database: database,
	})
}

// startContainer starts a server that ends with the test.
func startContainer(t *testing.T, image testcontainers.CustomizeRequestOption) (testcontainers.Container, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	// The image's first start is for its own preparations.
	ready := wait.ForLog("database system is ready to accept connections").WithOccurrence(2)
	server, err := testcontainers.Run(ctx, "", image,
		testcontainers.WithEnv(map[string]string{"POSTGRES_PASSWORD": "test", "POSTGRES_DB": containerDatabase}),
		testcontainers.WithExposedPorts("5432/tcp"),
		testcontainers.WithWaitStrategy(ready))
	testcontainers.CleanupContainer(t, server)
	return server, err
}
