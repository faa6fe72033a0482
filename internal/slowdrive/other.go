//go:build !linux

package slowdrive

import "errors"

// Drive is a mounted directory.
type Drive struct{}

// Mount is not to be had here.
func Mount(under, at string) (*Drive, error) {
	return nil, errors.New("drives with known delays take Linux and its FUSE: run this on Linux")
}

// Set does nothing.
func (d *Drive) Set(Delays) {}

// Counts knows nothing.
func (d *Drive) Counts() (data, log [6]float64) { return }

// Unmount does nothing.
func (d *Drive) Unmount() error { return nil }
