//go:build unix

package localpg

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

// How long a stop of each kind may take before the next, harder one.
const (
	fastStopTime      = 30 * time.Second // a checkpoint on a slow disk
	immediateStopTime = 15 * time.Second
	pollInterval      = 20 * time.Millisecond
)

// process is a running postmaster.
//
// Linux ends it when this process dies, however that happens, by the parent death signal: SIGINT,
// which the postmaster takes for a fast shutdown. The kernel means the death of the thread that
// started the child, not of the process, so one goroutine keeps that thread to itself until the
// child has ended. The postmaster is in a separate process group, so that Ctrl-C in a terminal
// reaches this program, which then decides when the server stops.
type process struct {
	cmd     *exec.Cmd
	exited  chan struct{} // closed when the postmaster has ended
	killing sync.Mutex    // held until those that kill ends are gone, its children too
}

// startProcess starts cmd with its output added to logFile.
func startProcess(cmd *exec.Cmd, logFile string) (*process, error) {
	out, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	defer out.Close()
	cmd.Stdout = out
	cmd.Stderr = out
	cmd.SysProcAttr.Setpgid = true
	dieWithParent(cmd.SysProcAttr)

	p := &process{cmd: cmd, exited: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		defer close(p.exited)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			cmd.Wait() // how it ended stands in the log
		}
	}()
	return p, <-started
}

// waitReady waits until the postmaster says in its pid file that it takes connections, as pg_ctl
// does.
func (p *process) waitReady(ctx context.Context, pidFile string) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		// Lines: pid, directory, start time, port, socket directory, address, shared memory,
		// status.
		text, _ := os.ReadFile(pidFile)
		lines := strings.Split(string(text), "\n")
		if len(lines) >= 8 && lines[0] == strconv.Itoa(p.cmd.Process.Pid) &&
			strings.TrimSpace(lines[7]) == "ready" {
			return nil
		}
		select {
		case <-p.exited:
			return fmt.Errorf("it ended at once: %s", p.cmd.ProcessState)
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// stop ends the server: fast, else immediately, else by force.
func (p *process) stop() {
	p.cmd.Process.Signal(syscall.SIGINT)
	p.endsWithin(fastStopTime)
	p.quit()
}

// quit ends the server immediately, else by force. PostgreSQL itself kills sessions that do not end
// within 5 s.
func (p *process) quit() {
	defer p.kill() // where nothing else helped; and one that is under way is waited for
	p.cmd.Process.Signal(syscall.SIGQUIT)
	p.endsWithin(immediateStopTime)
}

func (p *process) endsWithin(d time.Duration) {
	select {
	case <-p.exited:
	case <-time.After(d):
	}
}

// kill ends the postmaster and its children and returns when all of them are gone: a child left
// over would keep the shared memory, and the next start would fail on it.
func (p *process) kill() {
	p.killing.Lock()
	defer p.killing.Unlock()
	pid := p.cmd.Process.Pid
	select {
	case <-p.exited:
		return
	default:
	}
	p.cmd.Process.Signal(syscall.SIGSTOP) // no child is born between the listing and the kill
	children := childrenOf(pid)
	p.cmd.Process.Kill()
	for _, child := range children {
		syscall.Kill(child, syscall.SIGKILL)
	}
	<-p.exited
	for slices.ContainsFunc(children, alive) {
		time.Sleep(pollInterval)
	}
}

// childrenOf lists the processes whose parent is pid.
func childrenOf(pid int) (children []int) {
	all, _ := procfs.AllProcs()
	for _, p := range all {
		if stat, err := p.Stat(); err == nil && stat.PPID == pid {
			children = append(children, p.PID)
		}
	}
	return children
}

// alive tells whether a process is there and not a zombie.
func alive(pid int) bool {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return false
	}
	stat, err := p.Stat()
	return err == nil && stat.State != "Z" && stat.State != "X"
}
