package slowdrive

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	fusefs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// Drive is a mounted directory.
type Drive struct {
	server    *fuse.Server
	now       atomic.Pointer[state]
	data, log counters
}

// counters are whole: I/Os, bytes and nanoseconds.
type counters [6]atomic.Int64

// note counts a read (0) or a write (1).
func (c *counters) note(kind, bytes int, begin time.Time) {
	c[kind].Add(1)
	c[2+kind].Add(int64(bytes))
	c[4+kind].Add(int64(time.Since(begin)))
}

func (c *counters) counts() (all [6]float64) {
	for i, unit := range []float64{1, 1, 1, 1, 1e9, 1e9} {
		all[i] = float64(c[i].Load()) / unit
	}
	return all
}

// Counts are, of the data and of the log, the reads and writes so far, their bytes, and the seconds that they took.
func (d *Drive) Counts() (data, log [6]float64) { return d.data.counts(), d.log.counts() }

// state are the delays, and a place for each read that is served at once; nil: there is no end of places.
type state struct {
	Delays
	places chan struct{}
}

// Set has I/Os that begin from now on take their time. Those under way end as they began.
func (d *Drive) Set(delays Delays) {
	s := &state{Delays: delays}
	if delays.AtOnce > 0 {
		s.places = make(chan struct{}, delays.AtOnce)
	}
	d.now.Store(s)
}

// Mount shows the directory under at another, which must be empty. Only root, or who has fusermount3, may.
func Mount(under, at string) (*Drive, error) {
	d := &Drive{}
	d.Set(Delays{})
	root, err := fusefs.NewLoopbackRoot(under)
	if err != nil {
		return nil, fmt.Errorf("show %s: %w", under, err)
	}
	asRoot := os.Geteuid() == 0 // whose servers are another user's
	kept := time.Minute         // nobody else changes what is below
	d.server, err = fusefs.Mount(at, &node{root.(*fusefs.LoopbackNode), d}, &fusefs.Options{
		AttrTimeout: &kept, EntryTimeout: &kept,
		MountOptions: fuse.MountOptions{AllowOther: asRoot, DirectMountStrict: asRoot, MaxBackground: 256,
			ExtraCapabilities: fuse.CAP_ASYNC_DIO, FsName: "ds2-slow-drive", Options: []string{"default_permissions"}},
	})
	if err != nil {
		return nil, fmt.Errorf("mount a file system at %s: %w; it takes /dev/fuse, and root or fusermount3", at, err)
	}
	return d, keepFromChildren()
}

// keepFromChildren closes /dev/fuse in programs that this one starts. A server that had it open would keep the drive,
// and itself, hanging after the death of the program that answers for the drive; the library leaves it open.
func keepFromChildren() error {
	const open = "/proc/self/fd"
	all, err := os.ReadDir(open)
	for _, e := range all {
		fd, number := strconv.Atoi(e.Name())
		if to, _ := os.Readlink(filepath.Join(open, e.Name())); number == nil && to == "/dev/fuse" {
			syscall.CloseOnExec(fd)
		}
	}
	return err
}

// Unmount takes the directory away. Nobody may use it any more.
func (d *Drive) Unmount() error {
	if err := d.server.Unmount(); err != nil {
		return fmt.Errorf("unmount the slow drive: %w", err)
	}
	d.server.Wait()
	return nil
}

// node is a directory or a file.
type node struct {
	*fusefs.LoopbackNode
	drive *Drive
}

var (
	_ fusefs.NodeWrapChilder = (*node)(nil)
	_ fusefs.NodeOpener      = (*node)(nil)
	_ fusefs.NodeCreater     = (*node)(nil)
	_ fusefs.NodeFsyncer     = (*node)(nil)
)

func (n *node) WrapChild(_ context.Context, child fusefs.InodeEmbedder) fusefs.InodeEmbedder {
	return &node{child.(*fusefs.LoopbackNode), n.drive}
}

func (n *node) Open(ctx context.Context, flags uint32) (fusefs.FileHandle, uint32, syscall.Errno) {
	h, _, errno := n.LoopbackNode.Open(ctx, flags&^syscall.O_DIRECT) // whose buffers would have to be aligned
	return n.slowed(h, n.Path(nil), errno), direct, errno
}

func (n *node) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (
	*fusefs.Inode, fusefs.FileHandle, uint32, syscall.Errno) {
	child, h, _, errno := n.LoopbackNode.Create(ctx, name, flags&^syscall.O_DIRECT, mode, out)
	return child, n.slowed(h, filepath.Join(n.Path(nil), name), errno), direct, errno
}

// direct keeps the page cache out, and has writes to a file that do not lengthen it go on beside one another (from
// Linux 6.2 on).
const direct = fuse.FOPEN_DIRECT_IO | fuse.FOPEN_PARALLEL_DIRECT_WRITES

func (n *node) slowed(h fusefs.FileHandle, path string, errno syscall.Errno) fusefs.FileHandle {
	if errno != 0 {
		return nil
	}
	f := &file{h.(*fusefs.LoopbackFile), n.drive, &n.drive.data}
	if slices.Contains(strings.Split(path, "/"), LogDir) {
		f.counters = &n.drive.log
	}
	return f
}

// Fsync is that of files and directories.
func (n *node) Fsync(context.Context, fusefs.FileHandle, uint32) syscall.Errno {
	sleep(n.drive.now.Load().Flush)
	return 0
}

// file is an open file.
type file struct {
	*fusefs.LoopbackFile
	drive    *Drive
	counters *counters // the drive's of the file's role
}

var (
	_ fusefs.FileReader          = (*file)(nil)
	_ fusefs.FileWriter          = (*file)(nil)
	_ fusefs.FilePassthroughFder = (*file)(nil)
)

func (f *file) Read(ctx context.Context, b []byte, at int64) (fuse.ReadResult, syscall.Errno) {
	defer f.counters.note(0, len(b), time.Now())
	s := f.drive.now.Load()
	if s.places != nil {
		s.places <- struct{}{}
		defer func() { <-s.places }()
	}
	sleep(s.Read)
	return f.LoopbackFile.Read(ctx, b, at)
}

func (f *file) Write(ctx context.Context, b []byte, at int64) (uint32, syscall.Errno) {
	defer f.counters.note(1, len(b), time.Now())
	if f.counters == &f.drive.data {
		sleep(f.drive.now.Load().Write)
	}
	return f.LoopbackFile.Write(ctx, b, at)
}

// PassthroughFd keeps the kernel from going to the file below by itself.
func (f *file) PassthroughFd() (int, bool) { return 0, false }

// timers are those that nobody waits for.
var timers = sync.Pool{New: func() any {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return (*os.File)(nil)
	}
	return os.NewFile(uintptr(fd), "timer")
}}

// sleep takes as long as it says. time.Sleep ends up to a millisecond late, and how late is a matter of what else the
// process does: fio would then measure another drive than the server has.
func sleep(d time.Duration) {
	if d <= 0 {
		return
	}
	timer := timers.Get().(*os.File)
	if err := wait(timer, d); err != nil { // there are no more files
		time.Sleep(d)
		return
	}
	timers.Put(timer)
}

func wait(timer *os.File, d time.Duration) error {
	c, err := timer.SyscallConn()
	if err != nil {
		return err
	}
	var refused error
	err = c.Control(func(fd uintptr) {
		refused = unix.TimerfdSettime(int(fd), 0, &unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}, nil)
	})
	if err == nil && refused == nil {
		_, err = timer.Read(make([]byte, 8))
	}
	return errors.Join(err, refused)
}
