package device

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"ds2/internal/result"
)

// job is one thing that fio does.
type job struct {
	rw      string // fio's name of the pattern
	block   int
	depth   int
	sync    bool          // each write lasts until the drive keeps it, as a commit's does
	runTime time.Duration // 0: once over the whole file
}

// leastMinor is that of the first version, 3.23 of October 2020, that knows sync=dsync.
const leastMinor = 23

// findFio looks for the program, and refuses one that is too old.
func findFio(ctx context.Context) (program, version string, err error) {
	program, err = exec.LookPath("fio")
	if err != nil {
		return "", "", errors.New("fio is not installed: " +
			"install it (Debian, Ubuntu: apt-get install fio; RHEL: dnf install fio)")
	}
	said, err := exec.CommandContext(ctx, program, "--version").Output()
	version = strings.TrimSpace(string(said))
	if err != nil {
		return "", "", fmt.Errorf("%s --version: %w", program, err)
	}
	var major, minor int
	if _, err := fmt.Sscanf(version, "fio-%d.%d", &major, &minor); err != nil ||
		major < 3 || major == 3 && minor < leastMinor {
		return "", "", fmt.Errorf("%s is version %q: version 3.%d or newer is needed",
			program, version, leastMinor)
	}
	return program, version, nil
}

// output is what counts of fio's JSON. Times are in nanoseconds.
type output struct {
	Jobs []struct {
		Error int      `json:"error"`
		Read  measured `json:"read"`
		Write measured `json:"write"`
	} `json:"jobs"`
}

type measured struct {
	IOPS    float64 `json:"iops"`
	Bytes   float64 `json:"bw_bytes"` // a second
	Latency latency `json:"lat_ns"`
	Done    latency `json:"clat_ns"` // with percentiles
}

type latency struct {
	Mean        float64            `json:"mean"`
	Percentiles map[string]float64 `json:"percentile"`
}

// runJob runs a job, and returns what it did and the bytes a second that it wrote.
func (m *measurement) runJob(
	ctx context.Context,
	what string,
	j job,
) (result.DevicePoint, float64, error) {
	if m.Progress != nil {
		m.Progress(what, time.Duration(m.points)*m.StageTime*11/10) // with fio's time to ramp up
	}
	engine := "libaio"
	if j.depth == 1 {
		engine = "psync"
	}
	args := []string{
		"--name=ds2",
		"--filename=" + strings.ReplaceAll(m.file, ":", `\:`),
		fmt.Sprintf("--size=%d", m.record.Bytes),
		"--rw=" + j.rw,
		fmt.Sprintf("--bs=%d", j.block),
		"--ioengine=" + engine,
		fmt.Sprintf("--iodepth=%d", j.depth),
		"--thread",
		"--rwmixread=70",
		"--output-format=json",
		// No two runs are alike, and no two blocks.
		"--norandommap",
		"--randrepeat=0",
		"--refill_buffers",
		fmt.Sprintf("--buffer_compress_percentage=%d", compressible),
	}
	// A log is written through the page cache: the write and the flush of the drive's cache have
	// one latency. A direct write would be one past that cache (FUA), where the drive has these.
	if j.sync {
		args = append(args, "--direct=0", "--sync=dsync")
	} else {
		args = append(args, "--direct=1")
	}
	if j.runTime > 0 {
		args = append(args, "--time_based", fmt.Sprintf("--runtime=%dms", j.runTime.Milliseconds()),
			fmt.Sprintf("--ramp_time=%dms", (j.runTime/10).Milliseconds()))
	}
	c := exec.CommandContext(ctx, m.fio, args...)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 2 * time.Second
	var stdout, stderr bytes.Buffer
	c.Stdout = &stdout
	c.Stderr = &stderr
	if err := c.Run(); err != nil {
		if ctx.Err() != nil {
			return result.DevicePoint{}, 0, ctx.Err()
		}
		said := strings.TrimSpace(stderr.String())
		if strings.Contains(said, "Invalid argument") {
			said += "\nthe file system may have no direct I/O: give a directory on the drives under test"
		}
		return result.DevicePoint{}, 0, fmt.Errorf("fio %s: %w\n%s", j.rw, err, said)
	}
	return parseReport(stdout.Bytes(), j)
}

// parseReport takes from fio's report, before which it may have printed notes, what a job did.
func parseReport(text []byte, j job) (result.DevicePoint, float64, error) {
	var out output
	err := json.Unmarshal(text[max(bytes.IndexByte(text, '{'), 0):], &out)
	if err != nil || len(out.Jobs) != 1 || out.Jobs[0].Error != 0 {
		err = errors.Join(err, fmt.Errorf("%d jobs", len(out.Jobs)))
		return result.DevicePoint{}, 0, fmt.Errorf(
			"fio %s: its report cannot be read: %w",
			j.rw,
			err,
		)
	}
	done := out.Jobs[0]
	p := result.DevicePoint{Depth: j.depth, Reads: done.Read.IOPS, Writes: done.Write.IOPS}
	p.IOPS = p.Reads + p.Writes
	if p.IOPS == 0 {
		return result.DevicePoint{}, 0, fmt.Errorf(
			"fio %s: no I/O ended in %s: make stages longer",
			j.rw,
			j.runTime,
		)
	}
	p.Mean = (done.Read.IOPS*done.Read.Latency.Mean + done.Write.IOPS*done.Write.Latency.Mean) / p.IOPS / 1e9
	shown := done.Read.Done
	if p.Reads == 0 {
		shown = done.Write.Done
	}
	p.P50 = shown.Percentiles["50.000000"] / 1e9
	p.P95 = shown.Percentiles["95.000000"] / 1e9
	p.P99 = shown.Percentiles["99.000000"] / 1e9
	return p, done.Write.Bytes, nil
}
