package main

import (
	"context"
	"io/fs"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"ds2/internal/device"
	"ds2/internal/device/devicetest"
	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/nightly"
	"ds2/internal/result"
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
			filepath.WalkDir(filepath.Join(drive.Dir, "data", "base"), func(path string, d fs.DirEntry, err error) error {
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
	return devicetest.Counts{Reads: (b.Reads - a.Reads) / s, ReadSeconds: (b.ReadSeconds - a.ReadSeconds) / s, Writes: (b.Writes - a.Writes) / s, Flushes: (b.Flushes - a.Flushes) / s}
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
	limit, err := device.Run(t.Context(), device.Options{Dir: drive.Dir, FileBytes: 64 << 20, StageTime: time.Second, Depths: []int{1, 8, 32}})
	require.NoError(t, err)
	require.NoError(t, limit.Save(measured))
	server := pgtest.Start(t, localpg.Options{DataDir: filepath.Join(drive.Dir, "data"), Settings: map[string]string{"shared_buffers": "2MB"}})
	target := server.URL("ds2")
	login, err := url.Parse(target)
	require.NoError(t, err)
	password, _ := login.User.Password()
	must(t, "load", "--target", target, "--size", "S", "--quiet", "--data-seed", "7")

	// In place of smartctl, which a loop device has no answer for: a drive that was written 100 MiB each time that it
	// is asked, wrote 150 MiB to its flash, and gets too hot once.
	asked := filepath.Join(dir, "asked")
	smartctl := `#!/bin/sh
n=$(($(cat '` + asked + `' 2>/dev/null || echo 0) + 1)); echo $n >'` + asked + `'
cat <<END
{"model_name": "Model", "ata_smart_attributes": {"table": [
{"name": "Host_Writes_MiB", "raw": {"value": $((100 * n))}}, {"name": "NAND_Writes_MiB", "raw": {"value": $((150 * n))}},
{"name": "Thermal_Throttle_Status", "raw": {"value": 0, "string": "0/$((n > 5))"}}]}}
END
`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "smartctl"), []byte(smartctl), 0o755))
	run := func(out string, args ...string) (stdout string) {
		t.Helper()
		p := startProgram(t, append(args, "--out", out, "--target", target, "--threads", "4", "--ramp-rate", "100", "--device-record", measured, "--metrics-addr", "", "--quiet")...)
		p.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
		p.start(t)
		p.awaitEnd(t)
		if code := p.ProcessState.ExitCode(); code != exitDone {
			t.Fatalf("%s: exit %d, %s%s", args[0], code, p.stdout.String(), p.stderr.String())
		}
		return p.stdout.String()
	}
	check := func(record, text string) result.Summary {
		t.Helper()
		r, err := result.Read(record)
		require.NoError(t, err)
		if r.Bottleneck == nil || r.Bottleneck.Figures.DeviceReads == nil || r.Bottleneck.Figures.DeviceLog == nil {
			t.Fatalf("%s: nothing is said of the drive: %+v", record, r.Bottleneck)
		}
		if !strings.Contains(text, "Device: reads ") || !strings.Contains(text, "of what the device can do at this latency, log writes ") {
			t.Errorf("%s: the text does not say how much of the drive the run took:\n%s", record, text)
		}
		return r.Summary
	}

	stop := watch(t, drive)
	out := filepath.Join(dir, "run")
	stdout := run(out, "drive", "--warmup-time", "2s", "--run-time", "10s")
	all := stop()
	s := check(out, stdout)
	at := func(seconds float64) time.Time { return s.Start.Add(time.Duration(seconds * float64(time.Second))) }
	window := s.Windows[0]
	c := between(all, at(window.From), at(window.To))
	reads, log := *s.Bottleneck.Figures.DeviceReads, *s.Bottleneck.Figures.DeviceLog
	wantReads, wantLog := c.Reads/limit.Curve().ReadsAt(c.ReadSeconds/c.Reads), c.Flushes/limit.Log.IOPS
	t.Logf("the run took %.1f %% of the reads and %.1f %% of the log writes; by the drive's counters (%.0f reads of %.3f ms and %.0f flushes a second) %.1f %% and %.1f %%",
		100*reads, 100*log, c.Reads, 1000*c.ReadSeconds/c.Reads, c.Flushes, 100*wantReads, 100*wantLog)
	if c.Reads < 10 || math.Abs(reads-wantReads) > 0.3*wantReads {
		t.Errorf("reads: %.4f of what the drive can do, by its own counters %.4f", reads, wantReads)
	}
	if math.Abs(log-wantLog) > 0.3*wantLog { // the file system flushes a little besides
		t.Errorf("log writes: %.4f of what the drive can do, by its own counters %.4f", log, wantLog)
	}
	costs := s.Costs
	seconds, orders := window.To-window.From, float64(window.Counts.Orders)
	for name, v := range map[string]struct{ got, want float64 }{"reads": {*costs.Reads, c.Reads}, "writes": {*costs.Writes, c.Writes}} {
		if want := v.want * seconds; math.Abs(v.got*orders-want) > 0.3*want {
			t.Errorf("%.2f %s an order come to %.0f in the window, and the drive counted %.0f", v.got, name, v.got*orders, want)
		}
	}
	if len(s.SMART) != 1 || s.SMART[0].Drive != drive.Name || s.SMART[0].Amplification == nil || *s.SMART[0].Amplification != 1.5 {
		t.Errorf("SMART: %+v", s.SMART)
	}
	if len(s.DataSeeds) != 1 || s.DataSeeds[0] != 7 || s.Command == nil || !strings.Contains(s.Command.Line, "--device-record "+measured) || strings.Contains(s.Command.Line, password) {
		t.Errorf("data seeds %v, command %+v", s.DataSeeds, s.Command)
	}

	// The first run of the bench is marked, for the drive got too hot in it; it is repeated.
	out = filepath.Join(dir, "bench")
	run(out, "bench", "--runs", "1", "--settle", "0", "--idle", "0", "--cooldown", "0", "--warmup-time", "1s", "--run-time", "4s")
	b, err := result.ReadSummary[result.Bench](out)
	require.NoError(t, err)
	if len(b.Runs) != 2 || b.Runs[0].Counts || !slices.Contains(b.Runs[0].Faults, "drive "+drive.Name+" was throttled because of its temperature: 1 times") || !b.Runs[1].Counts {
		t.Errorf("runs %+v", b.Runs)
	}
	median := filepath.Join(out, b.Median)
	check(median, must(t, "report", "--output", "text", "--details", median))
}
