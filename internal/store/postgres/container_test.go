package postgres_test

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/store/postgres"
	"ds2/internal/storetest"
)

// containerImage is the image of TestConformanceInContainer, another than the default where this variable names one.
const (
	containerVariable = "DS2_TEST_POSTGRES_IMAGE"
	containerImage    = "postgres:18"
)

// TestConformanceInContainer runs the suite on PostgreSQL's own image where Docker answers and has or can fetch it.
// Elsewhere TestConformance, on the server of package localpg, has to do; where the variable asks for an image, it fails.
func TestConformanceInContainer(t *testing.T) {
	image := os.Getenv(containerVariable)
	asked := image != ""
	if !asked {
		image = containerImage
	}
	server, err := startContainer(t, image)
	if err != nil && asked {
		t.Fatal(err)
	}
	if err != nil {
		t.Skipf("no container of %s, so TestConformance on PostgreSQL %s has to do: %v", image, pgtest.Server(t).Version(), err)
	}
	t.Logf("on a container of %s", image)
	host, err := server.Host(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	port, err := server.MappedPort(t.Context(), "5432/tcp")
	if err != nil {
		t.Fatal(err)
	}
	databases := 0
	storetest.Run(t, storetest.Engine{Open: postgres.Open, Kill: killOthers, Database: func(testing.TB) string {
		databases++
		target := url.URL{Scheme: "postgres", User: url.UserPassword("postgres", "test"), Host: net.JoinHostPort(host, port.Port()),
			Path: fmt.Sprintf("/ds2_%d", databases)}
		return target.String()
	}})
}

// startContainer starts a server that ends with the test.
func startContainer(t *testing.T, image string) (testcontainers.Container, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	provider, err := testcontainers.NewDockerProvider()
	if err != nil {
		return nil, err
	}
	defer provider.Close()
	if err := provider.Health(ctx); err != nil {
		return nil, err
	}
	server, err := testcontainers.Run(ctx, image,
		testcontainers.WithEnv(map[string]string{"POSTGRES_PASSWORD": "test"}),
		testcontainers.WithExposedPorts("5432/tcp"),
		// The image's first start is for its own preparations.
		testcontainers.WithWaitStrategy(wait.ForLog("database system is ready to accept connections").WithOccurrence(2)))
	testcontainers.CleanupContainer(t, server)
	return server, err
}
