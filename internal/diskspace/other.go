//go:build !unix

// Package diskspace says how much room a file system has.
package diskspace

// Free is not known here.
func Free(string) (n int64, ok bool) { return 0, false }

// Size is not known here.
func Size(string) (n int64, ok bool) { return 0, false }

// FreeOf is not known here.
func FreeOf([]string) (n int64, ok bool) { return 0, false }

// MountPoint is not known here.
func MountPoint(string) (string, bool) { return "", false }

// MountOf is not known here.
func MountOf(string) (string, bool) { return "", false }
