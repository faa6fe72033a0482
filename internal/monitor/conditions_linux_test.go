package monitor

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConditions(t *testing.T) {
	proc, sys := kernelFiles(t)
	stat := func(steal string) {
		write(t, proc, "stat", "cpu  10 0 10 100 0 0 0 "+steal+" 0 0\ncpu0 5 0 5 50 0 0 0 "+steal+" 0 0\ncpu1 5 0 5 50 0 0 0 0 0 0\nbtime 1\nprocesses 1\nprocs_running 1\nprocs_blocked 0\n")
	}
	stat("100")
	bare, err := FS{proc, sys}.Counters(nil)
	if want := []string{CPUBusy, CPUIOWait, "cpu.0.busy_ratio", "cpu.1.busy_ratio", MemoryAvailable, CPUSteal}; err != nil || !slices.Equal(names(bare.Columns), want) {
		t.Fatalf("a machine that shows nothing but its processors: %v, %v", names(bare.Columns), err)
	}
	for cpu, throttled := range map[string]string{"cpu0": "3", "cpu1": "4"} {
		write(t, sys, "devices/system/cpu/"+cpu+"/thermal_throttle/core_throttle_count", throttled)
		write(t, sys, "devices/system/cpu/"+cpu+"/thermal_throttle/package_throttle_count", "10")
		for name, value := range map[string]string{"core_id": "0", "physical_package_id": "0", "core_siblings_list": "0-1", "thread_siblings_list": "0"} {
			write(t, sys, "devices/system/cpu/"+cpu+"/topology/"+name, value)
		}
	}
	write(t, sys, "class/thermal/thermal_zone0/type", "acpitz")
	write(t, sys, "class/thermal/thermal_zone0/policy", "step_wise")
	write(t, sys, "class/thermal/thermal_zone0/temp", "41000")
	source, err := FS{proc, sys}.Counters(nil)
	require.NoError(t, err)
	was := read(t, source)
	stat("150") // half a second of two processors' two seconds
	write(t, sys, "devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "7")
	write(t, sys, "class/thermal/thermal_zone0/temp", "55500")
	now := read(t, source)
	for name, want := range map[string]float64{CPUSteal: .25, CPUThrottles: 4, Temperature: 55.5} {
		if got := column(t, source, name, 1, was, now); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
}
