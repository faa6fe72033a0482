package pgtest

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
	"slices"
	"strings"

	"ds2/internal/localpg"
)

// copyCluster does what initdb would do by copying a template: a third of the time. The copy has an identity of its
// own, since servers are told apart by it, and the template's password.
func copyCluster(ctx context.Context, initdb *exec.Cmd) (password string, err error) {
	template, err := templateOf(ctx, initdb)
	if err != nil {
		return "", err
	}
	kept, err := os.ReadFile(filepath.Join(template, "password"))
	if err != nil {
		return "", fmt.Errorf("read password of the template: %w", err)
	}
	data := argument(initdb, dataArgument)
	if err := run(ctx, initdb, "cp", "-R", filepath.Join(template, "data")+"/.", data); err != nil {
		return "", err
	}
	return string(kept), renewIdentity(data, rand.Int64())
}

// The arguments of initdb that differ from server to server.
const (
	dataArgument     = "--pgdata="
	passwordArgument = "--pwfile="
)

// argument is the value of one of the arguments above.
func argument(initdb *exec.Cmd, name string) string {
	i := slices.IndexFunc(initdb.Args, func(arg string) bool { return strings.HasPrefix(arg, name) })
	return strings.TrimPrefix(initdb.Args[i], name)
}

// run runs a program as initdb would be run.
func run(ctx context.Context, initdb *exec.Cmd, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = initdb.Dir, initdb.Env, initdb.SysProcAttr
	if out, err := cmd.CombinedOutput(); err != nil {
		return errors.Join(context.Cause(ctx), fmt.Errorf("%s: %w\n%s", program, err, out))
	}
	return nil
}

// templateOf gives the directory of a cluster that was never started, and makes it where there is none of these
// programs, this user and these settings. Of several processes that make it, all take that of the first.
func templateOf(ctx context.Context, initdb *exec.Cmd) (dir string, err error) {
	program, err := os.Stat(initdb.Path)
	if err != nil {
		return "", fmt.Errorf("look at initdb: %w", err)
	}
	data, password := argument(initdb, dataArgument), argument(initdb, passwordArgument)
	settings := fmt.Sprint(initdb.Args, program.ModTime(), initdb.SysProcAttr.Credential)
	settings = strings.NewReplacer(data, "", password, "").Replace(settings)
	cache := localpg.CacheDir()
	dir = filepath.Join(cache, fmt.Sprintf("cluster-%d-%08x", os.Geteuid(), crc32.ChecksumIEEE([]byte(settings))))
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", fmt.Errorf("make cache: %w", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return dir, err
	}
	work, err := os.MkdirTemp(cache, "cluster-new-")
	if err != nil {
		return "", fmt.Errorf("make template: %w", err)
	}
	defer os.RemoveAll(work)
	made := filepath.Join(work, "data")
	secret, err := os.ReadFile(password)
	errs := []error{
		err, os.Chmod(work, 0o755), os.Mkdir(made, 0o700),
		os.WriteFile(filepath.Join(work, "password"), secret, 0o600),
	}
	if user := initdb.SysProcAttr.Credential; user != nil {
		errs = append(errs, os.Chown(made, int(user.Uid), int(user.Gid)))
	}
	if err := errors.Join(errs...); err != nil {
		return "", fmt.Errorf("make template: %w", err)
	}
	var args []string
	for _, arg := range initdb.Args[1:] {
		args = append(args, strings.Replace(arg, data, made, 1))
	}
	if err := run(ctx, initdb, initdb.Path, args...); err != nil {
		return "", err
	}
	if err := os.Rename(work, dir); err != nil && !errors.Is(err, fs.ErrExist) { // else another process was first
		return "", fmt.Errorf("make template: %w", err)
	}
	return dir, nil
}

// renewIdentity writes another system identifier into a cluster that was never started: at the head of its control
// file, whose checksum is behind the fields it is of, and on the first page of its log, which has none.
func renewIdentity(data string, id int64) error {
	path := filepath.Join(data, "global", "pg_control")
	control, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read control file: %w", err)
	}
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	fields := 8
	for ; fields+4 < len(control); fields += 4 {
		if binary.NativeEndian.Uint32(control[fields:]) == crc32.Checksum(control[:fields], castagnoli) {
			break
		}
	}
	if fields+4 >= len(control) {
		return fmt.Errorf("find the checksum in %s", path)
	}
	binary.NativeEndian.PutUint64(control, uint64(id))
	binary.NativeEndian.PutUint32(control[fields:], crc32.Checksum(control[:fields], castagnoli))
	errs := []error{writeAt(path, control[:fields+4], 0)}
	segments, err := filepath.Glob(filepath.Join(data, "pg_wal", strings.Repeat("[0-9A-F]", 24)))
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
