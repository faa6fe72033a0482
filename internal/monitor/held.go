package monitor

import (
	"fmt"
	"slices"
	"strings"

	"ds2/internal/topology"
)

// holdDevices holds the devices that the user named against those that a file of a server is seen
// to lie on. A device that is said to have the file's role, or where none is, one that may have it,
// must be above or among the drives of the file.
func holdDevices(given devices, file topology.File, found topology.FileSystem) []Found {
	var may, said []string
	for _, device := range given.names {
		if slices.Contains(given.roles[device], file.Role) {
			said = append(said, device)
		} else if len(given.roles[device]) == 0 {
			may = append(may, device)
		}
	}
	named := said
	if len(said) == 0 {
		named = may
	}
	under := func(device string) bool {
		drives, err := topology.Root.DrivesUnder(device)
		return err != nil || slices.ContainsFunc(drives, func(drive string) bool {
			return slices.Contains(found.Devices, drive)
		})
	}
	if len(named) == 0 || len(found.Devices) == 0 || slices.ContainsFunc(named, under) {
		return nil
	}
	detail := fmt.Sprintf("%s, not %s",
		strings.Join(found.Devices, ", "), strings.Join(named, ", "))
	return []Found{{DevicesElsewhere, file.Path, detail}}
}
