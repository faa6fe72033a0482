//go:build !linux

package sampling

import "ds2/internal/topology"

// MachineCounters gives nothing: other systems than Linux are observed through exporters only.
func MachineCounters(topology.FS, []string, map[string]topology.Flushing) (Source, error) {
	return Source{}, nil
}

// VolumeCounters gives nothing, likewise.
func VolumeCounters(topology.FS, []topology.Drive) (Source, error) { return Source{}, nil }
