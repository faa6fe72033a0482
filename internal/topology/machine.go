// Package topology finds where a database server runs and what its files lie on: its process and
// control groups, its files' mounts, and the drives under them. It describes these and reads no
// counters: see package sampling.
package topology

import (
	"cmp"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/blockdevice"
)

// Machine is what a reader of a result must know of the computer under test.
type Machine struct {
	Hostname string `json:"hostname"`
	// that its firmware names: "Amazon EC2", "m5.large"
	Vendor      string  `json:"vendor,omitempty"`
	Product     string  `json:"product,omitempty"`
	System      string  `json:"system"` // such as "Debian GNU/Linux 13 (trixie)"
	Kernel      string  `json:"kernel"`
	Processor   string  `json:"processor"` // model
	Processors  int     `json:"processors"`
	MemoryBytes int64   `json:"memory_bytes"`
	Drives      []Drive `json:"drives,omitempty"`
	// what I/Os are asked of that the drives below it do for several: RAID
	Volumes    []Drive     `json:"volumes,omitempty"`
	FileSystem *FileSystem `json:"file_system,omitempty"` // of the database's data directory

	Files []DatabaseFile `json:"database_files,omitempty"` // whose I/O servers count themselves
}

// Drive is one block device or, where those cannot be observed, a file of a database.
type Drive struct {
	Name       string `json:"name"`
	File       bool   `json:"file,omitempty"`
	Model      string `json:"model,omitempty"`
	Serial     string `json:"serial,omitempty"` // of a loop device the file behind it
	Bytes      int64  `json:"bytes"`
	Rotational bool   `json:"rotational"`
	Scheduler  string `json:"scheduler,omitempty"`
	// "write back", "write through"; empty: not known
	WriteCache string `json:"write_cache,omitempty"`
	FUA        bool   `json:"fua,omitempty"` // it can write past its cache
	// the drives that it is made of, as that of LVM is; empty: it is one
	Under []string `json:"under,omitempty"`
	// what the database keeps on it; empty: not known
	Roles   []Role `json:"roles,omitempty"`
	Machine string `json:"machine,omitempty"` // that it is of, where several are observed

	// why its flushes cannot be told from its writes
	WritesUnknown string `json:"writes_unknown,omitempty"`
}

// DriveNames are the names of the drives under the data and the log, as the kernel has them.
func (m *Machine) DriveNames() (names []string) {
	for _, d := range m.Drives {
		names = append(names, d.Name)
	}
	return names
}

// DrivesOf are the names of the drives at the bottom that hold a role, as far as that is known.
func (m *Machine) DrivesOf(role Role) (names []string) {
	for _, d := range m.Drives {
		switch {
		case !d.Holds(role):
		case len(d.Under) > 0:
			names = append(names, d.Under...)
		default:
			names = append(names, d.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Holds says whether a drive is known to have a role.
func (d Drive) Holds(role Role) bool { return slices.Contains(d.Roles, role) }

// Holds says whether a drive is known to have a role.
func (m *Machine) Holds(drive string, role Role) bool {
	return m != nil && slices.ContainsFunc(m.Drives, func(d Drive) bool {
		return d.Name == drive && d.Holds(role)
	})
}

// FileNames are the names of the files of a role whose I/O is counted: those of a database or, of
// the empty name, of all.
func (m *Machine) FileNames(role Role, database string) (names []string) {
	if m == nil {
		return nil
	}
	for _, f := range m.Files {
		if f.Role == role && (database == "" || f.Database == database) {
			names = append(names, f.Name)
		}
	}
	return names
}

// FileSystem is where a directory lies.
type FileSystem struct {
	MountPoint string   `json:"mount_point"`
	Type       string   `json:"type"`
	Options    []string `json:"options"` // of the mount and of the file system itself, sorted
	// the whole block devices under it, by their names in /sys/block
	Devices []string `json:"devices"`
	// of what lies on these, the uppermost that may do several of their I/Os for one
	Volumes []string `json:"volumes,omitempty"`
}

// HostOf is the host of a target, host:port/database, or of a server or an exporter, host:port.
func HostOf(name string) string {
	address, _, _ := strings.Cut(name, "/")
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}

// Container is what a process may use of its machine, by its control groups and those above them.
// Zero is no limit.
type Container struct {
	MemoryBytes int64   `json:"memory_bytes,omitempty"`
	Processors  float64 `json:"processors,omitempty"`
}

// IsLocal says whether a host name or address is this machine's; a Unix socket's directory is too.
func IsLocal(name string) bool {
	// A name that begins with / is the directory of a Unix socket, one with @ an abstract socket.
	if name == "" || name == "localhost" || strings.HasPrefix(name, "/") ||
		strings.HasPrefix(name, "@") {
		return true
	}
	addresses, _ := net.LookupHost(name)
	own, _ := net.InterfaceAddrs()
	return slices.ContainsFunc(addresses, func(a string) bool {
		ip := net.ParseIP(a)
		return ip.IsLoopback() || slices.ContainsFunc(own, func(o net.Addr) bool {
			n, ok := o.(*net.IPNet)
			return ok && n.IP.Equal(ip)
		})
	})
}

// Server is what a reader of a result must know of a target's database server, and of the
// database's own settings.
type Server struct {
	Version  string            `json:"version"` // as the server says it
	Settings map[string]string `json:"settings,omitempty"`
	// not at their defaults, besides; nil: unknown
	OtherSettings map[string]string `json:"other_settings"`

	// what it may use of its machine, where that is less than all
	Container *Container `json:"container,omitempty"`

	Files []File `json:"-"` // of the database, data before log
}

// Machine describes this computer with the drives named. What the kernel does not tell stays empty.
func (fs FS) Machine(drives []string) Machine {
	firmware := func(name string) string {
		return ReadText(fs.Sys, "class/dmi/id", name)
	}
	m := Machine{
		Vendor:     Cloud(firmware("sys_vendor"), firmware("chassis_asset_tag")),
		Product:    firmware("product_name"),
		System:     cmp.Or(readValue("/etc/os-release", "PRETTY_NAME", "="), runtime.GOOS),
		Kernel:     ReadText(fs.Proc, "sys/kernel/osrelease"),
		Processor:  readValue(filepath.Join(fs.Proc, "cpuinfo"), "model name", ":"),
		Processors: runtime.NumCPU(),
	}
	m.Hostname, _ = os.Hostname()
	if pfs, err := procfs.NewFS(fs.Proc); err == nil {
		if stat, err := pfs.Stat(); err == nil {
			m.Processors = len(stat.CPU)
		}
		if mem, err := pfs.Meminfo(); err == nil && mem.MemTotalBytes != nil {
			m.MemoryBytes = int64(*mem.MemTotalBytes)
		}
	}
	for _, name := range drives {
		m.Drives = append(m.Drives, fs.describeDrive(name))
	}
	return m
}

// describeDrive is what sysfs tells of a block device. Virtual ones have no model and no serial.
func (fs FS) describeDrive(name string) Drive {
	dir := filepath.Join(fs.Sys, "block", name)
	block, _ := blockdevice.NewFS(fs.Proc, fs.Sys)
	bytes, _ := block.SysBlockDeviceSize(name)
	rotational, _ := block.SysBlockDeviceRotational(name)
	// Its SysBlockDeviceQueueStats gives nothing where one file of many is missing, as on Linux
	// 6.18 io_timeout of virtio drives is.
	d := Drive{
		Name:       name,
		Model:      ReadText(dir, "device/model"),
		Bytes:      int64(bytes),
		Rotational: rotational == 1,
		Scheduler:  ReadText(dir, "queue/scheduler"),
		WriteCache: ReadText(dir, "queue/write_cache"),
		FUA:        ReadText(dir, "queue/fua") == "1",
	}
	for _, file := range []string{"device/serial", "serial", "loop/backing_file"} {
		d.Serial = cmp.Or(d.Serial, ReadText(dir, file))
	}
	if under, err := fs.DrivesUnder(name); err == nil && !slices.Contains(under, name) {
		d.Under = under
	}
	// "none [mq-deadline] kyber": the one in brackets is in force.
	if _, rest, ok := strings.Cut(d.Scheduler, "["); ok {
		d.Scheduler, _, _ = strings.Cut(rest, "]")
	}
	return d
}

// VolumesOver are those of some volumes all of whose drives are among some. Of one that may count
// empty flushes among its writes these are unknown: bcache does, and MD up to Linux 5.11.
func (fs FS) VolumesOver(names []string, drives []Drive) (all []Drive) {
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		v := fs.describeDrive(name)
		observed := !slices.ContainsFunc(v.Under, func(under string) bool {
			return !slices.ContainsFunc(drives, func(d Drive) bool { return d.Name == under })
		})
		if !observed || len(v.Under) == 0 {
			continue
		}
		if fs.olderThan(5, 12) || !strings.HasPrefix(name, "md") {
			v.WritesUnknown = "it counts empty flushes among its writes"
		}
		all = append(all, v)
	}
	return all
}

// olderThan says whether the kernel is.
func (fs FS) olderThan(major, minor int) bool {
	var has [2]int
	release := ReadText(fs.Proc, "sys/kernel/osrelease")
	fmt.Sscanf(release, "%d.%d", &has[0], &has[1])
	return slices.Compare(has[:], []int{major, minor}) < 0
}

// ReadText is a small file's text without the blanks around it; empty where it cannot be read. Its
// path may be given in parts.
func ReadText(path ...string) string {
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// readValue is what a file of lines "name separator value" gives a name first; empty where it gives
// nothing.
func readValue(file, name, separator string) string {
	for text := range strings.Lines(ReadText(file)) {
		if key, v, ok := strings.Cut(text, separator); ok && strings.TrimSpace(key) == name {
			return strings.Trim(v, " \t\n\"")
		}
	}
	return ""
}

// FS is where a Linux kernel shows its counters.
type FS struct{ Proc, Sys string }

// Root is this machine's own.
var Root = FS{Proc: "/proc", Sys: "/sys"}

// DatabaseFile is a file of a database whose I/O its server counts.
type DatabaseFile struct {
	Name     string `json:"name"` // in the counters' columns
	Database string `json:"database"`
	Role     Role   `json:"role"`
}
