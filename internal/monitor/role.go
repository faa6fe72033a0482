package monitor

import (
	"fmt"
	"slices"
	"strings"
)

func (d Drive) holds(role Role) bool { return slices.Contains(d.Roles, role) }

// Holds says whether a drive is known to have a role.
func (m *Machine) Holds(drive string, role Role) bool {
	return m != nil && slices.ContainsFunc(m.Drives, func(d Drive) bool { return d.Name == drive && d.holds(role) })
}

// readDevices reads the devices to observe: nvme0n1 or, where the user says what is on it, data=nvme0n1.
func readDevices(given []string) (names []string, roles map[string][]Role, err error) {
	roles = map[string][]Role{}
	for _, text := range given {
		role, name, has := strings.Cut(text, "=")
		if !has {
			role, name = "", text
		}
		switch {
		case name == "" || has && !slices.Contains([]Role{Data, Log, Temp}, Role(role)):
			return nil, nil, &OptionError{"devices", fmt.Errorf("%q is not a device: write nvme0n1, "+
				"or data=nvme0n1, log=nvme0n1 or temp=nvme0n1 for what the database keeps on it", text)}
		case has && !slices.Contains(roles[name], Role(role)):
			roles[name] = append(roles[name], Role(role))
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, roles, nil
}

// Told drops the note on where the files lie, which another note tells, with the reason.
func (w *Observer) Told() {
	w.Notes = slices.DeleteFunc(w.Notes, func(note string) bool { return note == w.Unplaced })
	w.Unplaced = ""
}

// noteRoles says what is not known of where the files lie and of the drives, and so is not judged.
func (w *Observer) noteRoles() {
	var drives, missing []string
	if w.Machine != nil {
		for _, d := range w.Machine.Drives {
			drives = append(drives, d.Name)
		}
		for _, role := range []Role{Data, Log} {
			if !slices.ContainsFunc(w.Machine.Drives, func(d Drive) bool { return d.holds(role) }) {
				missing = append(missing, string(role))
			}
		}
	}
	if len(missing) > 0 {
		w.unplaced = append(w.unplaced, fmt.Sprintf("which drives hold the %s, of %s, is unknown, "+
			"so there are no IOPS and no figures of these drives apart: "+
			"say so, as in --devices data=nvme1n1,log=nvme2n1",
			strings.Join(missing, " and the "), strings.Join(drives, ", ")))
	}
	if w.Unplaced = strings.Join(w.unplaced, "; "); w.Unplaced != "" {
		w.Notes = append(w.Notes, w.Unplaced)
	}
}
