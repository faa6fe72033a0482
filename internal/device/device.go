// Package device measures what a drive, array or volume can do by itself, by fio: the scale on
// which a run's own reads and log writes are read. It also preconditions flash, so that it is
// measured in the state in which it will stay. What a run took from the device is for others to
// know.
package device

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"

	"ds2/internal/diskspace"
	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/topology"
)

// BlockBytes is the size of the reads and writes that are measured: a page of the databases.
const BlockBytes = 8192

// fileName is the file in the directory that is measured.
const fileName = "ds2-device.fio"

// depths are the numbers of I/Os under way at once that are measured, unless others are asked for.
// One by one they show a drive's latency; the IOPS rise with the depth until the drive is busy, for
// flash at 32 to 256.
var depths = []int{1, 2, 4, 8, 16, 32, 64, 128, 256}

// Options say what to measure and how. Either Dir or Device is set.
type Options struct {
	Dir    string // on the device: a file of FileBytes is made in it, and removed in the end
	Device string // a block device, all of which is overwritten

	KitVersion   string
	FileBytes    int64
	StageTime    time.Duration // for which each point is measured
	Depths       []int         // I/Os under way at once, rising; nil: 1 to 256
	Precondition bool          // of flash, before all else; see measurement.precondition
	RoundTime    time.Duration // of preconditioning

	// Progress is told what begins, and how long the points that are still to be measured will take
	// together. It may be nil.
	Progress func(what string, left time.Duration)
}

// Run measures, first the reads and last the writes of a log. The file that it made is removed,
// also after an error; a device is left overwritten. An error means that fio is missing, that Dir
// or Device cannot be used, or that fio failed: there is no record of a part of the points.
func Run(ctx context.Context, o Options) (r *result.Device, err error) {
	if o.Depths == nil {
		o.Depths = depths
	}
	program, version, err := findFio(ctx)
	if err != nil {
		return nil, err
	}
	r = &result.Device{
		Format: result.DeviceFormat, Kind: "device", KitVersion: o.KitVersion,
		Fio: version, Start: time.Now(),
		Path: cmp.Or(o.Dir, o.Device), StageTime: o.StageTime.Seconds(),
		Machine: describeMachine(o),
	}
	m := &measurement{Options: o, fio: program, record: r, points: 2*len(o.Depths) + 1}
	if o.Device != "" {
		m.file = o.Device
		r.Bytes, err = claimDevice(o.Device)
	} else {
		r.Bytes = o.FileBytes
		m.file, err = createFile(o.Dir, r.Bytes)
	}
	if err != nil {
		return nil, err
	}
	if o.Dir != "" {
		defer func() { err = errors.Join(err, os.Remove(m.file)) }()
	}
	return r, m.runSteps(ctx)
}

// describeMachine is the machine with the drives that are measured; nil where they are not known.
func describeMachine(o Options) *topology.Machine {
	if runtime.GOOS != "linux" {
		return nil
	}
	found := topology.FileSystem{}
	var err error
	if o.Dir != "" {
		found, err = topology.Root.Find(o.Dir)
	} else if path, linkErr := filepath.EvalSymlinks(o.Device); linkErr == nil {
		found.Devices, err = topology.Root.DrivesUnder(filepath.Base(path))
	}
	if err != nil {
		return nil
	}
	m := topology.Root.Machine(found.Devices)
	if o.Dir != "" {
		m.FileSystem = &found
	}
	return &m
}

// createFile makes the file, empty, and refuses to overwrite one, or to fill the file system.
func createFile(dir string, bytes int64) (name string, err error) {
	name = filepath.Join(dir, fileName)
	lies, _ := topology.Root.Find(dir) // without an answer no worse than any other
	if lies.Type == "tmpfs" || lies.Type == "ramfs" {
		return name, fmt.Errorf("%s lies in memory (%s), and no drive is under it: "+
			"give a directory on the drives under test", dir, lies.Type)
	}
	// A twentieth stays free: others write there too, and a file system that is nearly full
	// scatters what it places.
	if free, ok := diskspace.Free(dir); ok && free < bytes+bytes/20 {
		return name, fmt.Errorf("%s has %d bytes free, and the file takes %d: "+
			"make it smaller, or free some", dir, free, bytes)
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return name, fmt.Errorf("%s exists: another ds2 device is at work, or one that was "+
			"killed left it: remove it then", name)
	}
	if err != nil {
		return name, fmt.Errorf("create file: %w", err)
	}
	return name, file.Close()
}

// claimDevice refuses a block device that is in use or that has partitions, and says how large it
// is.
func claimDevice(device string) (bytes int64, err error) {
	if runtime.GOOS != "linux" {
		return 0, errors.New("whole devices are measured on Linux only: give a directory")
	}
	path, err := filepath.EvalSymlinks(device)
	if err != nil {
		return 0, err
	}
	stat, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	if stat.Mode()&os.ModeDevice == 0 || stat.Mode()&os.ModeCharDevice != 0 {
		return 0, fmt.Errorf("%s is not a block device", device)
	}
	parts, _ := filepath.Glob("/sys/class/block/" + filepath.Base(path) + "/*/partition")
	if len(parts) > 0 {
		return 0, fmt.Errorf("%s has partitions: not touched; wipe it first (wipefs --all %[1]s)",
			device)
	}
	// O_EXCL: the kernel refuses what is mounted, swap, or part of a volume.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_EXCL, 0)
	if errors.Is(err, syscall.EBUSY) {
		return 0, fmt.Errorf("%s is mounted, used for swap, or part of a volume: not touched",
			device)
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return f.Seek(0, io.SeekEnd)
}

// measurement is the steps of a measurement, one after the other: fill or precondition, the curves
// of reads and of the mix by depth, and the writes of a log.
type measurement struct {
	Options
	fio    string // the program
	file   string // or device
	record *result.Device
	points int // still to be measured
}

// measurePoint measures one of the record's points.
func (m *measurement) measurePoint(
	ctx context.Context, what string, j job,
) (result.DevicePoint, error) {
	j.Block = BlockBytes
	j.RunTime = m.StageTime
	p, _, err := m.runJob(ctx, what, j)
	m.points--
	return p, err
}

func (m *measurement) runSteps(ctx context.Context) (err error) {
	r := m.record
	if m.Precondition {
		if r.Preconditioning, err = m.precondition(ctx); err != nil {
			return err
		}
		// In the first pass the drive may have been fresh.
		r.SequentialWrite = r.Preconditioning.Sequential[1]
	} else if _, r.SequentialWrite, err = m.runJob(ctx, "writing the test file", fill); err != nil {
		return err // reading what was never written measures nothing
	}
	// Reads come before writes: after writes a flash drive collects garbage for minutes, which the
	// reads would meet.
	for _, curve := range []struct {
		what   string
		rw     string
		points *[]result.DevicePoint
	}{
		{"random reads", "randread", &r.Reads},
		{"70 % reads, 30 % writes", "randrw", &r.Mixed},
	} {
		for _, depth := range m.Depths {
			what := fmt.Sprintf("%s, depth %d", curve.what, depth)
			p, err := m.measurePoint(ctx, what, job{Pattern: curve.rw, Depth: depth})
			if err != nil {
				return err
			}
			*curve.points = append(*curve.points, p)
		}
	}
	// The log is written in sequence, and a commit waits for each write: one at a time, each kept.
	r.Log, err = m.measurePoint(ctx, "log writes", job{Pattern: "write", Depth: 1, Sync: true})
	return err
}

// fill writes all once, in sequence.
var fill = job{Pattern: "write", Block: 1 << 20, Depth: 32}

// The steady state of SNIA's Solid State Storage Performance Test Specification: over five rounds
// the figures stay within 20 % of their mean, and their best straight line rises or falls by no
// more than 10 % of it; at most 25 rounds.
const (
	steadyRounds = 5
	maxRounds    = 25
	maxRange     = 0.20
	maxSlope     = 0.10
)

// precondition brings flash into the state in which it stays: all of it written twice in sequence,
// so that nothing of the drive is fresh, and then at random until rounds are steady. That the drive
// is purged before is for its owner to see to.
func (m *measurement) precondition(ctx context.Context) (*result.DevicePreconditioning, error) {
	p := &result.DevicePreconditioning{}
	for pass := range 2 {
		_, rate, err := m.runJob(ctx, fmt.Sprintf("sequential pass %d of 2", pass+1), fill)
		if err != nil {
			return p, err
		}
		p.Sequential = append(p.Sequential, rate)
	}
	for !p.Steady && len(p.Rounds) < maxRounds {
		what := fmt.Sprintf("random writes, round %d of at most %d", len(p.Rounds)+1, maxRounds)
		point, _, err := m.runJob(ctx, what,
			job{Pattern: "randwrite", Block: BlockBytes, Depth: 32, RunTime: m.RoundTime})
		if err != nil {
			return p, err
		}
		p.Rounds = append(p.Rounds, point.IOPS)
		p.Steady = roundsSteady(p.Rounds)
	}
	return p, nil
}

// roundsSteady tells whether the last rounds are.
func roundsSteady(rounds []float64) bool {
	if len(rounds) < steadyRounds {
		return false
	}
	rounds = rounds[len(rounds)-steadyRounds:]
	mean, _ := measure.MeanCI95(rounds)
	slope, _ := measure.Slope(rounds)
	return slices.Max(rounds)-slices.Min(rounds) <= maxRange*mean &&
		math.Abs(slope)*(steadyRounds-1) <= maxSlope*mean
}
