package monitor

import (
	"slices"

	"ds2/internal/store"
)

// Role and File are as servers tell of them.
type (
	Role = store.Role
	File = store.File
)

// The roles. A drive may have several.
const (
	Data = store.Data
	Log  = store.Log
	Temp = store.Temp
)

// Holds says whether a drive has a role. Where no drive's role is known, such as on a machine that only a Prometheus
// observes, every drive may have each.
func (m *Machine) Holds(drive string, role Role) bool {
	if m == nil || !slices.ContainsFunc(m.Drives, func(d Drive) bool { return len(d.Roles) > 0 }) {
		return true
	}
	return slices.ContainsFunc(m.Drives, func(d Drive) bool { return d.Name == drive && slices.Contains(d.Roles, role) })
}
