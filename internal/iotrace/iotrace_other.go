//go:build !linux

package iotrace

import "errors"

// Tracer counts I/Os, on Linux.
type Tracer struct{}

// Open fails: the kernel's side is for Linux.
func Open([]string, []Directory, []int) (*Tracer, error) {
	return nil, errors.New("trace I/Os: only Linux can")
}

// Look does nothing.
func (t *Tracer) Look() error { return nil }

// Read gives nothing.
func (t *Tracer) Read() ([][Classes]Histogram, error) { return nil, nil }

// Close does nothing.
func (t *Tracer) Close() {}
