package monitor

import "slices"

// Role is what a database keeps on a drive.
type Role string

// The roles. A drive may have both.
const (
	Data Role = "data" // tables and indexes
	Log  Role = "log"  // the write-ahead or transaction log
)

// File is a file of a database, or a directory of them, by the name that the server's machine has for it.
type File struct {
	Role Role
	Path string
}

// Holds says whether a drive has a role. Where no drive's role is known, such as on a machine that only a Prometheus
// observes, every drive may have each.
func (m *Machine) Holds(drive string, role Role) bool {
	if m == nil || !slices.ContainsFunc(m.Drives, func(d Drive) bool { return len(d.Roles) > 0 }) {
		return true
	}
	return slices.ContainsFunc(m.Drives, func(d Drive) bool { return d.Name == drive && slices.Contains(d.Roles, role) })
}
