// Package dockertest gives tests a Docker Engine: the one that answers, or one of the test's own.
package dockertest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// variable asks for an engine: where none answers, the test starts one, and fails where it cannot.
// Without it such tests are skipped.
const variable = "DS2_TEST_DOCKER"

// startTime is how long an engine may take to answer on a busy machine.
const startTime = 2 * time.Minute

// Engine makes sure that there is an engine for the test, which the environment names to docker and
// to testcontainers.
func Engine(t *testing.T) {
	t.Helper()
	said, err := exec.Command("docker", "version").CombinedOutput()
	if err == nil {
		return
	}
	if os.Getenv(variable) == "" {
		t.Skipf("no Docker Engine answers; with %s=1 and as root the test starts one: %v",
			variable, err)
	}
	require.Equal(t, 0, os.Geteuid(),
		"no Docker Engine answers, and only root starts one: %v, %s", err, said)
	// Not the test's own directory, whose path may be too long for a socket.
	dir, err := os.MkdirTemp("", "ds2-docker-")
	require.NoError(t, err)
	socket := "unix://" + filepath.Join(dir, "socket")
	log, err := os.Create(filepath.Join(dir, "log"))
	require.NoError(t, err)
	defer log.Close()
	engine := exec.Command("dockerd", "--host", socket, "--data-root", filepath.Join(dir, "data"),
		"--exec-root", filepath.Join(dir, "exec"), "--pidfile", filepath.Join(dir, "pid"))
	engine.Stdout = log
	engine.Stderr = log
	require.NoError(t, engine.Start())
	t.Cleanup(func() {
		err := errors.Join(engine.Process.Signal(syscall.SIGTERM), engine.Wait())
		// An engine that had a container on the machine's network leaves this mounted.
		exec.Command("umount", filepath.Join(dir, "exec/netns/default")).Run()
		assert.NoError(t, errors.Join(err, os.RemoveAll(dir)), "stop the Docker Engine")
	})
	t.Setenv("DOCKER_HOST", socket)
	// Its image could not be pulled, and the engine ends with the test.
	t.Setenv("TESTCONTAINERS_RYUK_DISABLED", "true")
	// In a container of its own the test would be told of another machine's engine.
	t.Setenv("TESTCONTAINERS_HOST_OVERRIDE", "127.0.0.1")
	deadline := time.Now().Add(startTime)
	for exec.Command("docker", "version").Run() != nil {
		time.Sleep(200 * time.Millisecond)
		if time.Now().After(deadline) {
			text, _ := os.ReadFile(log.Name())
			t.Fatalf("the Docker Engine does not answer:\n%s", text)
		}
	}
}
