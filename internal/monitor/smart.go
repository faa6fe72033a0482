package monitor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"ds2/internal/outside"
	"ds2/internal/topology"
)

// SMART is what a drive told of itself before and after a run, by smartctl: an NVMe drive's log, an
// ATA drive's statistics. The drive counts what other programs write too.
type SMART struct {
	Drive  string       `json:"drive"`
	Model  string       `json:"model,omitempty"`
	Before SMARTReading `json:"before"`
	After  SMARTReading `json:"after"`

	HostBytes *float64 `json:"host_written_bytes,omitempty"` // between the two
	// How the drive was throttled because of its temperature; empty: it did not, or does not tell.
	Throttled string `json:"throttled,omitempty"`
}

// SMARTReading is a drive's own account since it was new. What it does not tell is nil.
type SMARTReading struct {
	HostBytes   *float64 `json:"host_written_bytes,omitempty"` // that were written to the drive
	Temperature *float64 `json:"temperature_celsius,omitempty"`
	// of the writes that it is made for; may pass 1
	Wear *float64 `json:"wear_ratio,omitempty"`
	// times that it was throttled because of its temperature
	Throttles *float64 `json:"throttles,omitempty"`
	// above the temperature that its maker warns of
	HotMinutes *float64 `json:"minutes_too_hot,omitempty"`

	model string
}

// smartOutput is what counts of smartctl's JSON, of NVMe and of ATA drives.
type smartOutput struct {
	Smartctl struct {
		ExitStatus int `json:"exit_status"`
		Messages   []struct{ String string }
		Output     []string
	}
	Model       string  `json:"model_name"`
	BlockSize   float64 `json:"logical_block_size"`
	Temperature struct{ Current *float64 }
	Endurance   struct {
		Used *float64 `json:"current_percent"`
	} `json:"endurance_used"`
	NVMe *struct {
		Written      *float64 `json:"data_units_written"`
		Used         *float64 `json:"percentage_used"`
		WarningTime  float64  `json:"warning_temp_time"`
		CriticalTime float64  `json:"critical_comp_time"`
	} `json:"nvme_smart_health_information_log"`
	Statistics struct {
		Pages []struct {
			Table []struct {
				Name  string
				Value *float64
			}
		}
	} `json:"ata_device_statistics"`
}

// nvmeUnit is the NVMe specification's data unit: 1,000 blocks of 512 bytes.
const nvmeUnit = 512_000

// parseSMART reads smartctl's report. Parts of it that cannot be read are missing from the reading;
// nothing at all is an error.
func parseSMART(text []byte) (r SMARTReading, err error) {
	var o smartOutput
	if err := json.Unmarshal(text, &o); err != nil {
		return r, fmt.Errorf("its report cannot be read: %w", err)
	}
	// bits of the exit status, smartctl(8); the others tell of the drive's health
	const usage, open = 1, 2
	silent := o.NVMe == nil && len(o.Statistics.Pages) == 0
	if silent || o.Smartctl.ExitStatus&(usage|open) != 0 {
		for _, m := range o.Smartctl.Messages {
			return r, errors.New(m.String)
		}
		return r, errors.New("the drive reports nothing")
	}
	r.model = o.Model
	r.Temperature = o.Temperature.Current
	used := o.Endurance.Used
	if n := o.NVMe; n != nil {
		used = cmp.Or(n.Used, used)
		if n.Written != nil {
			r.HostBytes = new(*n.Written * nvmeUnit)
		}
		r.HotMinutes = new(n.WarningTime + n.CriticalTime)
	}
	for _, line := range o.Smartctl.Output {
		if found := transitions.FindStringSubmatch(line); found != nil {
			n, _ := strconv.ParseFloat(strings.ReplaceAll(found[1], ",", ""), 64)
			if r.Throttles != nil {
				n += *r.Throttles
			}
			r.Throttles = &n
		}
	}
	if used != nil {
		r.Wear = new(*used / 100)
	}
	for _, page := range o.Statistics.Pages {
		for _, s := range page.Table {
			switch {
			case s.Value == nil:
			case s.Name == "Logical Sectors Written" && o.BlockSize > 0:
				r.HostBytes = new(*s.Value * o.BlockSize)
			case s.Name == "Percentage Used Endurance Indicator":
				r.Wear = new(*s.Value / 100)
			case s.Name == "Time in Over-Temperature":
				r.HotMinutes = s.Value
			}
		}
	}
	return r, nil
}

