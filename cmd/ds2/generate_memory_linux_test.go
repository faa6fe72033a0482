package main

import (
	"runtime/debug"
	"slices"
	"syscall"
	"testing"
)

// TestGenerateMemory: a dataset of any size takes less than 64 MiB, those included that the makers are ahead of a disk that is slow
// to bring files to an end.
func TestGenerateMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 1 GB")
	}
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("the race detector takes several times the memory")
	}
	p := startProgram(t, "generate", "--size", "1GB", "--out", "data", "--parallel", "2", "--quiet")
	p.start(t)
	<-p.ended
	if !p.ProcessState.Success() {
		t.Fatalf("%s\n%s", p.ProcessState, p.stderr.String())
	}
	if peak := p.ProcessState.SysUsage().(*syscall.Rusage).Maxrss; peak > 64<<10 { // KiB
		t.Errorf("ds2 generate took %d MiB at most, want 64", peak>>10)
	}
}
