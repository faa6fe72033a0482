//go:build unix

package localpg

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// copyCluster copies a template: a third of the time that initdb takes. The copy has an identity of its own, since servers
// are told apart by it, and the template's password.
func (s *Server) copyCluster(ctx context.Context, checksums bool) error {
	template, err := s.template(ctx, checksums)
	if err != nil {
		return err
	}
	password, err := os.ReadFile(filepath.Join(template, "password"))
	if err != nil {
		return fmt.Errorf("read password of the template: %w", err)
	}
	s.password = string(password)
	copying := exec.CommandContext(ctx, "cp", "-R", filepath.Join(template, "data")+"/.", s.data)
	s.owner.apply(copying, s.home)
	if out, err := copying.CombinedOutput(); err != nil {
		return errors.Join(context.Cause(ctx), fmt.Errorf("copy cluster from %s: %w\n%s", template, err, lastLines(string(out))))
	}
	return s.renewIdentity(rand.Int64())
}

// template gives the directory of a cluster that was never started, and makes it where there is none of these programs, this
// user and these settings. Of several processes one makes it.
func (s *Server) template(ctx context.Context, checksums bool) (dir string, err error) {
	program, err := os.Stat(s.binaries.path("postgres"))
	if err != nil {
		return "", fmt.Errorf("look at the server's program: %w", err)
	}
	settings := strings.Join(append(s.initdbArgs("", checksums), s.binaries.dir, program.ModTime().String(), s.owner.name), "\n")
	cache := cacheDir()
	dir = filepath.Join(cache, fmt.Sprintf("cluster-%s-%d-%08x", s.binaries.version, os.Geteuid(), crc32.ChecksumIEEE([]byte(settings))))
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", fmt.Errorf("make cache: %w", err)
	}
	lock, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", fmt.Errorf("open lock of the template: %w", err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return dir, err
	}
	work, err := os.MkdirTemp(cache, "cluster-new-")
	if err != nil {
		return "", fmt.Errorf("make template: %w", err)
	}
	defer os.RemoveAll(work)
	if err := errors.Join(os.Chmod(work, 0o755), s.owner.makeDir(filepath.Join(work, "data"))); err != nil {
		return "", fmt.Errorf("make template: %w", err)
	}
	if err := os.WriteFile(filepath.Join(work, "password"), []byte(s.password), 0o600); err != nil {
		return "", fmt.Errorf("make template: %w", err)
	}
	if err := s.initCluster(ctx, filepath.Join(work, "data"), checksums, false); err != nil {
		return "", err
	}
	if err := os.Rename(work, dir); err != nil {
		return "", fmt.Errorf("make template: %w", err)
	}
	return dir, nil
}

// renewIdentity writes another system identifier into a cluster that was never started: at the head of its control file,
// whose checksum is behind the fields it is of, and on the first page of its log, which has none.
func (s *Server) renewIdentity(id int64) error {
	path := filepath.Join(s.data, "global", "pg_control")
	control, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read control file: %w", err)
	}
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	fields := 8
	for fields+4 < len(control) && binary.NativeEndian.Uint32(control[fields:]) != crc32.Checksum(control[:fields], castagnoli) {
		fields += 4
	}
	if fields+4 >= len(control) {
		return fmt.Errorf("find the checksum in %s", path)
	}
	binary.NativeEndian.PutUint64(control, uint64(id))
	binary.NativeEndian.PutUint32(control[fields:], crc32.Checksum(control[:fields], castagnoli))
	errs := []error{writeAt(path, control[:fields+4], 0)}
	segments, err := filepath.Glob(filepath.Join(s.data, "pg_wal", strings.Repeat("[0-9A-F]", 24)))
	errs = append(errs, err)
	for _, segment := range segments {
		const identifier = 24 // after the header that every page has
		errs = append(errs, writeAt(segment, control[:8], identifier))
	}
	return errors.Join(errs...)
}

func writeAt(path string, b []byte, offset int64) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("renew identity: %w", err)
	}
	_, err = file.WriteAt(b, offset)
	return errors.Join(err, file.Close())
}
