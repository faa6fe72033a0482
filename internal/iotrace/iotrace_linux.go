package iotrace

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"structs"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"
)

//go:generate -command cc clang -target bpfel -mcpu=v3 -O2 -g -Wall -Wno-unused-value -I/usr/include/x86_64-linux-gnu
//go:generate cc -c iotrace.bpf.c -o kernel_bpfel.o
//go:generate llvm-strip -g kernel_bpfel.o

//go:embed kernel_bpfel.o
var kernel []byte

// directoryKey is the kernel's struct directory.
type directoryKey struct {
	_      structs.HostLayout
	Inode  uint64
	Device uint32
	Zero   uint32
}

// maxDrives is how many the kernel's side has room for.
const maxDrives = 16

// What a process does for a server: the kernel's enum work.
const (
	sessions uint32 = 1 + iota // for clients, as its children do that are nothing else
	ofLogWriter
	ofDataWriter
	background
)

// Tracer counts until it is closed.
type Tracer struct {
	drives  []string
	servers []int
	known   map[int]bool // children of the servers that were looked at
	objects *ebpf.Collection
	links   []link.Link
	memory  *ebpf.Memory
}

// Open begins to count the I/Os of drives for servers, whose directories and processes are given.
func Open(drives []string, directories []Directory, servers []int) (t *Tracer, err error) {
	t = &Tracer{drives: drives, servers: servers, known: map[int]bool{}}
	defer func() {
		if err != nil {
			t.Close()
			err = fmt.Errorf("trace I/Os: %w", err)
		}
	}()
	if len(drives) > maxDrives {
		return t, fmt.Errorf("%d drives are more than %d", len(drives), maxDrives)
	}
	spec, err := ebpf.LoadCollectionSpecFromReader(bytes.NewReader(kernel))
	if err != nil {
		return t, err
	}
	var numbers [maxDrives]uint32
	for i, d := range drives {
		if numbers[i], err = driveNumber(d); err != nil {
			return t, err
		}
	}
	if err := spec.Variables["drives"].Set(numbers); err != nil {
		return t, err
	}
	if t.objects, err = ebpf.NewCollection(spec); err != nil {
		return t, explainRefusal(err)
	}
	for _, d := range directories {
		if err := t.addDirectory(d); err != nil {
			return t, err
		}
	}
	for _, pid := range servers {
		if err := t.objects.Maps["processes"].Put(uint32(pid), sessions); err != nil {
			return t, err
		}
	}
	_ = t.Look()
	if t.memory, err = t.objects.Maps["histograms"].Memory(); err != nil {
		return t, err
	}
	for _, program := range []string{"request_ended", "bio_ended", "queued"} {
		l, err := link.AttachTracing(link.TracingOptions{Program: t.objects.Programs[program]})
		if err != nil {
			return t, explainRefusal(err)
		}
		t.links = append(t.links, l)
	}
	return t, nil
}

// explainRefusal says what the kernel lacks or refuses, where that is known.
func explainRefusal(err error) error {
	switch {
	case errors.Is(err, unix.EPERM):
		return fmt.Errorf("run ds2 as root, or with CAP_BPF and CAP_PERFMON: %w", err)
	case errors.Is(err, ebpf.ErrNotSupported), errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf(
			"the kernel is older than 5.14, or was built without BTF (CONFIG_DEBUG_INFO_BTF): %w",
			err,
		)
	}
	return err
}

// driveNumber is the number of a drive. I/Os of its partitions have that number too.
func driveNumber(drive string) (uint32, error) {
	file := filepath.Join("/sys/class/block", drive, "dev")
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	var major, minor uint32
	if _, err := fmt.Sscanf(string(text), "%d:%d", &major, &minor); err != nil {
		return 0, fmt.Errorf("read %s: %w", file, err)
	}
	return kernelNumber(major, minor), nil
}

// kernelNumber is how the kernel keeps a device's number inside; user space has another form.
func kernelNumber(major, minor uint32) uint32 { return major<<20 | minor }

// addDirectory tells the kernel a directory and all below it.
func (t *Tracer) addDirectory(d Directory) error {
	root, err := filepath.EvalSymlinks(d.Path)
	if err != nil {
		return err
	}
	whose := uint32(0) // as the kernel's side has it
	if d.Log {
		whose = 1
	}
	return filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // gone meanwhile
			return nil
		case err != nil:
			return err
		case !e.IsDir():
			return nil
		}
		var st unix.Stat_t
		if err := unix.Stat(path, &st); err != nil {
			return nil //nolint:nilerr // gone meanwhile
		}
		key := directoryKey{
			Inode:  st.Ino,
			Device: kernelNumber(unix.Major(st.Dev), unix.Minor(st.Dev)),
		}
		return t.objects.Maps["directories"].Put(key, whose)
	})
}

// titles are how the titles of PostgreSQL's processes begin that are no sessions.
var titles = map[string]uint32{
	"walwriter": ofLogWriter, "checkpointer": ofDataWriter, "background writer": ofDataWriter,
	"autovacuum": background, "archiver": background, "logger": background, "startup": background,
	"walsender": background, "walreceiver": background, "walsummarizer": background,
	"stats collector": background, "logical replication": background,
}

// Look finds new processes of the servers that work for no client: call it once a second. The error
// says that a server is gone.
func (t *Tracer) Look() (gone error) {
	now := map[int]bool{}
	for _, server := range t.servers {
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", server, server))
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", server)); err != nil {
			gone = fmt.Errorf(
				"the server's process %d is gone: its I/Os count as other ones from here on",
				server,
			)
		}
		for _, field := range strings.Fields(string(children)) {
			pid, _ := strconv.Atoi(field)
			if now[pid] = t.known[pid]; now[pid] {
				continue
			}
			title, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			name := strings.TrimRight(string(title), "\x00 ")
			begin := strings.LastIndex(name, ": ")
			now[pid] = begin >= 0 // one that was just made has its server's title
			name = name[begin+1:]
			for begins, work := range titles {
				if strings.HasPrefix(strings.TrimSpace(name), begins) {
					_ = t.objects.Maps["processes"].Put(uint32(pid), work)
				}
			}
		}
	}
	for pid := range t.known {
		if !now[pid] { // its number may be a session's later
			_ = t.objects.Maps["processes"].Delete(uint32(pid))
		}
	}
	t.known = now
	return gone
}

// Read gives the histograms since the start: of each class, of each drive in their order.
func (t *Tracer) Read() ([][Classes]Histogram, error) {
	all := make([][Classes]Histogram, len(t.drives)) // as the kernel has them
	memory := unsafe.Slice(
		(*byte)(unsafe.Pointer(unsafe.SliceData(all))),
		len(all)*int(unsafe.Sizeof(all[0])),
	)
	if _, err := t.memory.ReadAt(memory, 0); err != nil {
		return nil, fmt.Errorf("read the times of I/Os: %w", err)
	}
	return all, nil
}

// Close ends the tracing, as far as it was begun.
func (t *Tracer) Close() {
	for _, l := range t.links {
		_ = l.Close()
	}
	if t.objects != nil {
		t.objects.Close()
	}
}
