package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/dockertest"
	"ds2/internal/localpg/pgtest"
)

// imageVariable names the file of the image of this machine's architecture, or a pattern that it
// alone matches.
const imageVariable = "DS2_TEST_IMAGE"

// TestImage loads the image of a release into a Docker Engine, and runs in it what users and the
// Kubernetes jobs do.
func TestImage(t *testing.T) {
	pattern := os.Getenv(imageVariable)
	if pattern == "" {
		t.Skipf("%s names no image; make platforms makes one", imageVariable)
	}
	files, err := filepath.Glob(pattern)
	require.True(
		t,
		err == nil && len(files) == 1,
		"%s=%s: %q, %v",
		imageVariable,
		pattern,
		files,
		err,
	)
	dockertest.Engine(t)
	docker(t, "load", "--input", files[0])
	assert.Regexp(t, "^ds2 ", docker(t, "run", "--rm", "ds2:latest", "version"))
	const user = 10001
	volume := filepath.Join(t.TempDir(), "volume")
	require.NoError(t, os.Mkdir(volume, 0o700))
	require.NoError(t, os.Chown(volume, user, user))
	// As restricted as the jobs' pods are, with the machine's network, in which the test's server
	// is.
	contained := func(args ...string) string {
		return docker(t, append(words("run --rm --network=host --read-only --cap-drop=ALL "+
			"--security-opt=no-new-privileges --volume=%s:/data --env=DS2_TARGET ds2:latest", volume), args...)...)
	}

	t.Setenv("DS2_TARGET", pgtest.Database(t))
	contained("load", "--size", "1MB", "--quiet")
	said := contained(
		words(
			"drive --threads=2 --ramp-rate=100 --warmup-time=0 --run-time=3s --out=/data/record",
		)...)
	assert.Contains(t, said, "The audit of what this run wrote passed")
	record := filepath.Join(volume, "record")
	assert.Contains(t, must(t, "report", "--output", "text", record), "OPM")
	info, err := os.Stat(record)
	require.NoError(t, err)
	assert.EqualValues(t, user, info.Sys().(*syscall.Stat_t).Uid, "whose the record is")

	pods, args := indexedJob(t, "generate.yaml")
	for i := range pods {
		contained(podArgs(args, i, "--size=W", "--size=1MB")...)
	}
	verifyShards(t, volume)
}

func docker(t *testing.T, args ...string) string {
	t.Helper()
	said, err := exec.Command("docker", args...).CombinedOutput()
	require.NoError(t, err, "docker %s: %v\n%s", strings.Join(args, " "), err, said)
	return string(said)
}
