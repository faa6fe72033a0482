package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/nightly"
)

// TestGenerateMemory: a dataset of any size takes less than 64 MiB, those included that the makers are ahead of a disk
// that is slow to bring files to an end.
func TestGenerateMemory(t *testing.T) {
	nightly.Long(t, "writes 1 GB")
	if info, ok := debug.ReadBuildInfo(); ok &&
		slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("the race detector takes several times the memory")
	}
	p := begin(t, words("generate --size 1GB --out data --parallel 2 --quiet")...)
	// Not the peak that the kernel gives of a process that has ended: that of the test is in it, which the program was
	// begun by.
	peak := 0 // KiB
	status := fmt.Sprintf("/proc/%d/status", p.Process.Pid)
	for running := true; running; {
		select {
		case <-p.ended:
			running = false
		case <-time.After(5 * time.Millisecond):
			text, _ := os.ReadFile(status) // it may be gone
			if _, after, ok := strings.Cut(string(text), "VmHWM:"); ok {
				fmt.Sscan(after, &peak)
			}
		}
	}
	require.True(t, p.ProcessState.Success(), "%s\n%s", p.ProcessState, p.stderr.String())
	assert.True(t, peak != 0 && peak <= 64<<10, "ds2 generate took %d MiB at most, want 1 to 64", peak>>10)
}
