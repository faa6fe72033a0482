//go:build unix

package localpg

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
)

// Server is a running server, or one that Kill or Stop ended. Kill may be called while another
// method is at work.
type Server struct {
	binaries binaries
	owner    owner
	// temporary directory: log and, unless Options.DataDir names another place, the cluster
	home     string
	lock     *os.File // on home
	data     string
	password string
	port     int
	settings map[string]string

	process atomic.Pointer[process] // nil: not running
}

// Start makes a cluster and starts a server on a free port of 127.0.0.1. The server does not
// outlive this process (see process); Stop ends it in order.
func Start(ctx context.Context, o Options) (_ *Server, err error) {
	log := cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	s := &Server{data: o.DataDir, password: rand.Text(), settings: o.Settings}
	if s.binaries, err = findBinaries(ctx, o.BinDir, o.Version, log); err != nil {
		return nil, err
	}
	if s.owner, err = findOwner(); err != nil {
		return nil, err
	}
	if s.home, s.lock, err = s.owner.makeHome(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.Stop()
		}
	}()
	if s.data == "" {
		s.data = filepath.Join(s.home, "data")
	} else if s.data, err = filepath.Abs(s.data); err != nil {
		return nil, fmt.Errorf("find data directory: %w", err)
	}
	if err := s.owner.makeDir(s.data); err != nil {
		return nil, err
	}
	if err := s.initCluster(ctx, o); err != nil {
		return nil, err
	}
	return s, s.startOnFreePort(ctx)
}

// initCluster makes the cluster, with a password that only this process knows. A temporary cluster
// is not brought to the disk: it is gone with the machine anyway.
func (s *Server) initCluster(ctx context.Context, o Options) error {
	secret := filepath.Join(s.home, "password")
	if err := os.WriteFile(secret, []byte(s.password), 0o600); err != nil {
		return fmt.Errorf("write password file: %w", err)
	}
	defer os.Remove(secret)
	if err := s.owner.own(secret); err != nil {
		return err
	}
	// Locale C sorts names alike on all machines, so that equal data has equal indexes.
	args := []string{
		"--pgdata=" + s.data, "--username=" + User, "--pwfile=" + secret,
		"--auth=scram-sha-256", "--encoding=UTF8", "--locale=C",
	}
	switch {
	case o.Checksums:
		args = append(args, "--data-checksums")
	case s.binaries.major >= 18: // where they are on by default, so that all versions are alike
		args = append(args, "--no-data-checksums")
	}
	if o.DataDir == "" {
		args = append(args, "--no-sync")
	}
	cmd := exec.CommandContext(ctx, s.binaries.path("initdb"), args...)
	s.owner.apply(cmd, s.home)
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return fmt.Errorf("make PostgreSQL cluster: %w", context.Cause(ctx))
	}
	if err != nil {
		return fmt.Errorf(
			"make PostgreSQL cluster in %s: initdb: %w\n%s", s.data, err, lastLines(out))
	}
	return nil
}

// startOnFreePort starts the server on a port of those that no system gives away by itself, neither
// to a program that asks for any port nor to a connection: no other program takes it before the
// server does, or while it restarts.
func (s *Server) startOnFreePort(ctx context.Context) error {
	// Linux gives away those from 32768 on (net.ipv4.ip_local_port_range).
	const first, end, tries = 15000, 32000, 20
	for try := 1; ; try++ {
		s.port = first + mathrand.IntN(end-first)
		err := s.launch(ctx)
		if err == nil || try == tries ||
			!strings.Contains(err.Error(), "could not create any TCP/IP sockets") {
			return err
		}
	}
}

// launch starts the server on s.port and waits until it takes connections.
func (s *Server) launch(ctx context.Context) error {
	// There is no Unix socket: who has the password comes by TCP, as to a server on another
	// machine. The times of I/Os are counted, since a run asks the server for them.
	args := []string{
		"-D", s.data, "-p", strconv.Itoa(s.port), "-h", "127.0.0.1",
		"--unix_socket_directories=", "--track_io_timing=on",
	}
	if s.binaries.major >= 14 {
		args = append(args, "--track_wal_io_timing=on")
	}
	for name, value := range s.settings {
		args = append(args, "-c", name+"="+value)
	}
	cmd := exec.Command(s.binaries.path("postgres"), args...)
	s.owner.apply(cmd, s.home)
	earlier, _ := os.ReadFile(s.LogFile()) // what earlier starts said
	p, err := startProcess(cmd, s.LogFile())
	if err != nil {
		return fmt.Errorf("start PostgreSQL: %w", err)
	}
	if err := p.waitReady(ctx, filepath.Join(s.data, "postmaster.pid")); err != nil {
		p.kill() // there is nothing to be saved
		log, _ := os.ReadFile(s.LogFile())
		latest := lastLines(bytes.TrimPrefix(log, earlier))
		return fmt.Errorf("start PostgreSQL: %w\n%s", err, latest)
	}
	s.process.Store(p)
	return nil
}

// URL is the target URL of a database on the server, password included.
func (s *Server) URL(database string) string {
	u := url.URL{
		Scheme: "postgres",
		User:   url.UserPassword(User, s.password),
		Host:   fmt.Sprintf("127.0.0.1:%d", s.port),
		Path:   "/" + database,
	}
	return u.String()
}

// Version is the server's version, such as "15.18".
func (s *Server) Version() string { return s.binaries.version() }

// BinDir is the directory of the server's programs.
func (s *Server) BinDir() string { return s.binaries.dir }

// DataDir is the directory of the cluster.
func (s *Server) DataDir() string { return s.data }

// LogFile is where the server writes its messages; Stop removes it.
func (s *Server) LogFile() string { return filepath.Join(s.home, "server.log") }

// Stop ends the server at once, without a checkpoint, and removes what Start made, apart from
// Options.DataDir. Unlike Kill it leaves no shared memory behind. It may be called again.
func (s *Server) Stop() error {
	s.end((*process).quit)
	err := os.RemoveAll(s.home)
	s.lock.Close() // it may be closed already
	if err != nil {
		return fmt.Errorf("remove the server's directory: %w", err)
	}
	return nil
}

// Kill ends the server and all its processes as a power cut would: no checkpoint, nothing said.
// Restart brings it back.
func (s *Server) Kill() { s.end((*process).kill) }

// end ends the process in one way or the other, where there is one.
func (s *Server) end(how func(*process)) {
	if p := s.process.Load(); p != nil {
		how(p)
		s.process.CompareAndSwap(p, nil)
	}
}

// Restart starts the server again on the same port and cluster, after Kill or, where it still runs,
// a stop in order.
func (s *Server) Restart(ctx context.Context) error {
	s.end((*process).stop)
	return s.launch(ctx)
}

// lastLines are the last few lines of a program's output: what an error quotes.
func lastLines(output []byte) string {
	const quoted = 10
	lines := strings.Split(strings.TrimSpace(string(output)), "\n")
	return strings.Join(lines[max(0, len(lines)-quoted):], "\n")
}
