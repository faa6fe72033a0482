package device

import (
	"bytes"
	"context"
	_ "embed" // fio.tmpl
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"text/template"
	"time"

	"ds2/internal/result"
)

// job is one thing that fio does.
type job struct {
	Pattern string // as fio calls it
	Block   int
	Depth   int
	Sync    bool          // each write lasts until the drive keeps it, as a commit's does
	RunTime time.Duration // 0: once over the whole file
}

// RampTime is how long a job runs before it counts: until its queue is full, and the drive's cache
// too where it writes.
func (j job) RampTime() time.Duration { return j.RunTime / 10 }

//go:embed fio.tmpl
var argumentLines string

// arguments are fio's for a job, one a line.
var arguments = template.Must(template.New("").Parse(argumentLines))

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

// measured is what fio says of reads or of writes.
type measured struct {
	IOPS    float64 `json:"iops"`
	Bytes   float64 `json:"bw_bytes"` // a second
	Latency latency `json:"lat_ns"`   // from the making of an I/O to its end
	Done    latency `json:"clat_ns"`  // from its submission; with percentiles
}

type latency struct {
	Mean        float64            `json:"mean"`
	Percentiles map[string]float64 `json:"percentile"`
}

// runJob runs a job, and returns what it did and the bytes a second that it wrote.
func (m *measurement) runJob(
	ctx context.Context, what string, j job,
) (p result.DevicePoint, written float64, err error) {
	if m.Progress != nil {
		m.Progress(what, time.Duration(m.points)*m.StageTime*11/10) // with fio's time to ramp up
	}
	var lines strings.Builder
	err = arguments.Execute(&lines, struct {
		job
		File  string
		Bytes int64
	}{j, strings.ReplaceAll(m.file, ":", `\:`), m.record.Bytes})
	if err != nil {
		return p, 0, err
	}
	args := strings.FieldsFunc(lines.String(), func(r rune) bool { return r == '\n' })
	c := exec.CommandContext(ctx, m.fio, args...)
	// On an interrupt fio ends its I/Os before it ends: none is under way when the file is removed.
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 2 * time.Second
	var stdout, stderr bytes.Buffer
	c.Stdout = &stdout
	c.Stderr = &stderr
	if err := c.Run(); err != nil {
		if ctx.Err() != nil {
			return p, 0, ctx.Err()
		}
		said := strings.TrimSpace(stderr.String())
		if strings.Contains(said, "Invalid argument") {
			said += "\nthe file system may have no direct I/O: give a directory on the drives under test"
		}
		return p, 0, fmt.Errorf("fio %s: %w\n%s", j.Pattern, err, said)
	}
	return parseReport(stdout.Bytes(), j)
}

// parseReport takes from fio's report, before which it may have printed notes, what a job did.
func parseReport(text []byte, j job) (p result.DevicePoint, written float64, err error) {
	var out output
	err = json.Unmarshal(text[max(bytes.IndexByte(text, '{'), 0):], &out)
	if err != nil || len(out.Jobs) != 1 || out.Jobs[0].Error != 0 {
		err = errors.Join(err, fmt.Errorf("%d jobs", len(out.Jobs)))
		return p, 0, fmt.Errorf("fio %s: its report cannot be read: %w", j.Pattern, err)
	}
	done := out.Jobs[0]
	p.Depth = j.Depth
	p.Reads = done.Read.IOPS
	p.Writes = done.Write.IOPS
	p.IOPS = p.Reads + p.Writes
	if p.IOPS == 0 {
		return p, 0, fmt.Errorf("fio %s: no I/O ended in %s: make stages longer",
			j.Pattern, j.RunTime)
	}
	// The mean over reads and writes together weighs each by how many there were, in seconds.
	p.Mean = (p.Reads*done.Read.Latency.Mean + p.Writes*done.Write.Latency.Mean) / p.IOPS / 1e9
	// Of a mixed job the percentiles are those of its reads: a database's sessions wait for these,
	// and pages are written in the background.
	shown := done.Read.Done
	if p.Reads == 0 {
		shown = done.Write.Done
	}
	p.P50 = shown.Percentiles["50.000000"] / 1e9
	p.P95 = shown.Percentiles["95.000000"] / 1e9
	p.P99 = shown.Percentiles["99.000000"] / 1e9
	return p, done.Write.Bytes, nil
}
