package monitor

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestConditions(t *testing.T) {
	fs := kernelFiles(t)
	bare, err := fs.Counters(nil, nil)
	require.NoError(t, err)
	want := []string{CPUBusy, CPUIOWait, "cpu.0.busy_ratio", "cpu.1.busy_ratio", MemoryAvailable, CPUSteal}
	require.Equal(t, want, names(bare.Columns), "a machine that shows nothing but its CPUs")
	for cpu, throttled := range map[string]string{"cpu0": "3", "cpu1": "4"} {
		dir := "devices/system/cpu/" + cpu
		writeFiles(t, fs.Sys, dir+"/thermal_throttle core_throttle_count="+throttled+" package_throttle_count=10\n"+
			dir+"/topology core_id=0 physical_package_id=0 core_siblings_list=0-1 thread_siblings_list=0")
	}
	writeFiles(t, fs.Sys, "class/thermal/thermal_zone0 type=acpitz policy=step_wise temp=41000")
	source, err := fs.Counters(nil, nil)
	require.NoError(t, err)
	was := read(t, source)
	// Half a second of two processors' two seconds.
	write(t, fs.Proc, "stat", strings.ReplaceAll(twoProcessors, "100 0 0\n", "150 0 0\n"))
	write(t, fs.Sys, "devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "7")
	write(t, fs.Sys, "class/thermal/thermal_zone0/temp", "55500")
	now := read(t, source)
	for name, want := range map[string]float64{
		CPUSteal: .25, CPUBusy: .25, "cpu.0.busy_ratio": .5, CPUThrottles: 4, Temperature: 55.5,
	} {
		assert.InDelta(t, want, column(t, source, name, 1, was, now), 1e-9, name)
	}
}
