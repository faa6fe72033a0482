package dockertest

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
		t.Logf(
			"no container of %s, so one of PostgreSQL %s is built: %v",
			image,
			pgtest.Server(t).Version(),
			err,
		)
		image = "an image of the test's own"
		build := testcontainers.FromDockerfile{
			ContextArchive: imageContext(t),
			BuildLogWriter: t.Output(),
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
		return fmt.Sprintf(
			"postgres://postgres:test@%s/%s",
			net.JoinHostPort(host, port.Port()),
			database,
		)
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
	server, err := testcontainers.Run(
		ctx,
		"",
		append(
			options,
			testcontainers.WithEnv(
				map[string]string{"POSTGRES_PASSWORD": "test", "POSTGRES_DB": FirstDatabase},
			),
			testcontainers.WithExposedPorts("5432/tcp"),
			testcontainers.WithWaitStrategy(ready),
		)...,
	)
	testcontainers.CleanupContainer(t, server)
	return server, err
}

//go:embed testdata/entrypoint
var entrypoint string

// collect archives directories, of which the first has programs and the second libraries, with what
// these need of the machine, and the files that links lead to in the links' places. The
// just-in-time compiler is left out: it is larger than all the rest, and the server does without.
const collect = `programs='/bin/sh /bin/rm /bin/cat'
libraries=$(ls "$2"/*.so | grep -v llvmjit)
linked=$(ldd $programs "$1"/* $libraries 2>/dev/null | sed -En 's|^\s*(\S+ => )?(/\S+) \(0x.*|\2|p' | sort -u)
tar -ch --ignore-failed-read --exclude=bitcode --exclude='llvmjit*' $programs $linked "$@"`

// imageContext is what Docker builds an image of PostgreSQL from where none can be pulled: the
// programs of the test's own server, as Debian's packages installed them, with what these need of
// the machine, and an entrypoint that keeps the official image's contract.
func imageContext(t *testing.T) io.ReadSeeker {
	t.Helper()
	bin := pgtest.Server(t).BinDir()
	share, err := exec.Command(filepath.Join(bin, "pg_config"), "--sharedir").Output()
	if err != nil {
		t.Skipf("where the server's files are is not known: %v", err)
	}
	machine, err := exec.Command("sh", "-c", collect, "sh", bin, filepath.Join(bin, "../lib"),
		strings.TrimSpace(string(share)), "/usr/share/zoneinfo").Output()
	require.NoError(t, err)
	const user = 999 // as in the official image
	own := archive(t, []tar.Header{
		{Name: "etc/passwd", Mode: 0o644},
		{Name: "etc/group", Mode: 0o644},
		{Name: "usr/local/bin/docker-entrypoint.sh", Mode: 0o755},
		{Name: "docker-entrypoint-initdb.d/", Mode: 0o700, Uid: user, Gid: user},
		{Name: "var/lib/postgresql/data/", Mode: 0o700, Uid: user, Gid: user},
		{Name: "var/run/postgresql/", Mode: 0o700, Uid: user, Gid: user},
		{Name: "tmp/", Mode: 0o1777},
	}, "root:x:0:0:root:/root:/bin/sh\npostgres:x:999:999::/var/lib/postgresql:/bin/sh\n",
		"root:x:0:\npostgres:x:999:\n", entrypoint, "", "", "", "")
	dockerfile := `FROM scratch
ADD machine.tar own.tar /
ENV PGDATA=/var/lib/postgresql/data PATH=/usr/local/bin:` + bin + `:/bin LC_ALL=C
USER postgres
EXPOSE 5432
VOLUME /var/lib/postgresql/data
STOPSIGNAL SIGINT
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["postgres"]
`
	files := []tar.Header{
		{
			Name: "Dockerfile",
			Mode: 0o644,
		},
		{Name: "machine.tar", Mode: 0o644},
		{Name: "own.tar", Mode: 0o644},
	}
	return strings.NewReader(archive(t, files, dockerfile, string(machine), own))
}

// archive is a tar of files with their contents.
func archive(t *testing.T, files []tar.Header, contents ...string) string {
	t.Helper()
	var all bytes.Buffer
	w := tar.NewWriter(&all)
	for i, header := range files {
		header.Size = int64(len(contents[i]))
		require.NoError(t, w.WriteHeader(&header))
		_, err := io.WriteString(w, contents[i])
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return all.String()
}
