package monitor

import (
	"net"
	"slices"
	"strings"
)

// Machine is what a reader of a result must know of the computer under test.
type Machine struct {
	Hostname    string      `json:"hostname"`
	System      string      `json:"system"` // such as "Debian GNU/Linux 13 (trixie)"
	Kernel      string      `json:"kernel"`
	Processor   string      `json:"processor"` // model
	Processors  int         `json:"processors"`
	MemoryBytes int64       `json:"memory_bytes"`
	Drives      []Drive     `json:"drives,omitempty"`
	FileSystem  *FileSystem `json:"file_system,omitempty"` // of the database's data directory

	Files []DatabaseFile `json:"database_files,omitempty"` // whose I/O servers count themselves
}

// Drive is one block device or, where those cannot be observed, a file of a database.
type Drive struct {
	Name       string `json:"name"`
	File       bool   `json:"file,omitempty"`
	Model      string `json:"model,omitempty"`
	Bytes      int64  `json:"bytes"`
	Rotational bool   `json:"rotational"`
	Scheduler  string `json:"scheduler,omitempty"`
	WriteCache string `json:"write_cache,omitempty"` // "write back", "write through"; empty: not known
	FUA        bool   `json:"fua,omitempty"`         // it can write past its cache
	Roles      []Role `json:"roles,omitempty"`       // what the database keeps on it; empty: not known
	Machine    string `json:"machine,omitempty"`     // that it is of, where several are observed

	WritesUnknown string `json:"writes_unknown,omitempty"` // why its flushes cannot be told from its writes
}

// FileSystem is where a directory lies.
type FileSystem struct {
	MountPoint string   `json:"mount_point"`
	Type       string   `json:"type"`
	Options    []string `json:"options"` // of the mount and of the file system itself, sorted
	Devices    []string `json:"devices"` // the whole block devices under it, by their names in /sys/block
}

// Container is what a process may use of its machine, by its control groups of version 2, and those above them. Zero
// is no limit.
type Container struct {
	MemoryBytes int64   `json:"memory_bytes,omitempty"`
	Processors  float64 `json:"processors,omitempty"`
}

// IsLocal says whether a host name or address is this machine's; a Unix socket's directory is too.
func IsLocal(name string) bool {
	if name == "" || name == "localhost" || strings.HasPrefix(name, "/") || strings.HasPrefix(name, "@") {
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

// Server is what a reader of a result must know of a target's database server, and of the database's own settings.
type Server struct {
	Version  string            `json:"version"` // as the server says it
	Settings map[string]string `json:"settings,omitempty"`

	Container *Container `json:"container,omitempty"` // what it may use of its machine, where that is less than all

	Files []File `json:"-"` // of the database, data before log
}
