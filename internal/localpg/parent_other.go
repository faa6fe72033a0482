//go:build unix && !linux

package localpg

import "syscall"

// dieWithParent does nothing: this system knows no signal at the death of a parent, so a server
// outlives a killed ds2.
func dieWithParent(*syscall.SysProcAttr) {}
