//go:build !linux

package host

// RAPL is for Linux only.
func (fs FS) RAPL() (Source, error) { return Source{}, ErrNoRAPL }
