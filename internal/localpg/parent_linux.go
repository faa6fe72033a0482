package localpg

import "syscall"

// dieWithParent has the kernel shut the child down when the thread that starts it ends.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGINT }
