// Package device measures what a drive, array or volume can do by itself, by fio: the scale on which a run's own reads
// and log writes are read. It also preconditions flash, so that it is measured in the state in which it will stay. What
// a run took from the device is for others to know.
package device

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"ds2/internal/diskspace"
	"ds2/internal/result"
)

// BlockBytes is the size of the reads and writes that are measured: a page of the databases.
const BlockBytes = 8192

// compressible is the part of each written block, in percent, that shrinks: LZ4 makes 1.94 : 1 of the block, and so
// does zlib. A database's pages shrink about 2 : 1, each by itself and no two alike (docs/explanation/data.md).
const compressible = 50

// fileName is the file in the directory that is measured.
const fileName = "ds2-device.fio"

// depths are the numbers of I/Os under way at once that are measured, unless others are asked for.
var depths = []int{1, 2, 4, 8, 16, 32, 64, 128, 256}

// Options say what to measure and how. Either Dir or Device is set.
type Options struct {
	Dir    string // on the device: a file of FileBytes is made in it, and removed in the end
	Device string // a block device, all of which is overwritten

	KitVersion   string
	FileBytes    int64
	StageTime    time.Duration // for which each point is measured
	Depths       []int         // I/Os under way at once, rising; nil: 1 to 256
	Precondition bool
	RoundTime    time.Duration // of preconditioning

	// Progress is told what begins, and how long the points that are still to be measured will take together. It may be
	// nil.
	Progress func(what string, left time.Duration)
}

// Run measures. The file that it made is removed, also after an error.
func Run(ctx context.Context, o Options) (r *result.Device, err error) {
	if o.Depths == nil {
		o.Depths = depths
	}
	f, err := findFio(ctx)
	if err != nil {
		return nil, err
	}
	r = &result.Device{Format: result.DeviceFormat, Kind: "device", KitVersion: o.KitVersion,
		Fio: f.version, Start: time.Now(),
		Path: cmp.Or(o.Dir, o.Device), StageTime: o.StageTime.Seconds()}
	if o.Device != "" {
		f.file = o.Device
		f.bytes, err = claim(o.Device)
	} else {
		f.file, f.bytes = filepath.Join(o.Dir, fileName), o.FileBytes
		err = f.create(o.Dir)
	}
	if err != nil {
		return nil, err
	}
	if o.Dir != "" {
		defer func() { err = errors.Join(err, os.Remove(f.file)) }()
	}
	r.Bytes = f.bytes
	m := &measurement{ctx: ctx, fio: f, options: o, points: 2*len(o.Depths) + 1}
	return r, m.run(r)
}

// create makes the file, empty, and refuses to overwrite one, or to fill the file system.
func (f *fio) create(dir string) error {
	if free, ok := diskspace.Free(dir); ok && free < f.bytes+f.bytes/20 {
		return fmt.Errorf("%s has %d bytes free, and the file takes %d: make it smaller, or free some",
			dir, free, f.bytes)
	}
	file, err := os.OpenFile(f.file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists: another ds2 device is at work, or one that was killed left it: remove it then",
			f.file)
	}
	if err != nil {
		return fmt.Errorf("create file: %w", err)
	}
	return file.Close()
}

// measurement is the steps one after the other.
type measurement struct {
	ctx     context.Context
	fio     *fio
	options Options

	points int // still to be measured
}

// step runs a job.
func (m *measurement) step(what string, j job) (result.DevicePoint, float64, error) {
	if m.options.Progress != nil {
		m.options.Progress(what, time.Duration(m.points)*m.options.StageTime*11/10) // with fio's time to ramp up
	}
	return m.fio.run(m.ctx, j)
}

// point measures one of the record's points.
func (m *measurement) point(what string, j job) (result.DevicePoint, error) {
	j.block, j.runTime = BlockBytes, m.options.StageTime
	p, _, err := m.step(what, j)
	m.points--
	return p, err
}

func (m *measurement) run(r *result.Device) (err error) {
	if m.options.Precondition {
		if r.Preconditioning, err = m.precondition(); err != nil {
			return err
		}
		r.SequentialWrite = r.Preconditioning.Sequential[1]
	} else if _, r.SequentialWrite, err = m.step("fill it", fill); err != nil {
		return err // reading what was never written measures nothing
	}
	for _, curve := range []struct {
		what   string
		rw     string
		points *[]result.DevicePoint
	}{
		{"random reads", "randread", &r.Reads},
		{"70 % reads, 30 % writes", "randrw", &r.Mixed},
	} {
		for _, depth := range m.options.Depths {
			p, err := m.point(fmt.Sprintf("%s, depth %d", curve.what, depth), job{rw: curve.rw, depth: depth})
			if err != nil {
				return err
			}
			*curve.points = append(*curve.points, p)
		}
	}
	r.Log, err = m.point("log writes", job{rw: "write", depth: 1, sync: true})
	return err
}

// fill writes all once, in sequence.
var fill = job{rw: "write", block: 1 << 20, depth: 32}