// transitions are lines of NVMe drives that smartctl has in its text alone.
var transitions = regexp.MustCompile(`^Thermal Temp\. [12] Transition Count:\s*([\d,]+)`)

// newSMART compares two readings of a drive.
func newSMART(drive string, before, after SMARTReading) SMART {
	s := SMART{Drive: drive, Model: after.model, Before: before, After: after}
	grown := func(a, b *float64) *float64 {
		if a == nil || b == nil || *b < *a {
			return nil
		}
		return new(*b - *a)
	}
	s.HostBytes = grown(before.HostBytes, after.HostBytes)
	var events []string
	told := func(format string, n *float64) {
		if n != nil && *n > 0 {
			events = append(events, fmt.Sprintf(format, *n))
		}
	}
	told("%.0f times", grown(before.Throttles, after.Throttles))
	told("too hot for %.0f minutes", grown(before.HotMinutes, after.HotMinutes))
	s.Throttled = strings.Join(events, ", ")
	return s
}

// readSMART asks a drive. A drive that sleeps is not woken.
func readSMART(ctx context.Context, program, drive string) (SMARTReading, error) {
	ctx, cancel := outside.Within(ctx, outside.Answer)
	defer cancel()
	c := exec.CommandContext(ctx, program,
		"--json=o", "--info", "--attributes", "--log=devstat", "--nocheck=standby", "/dev/"+drive)
	// A child that holds its output open does not keep ds2 waiting.
	c.WaitDelay = time.Second
	stdout, err := c.Output()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil &&
		(!exited || ctx.Err() != nil) {
		return SMARTReading{}, err
	}
	return parseSMART(stdout) // its exit status tells of the drive's health too
}

// When SMART is read.
const (
	SMARTAuto = "auto" // where smartctl is installed and the drive answers
	SMARTOn   = "on"   // the user is told where it cannot be read
	SMARTOff  = "off"
)

// smart is what asks drives of themselves.
type smart struct {
	seen
	program string
	drives  []string // that answer it
}

// findSMART finds out which drives of a machine, if it is this one, tell of themselves.
func findSMART(
	ctx context.Context,
	when string,
	machine *topology.Machine,
	local bool,
) (found smart) {
	if when != SMARTAuto && when != SMARTOn {
		return found
	}
	note := func(format string, args ...any) {
		if when == SMARTOn {
			found.note(format, args...)
		}
	}
	if machine == nil || !local {
		note("SMART is not read: the drives under test are not on this machine")
		return found
	}
	var err error
	if found.program, err = exec.LookPath("smartctl"); err != nil {
		found.program, err = exec.LookPath("/usr/sbin/smartctl") // which is not in every PATH
	}
	if err != nil {
		note("SMART is not read: smartctl is not installed " +
			"(Debian, Ubuntu, RHEL: the package smartmontools)")
		return found
	}
	for _, d := range machine.Drives {
		if _, err := readSMART(ctx, found.program, d.Name); err == nil {
			found.drives = append(found.drives, d.Name)
		} else {
			note("SMART of %s is not read: %v", d.Name, err)
		}
	}
	return found
}

// BeginSMART asks the drives that tell of themselves, and makes what compares that with what they
// tell later.
func (w *Observer) BeginSMART(ctx context.Context) (compare func(context.Context) []SMART) {
	var before []SMART
	for _, drive := range w.smart.drives {
		if r, err := readSMART(ctx, w.smart.program, drive); err == nil {
			before = append(before, SMART{Drive: drive, Before: r})
		}
	}
	return func(ctx context.Context) (all []SMART) {
		for _, s := range before {
			if r, err := readSMART(ctx, w.smart.program, s.Drive); err == nil {
				all = append(all, newSMART(s.Drive, s.Before, r))
			}
		}
		return all
	}
}
