//go:build !linux

package monitor

// RAPL is for Linux only.
func (fs FS) RAPL() (Source, error) { return Source{}, ErrNoRAPL }
