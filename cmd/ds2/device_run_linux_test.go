package main

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"ds2/internal/device"
	"ds2/internal/device/devicetest"
	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/nightly"
	"ds2/internal/result"
	"ds2/internal/texttest"
)

// counted is a drive's own counters at a time.
type counted struct {
	at time.Time
	devicetest.Counts
}

// watch reads a drive's counters every 100 ms until stop, and meanwhile takes the database's files out of memory, so
// that they are read from the drive.
func watch(t *testing.T, drive devicetest.Drive) (stop func() []counted) {
	ctx, cancel := context.WithCancel(t.Context())
	var all []counted
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for ; ctx.Err() == nil; <-tick.C {
			all = append(all, counted{time.Now(), drive.Counts(t)})
			base := filepath.Join(drive.Dir, "data", "base")
			filepath.WalkDir(base, func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return nil
				}
				if f, err := os.Open(path); err == nil {
					unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
					f.Close()
				}
				return nil
			})
		}
	})
	return sync.OnceValue(func() []counted {
		cancel()
		wg.Wait()
		return all
	})
}

// between is what a drive counted a second from one time to another.
func between(all []counted, from, to time.Time) devicetest.Counts {
	at := func(t time.Time) counted {
		i, _ := slices.BinarySearchFunc(all, t, func(c counted, t time.Time) int { return c.at.Compare(t) })
		return all[min(i, len(all)-1)]
	}
	a, b := at(from), at(to)
	s := b.at.Sub(a.at).Seconds()
	return devicetest.Counts{
		Reads: (b.Reads - a.Reads) / s, ReadSeconds: (b.ReadSeconds - a.ReadSeconds) / s,
		Writes: (b.Writes - a.Writes) / s, Flushes: (b.Flushes - a.Flushes) / s,
	}
}

// TestRunOnMeasuredDrive measures a drive, and then runs on it: what drive and bench say that a run took of the drive's
// limit is what the drive's own counters say. What the drive tells of itself is in the record, and heat marks a run of
// a bench.
func TestRunOnMeasuredDrive(t *testing.T) {
	nightly.Long(t, "measures a drive twice")
	if _, err := exec.LookPath("fio"); err != nil && os.Getenv("DS2_TEST_FIO") == "" {
		t.Skip(err)
	}
	t.Parallel()
	drive := devicetest.Mount(t, "", 1<<30)
	dir := t.TempDir()
	measured := filepath.Join(dir, "drive.json")
	options := device.Options{Dir: drive.Dir, FileBytes: 64 << 20, StageTime: time.Second, Depths: []int{1, 8, 32}}
	limit, err := device.Run(t.Context(), options)
	require.NoError(t, err)
	require.NoError(t, limit.Save(measured))
	small := map[string]string{"shared_buffers": "2MB"}
	server := pgtest.Start(t, localpg.Options{DataDir: filepath.Join(drive.Dir, "data"), Settings: small})
	target := server.URL("ds2")
	must(t, "load", "--target", target, "--size", "S", "--quiet", "--data-seed", "7")

	// In place of smartctl, which a loop device has no answer for: a drive that was written 1 MB each time that it
	// is asked, and gets too hot once.
	asked := filepath.Join(dir, "asked")
	smartctl := `#!/bin/sh
n=$(($(cat '` + asked + `' 2>/dev/null || echo 0) + 1)); echo $n >'` + asked + `'
cat <<END
{"model_name": "Model", "logical_block_size": 1000, "ata_device_statistics": {"pages": [{"table": [
{"name": "Logical Sectors Written", "value": $((1000 * n))},
{"name": "Time in Over-Temperature", "value": $((n > 5))}]}]}}
END
`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "smartctl"), []byte(smartctl), 0o755))
	run := func(command, out, more string) (stdout string) {
		t.Helper()
		const flags = "--threads 4 --quiet --out %s --device-record %s %s"
		p := startProgram(t, quick(command, target, flags, out, measured, more)...)
		p.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
		p.start(t)
		p.ends(t, exitDone)
		return p.stdout.String()
	}
	check := func(record, text string) result.Summary {
		t.Helper()
		s := recordOf(t, record).Summary
		require.NotNil(t, s.Bottleneck, record)
		f := s.Bottleneck.Figures
		require.True(t, f.DeviceReads != nil && f.DeviceLog != nil, "%s: %+v", record, f)
		texttest.Contains(t, text, "Device: reads ", "of what the device can do at this latency, log writes ")
		return s
	}

	stop := watch(t, drive)
	out := filepath.Join(dir, "run")
	stdout := run("drive", out, "--warmup-time 2s --run-time 10s")
	all := stop()
	s := check(out, stdout)
	at := func(seconds float64) time.Time { return s.Start.Add(time.Duration(seconds * float64(time.Second))) }
	window := s.Windows[0]
	c := between(all, at(window.From), at(window.To))
	reads, log := *s.Bottleneck.Figures.DeviceReads, *s.Bottleneck.Figures.DeviceLog
	wantReads, wantLog := c.Reads/limit.Curve().ReadsAt(c.ReadSeconds/c.Reads), c.Flushes/limit.Log.IOPS
	assert.GreaterOrEqual(t, c.Reads, 10.)
	assert.InEpsilon(t, wantReads, reads, 0.3, "reads of what the drive can do, by its own counters and by the record")
	assert.InEpsilon(t, wantLog, log, 0.3, "log writes") // the file system flushes a little besides
	seconds, orders := window.To-window.From, float64(window.Counts.Orders)
	assert.InEpsilon(t, c.Reads*seconds, *s.Costs.Reads*orders, 0.3,
		"reads in the window, counted and by reads an order")
	assert.InEpsilon(t, (c.Writes-c.Flushes)*seconds, *s.Costs.Writes*orders, 0.3, "writes without empty flushes")
	require.True(t, len(s.SMART) == 1 && s.SMART[0].Drive == drive.Name && s.SMART[0].HostBytes != nil,
		"%+v", s.SMART)
	assert.Equal(t, 1e6, *s.SMART[0].HostBytes)
	assert.Equal(t, []uint64{7}, s.DataSeeds)

	// The drive got too hot in the run of the bench: it counts, with a warning.
	out = filepath.Join(dir, "bench")
	run("bench", out, "--runs 1 --settle 0 --idle 0 --cooldown 0 --warmup-time 1s --run-time 4s")
	b, err := result.ReadSummary[result.Bench](out)
	require.NoError(t, err)
	require.True(t, len(b.Runs) == 1 && b.Runs[0].Counts, "runs %+v", b.Runs)
	throttled := "drive " + drive.Name + " was throttled because of its temperature: too hot for 1 minutes"
	assert.Contains(t, b.Runs[0].Warnings, throttled)
	median := filepath.Join(out, b.Median)
	check(median, must(t, "report", "--output", "text", "--details", median))
}
