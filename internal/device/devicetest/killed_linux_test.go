package devicetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestKilled: a test that is killed leaves neither mounts nor loop devices nor files.
func TestKilled(t *testing.T) {
	const where = "DS2_TEST_KILLED"
	if on := os.Getenv(where); on != "" {
		Mount(t, on, 32<<20)
		require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGKILL))
	}
	dir := Mount(t, "/dev/shm", 64<<20).Dir // else it is skipped
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
	cmd.Env = append(os.Environ(), where+"="+dir)
	require.Error(t, cmd.Run())
	assert.Eventually(t, func() bool {
		images, _ := filepath.Glob(filepath.Join(dir, "*", "below", "image"))
		loops, err := exec.Command("losetup", "--list", "--noheadings", "--output", "BACK-FILE").
			Output()
		return err == nil && len(images) == 0 && !strings.Contains(string(loops), dir)
	}, 5*time.Minute, 10*time.Millisecond)
}
