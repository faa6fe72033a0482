package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ds2/internal/localpg"
	"ds2/internal/slowdrive"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
)

// ofOwnServer are flags of a server that ds2 starts.
const ofOwnServer = "workload size mailboxes mailbox-size mailbox-profile buffers dir postgres-version postgres-bin"

// judgeServer refuses flags that do not go with the server that is driven, the user's or one of ds2's own.
func (f *whatifFlags) judgeServer() error {
	theirs := f.load.target != ""
	if theirs != (f.dataDir != "") || theirs != (f.mount != "") {
		return usageError("--target, --data-dir and --mount go together: " +
			"a database, the directory of its server, and where that is shown, slowed")
	}
	if !theirs {
		return f.load.dataset()
	}
	for name := range strings.FieldsSeq(ofOwnServer) {
		if f.flags.Changed(name) {
			return usageError("--%s is of a server that ds2 starts: leave it out with --target", name)
		}
	}
	target, err := engines().Open(f.load.target)
	if err != nil {
		return flagError("target", err)
	}
	defer target.Close()
	if target.Engine() != postgres.Engine {
		return usageError("--target: a slowed drive is for PostgreSQL only")
	}
	if all, err := os.ReadDir(f.dataDir); err != nil || len(all) == 0 {
		return flagError("data-dir", cmp.Or(err, fmt.Errorf("%s does not hold the data of a server", f.dataDir)))
	}
	for _, file := range []string{"postmaster.pid", "*/postmaster.pid"} {
		if at, _ := fs.Glob(os.DirFS(f.dataDir), file); len(at) > 0 {
			return usageError("--data-dir: a server is at work on it: stop it first, or remove %s where there is none",
				filepath.Join(f.dataDir, at[0]))
		}
	}
	if all, err := os.ReadDir(f.mount); err != nil || len(all) > 0 {
		return flagError("mount", cmp.Or(err, fmt.Errorf("%s is not an empty directory: make one", f.mount)))
	}
	return nil
}

// own starts a server on the drive, and loads a database into it. Stop ends it, also after an error.
func (f *whatifFlags) own(i *interrupts, drive *slowdrive.Drive, stderr io.Writer) (
	of string, stop func() error, err error) {
	stop = func() error { return nil }
	f.server.DataDir = filepath.Join(f.mount, "data")
	connections := slices.Max(f.threads) + len(f.drives)*len(f.threads) + 50 // each configuration has one of its own
	f.server.Settings = map[string]string{
		"shared_buffers": fmt.Sprintf("%dkB", f.buffers>>10), "max_connections": fmt.Sprint(connections),
	}
	server, err := localpg.Start(i.soft, f.server)
	if err != nil {
		return "", stop, err
	}
	stop = server.Stop
	i.atLeave(func() { server.Kill(); drive.Unmount(); os.RemoveAll(filepath.Dir(f.mount)) })
	f.load.target = server.URL("ds2")
	target, err := engines().Open(f.load.target)
	if err != nil {
		return "", stop, err
	}
	defer target.Close()
	_, err = f.load.load(i.soft, target, stderr)
	of = fmt.Sprintf("PostgreSQL %s, %s, %s of buffers", server.Version(), f.load.options.Dataset, bytesText(f.buffers))
	return of, stop, err
}

// theirs waits for the user's server, and looks whether it is on the drive.
func (f *whatifFlags) theirs(i *interrupts, _ *slowdrive.Drive, stderr io.Writer) (
	of string, stop func() error, err error) {
	stop = func() error { return nil }
	target, err := engines().Open(f.load.target)
	if err != nil {
		return "", stop, err
	}
	defer target.Close()
	fmt.Fprintf(stderr, "start the server now, at %s, which shows %s; waiting for %s\n",
		f.mount, f.dataDir, target.Label())
	said := ""
	for {
		err := target.Wrap("connect to "+target.Label(), target.DB().PingContext(i.soft))
		if err == nil {
			break
		}
		if i.soft.Err() != nil {
			return "", stop, context.Cause(i.soft)
		}
		if text := err.Error(); text != said {
			said = text
			fmt.Fprintln(stderr, "still waiting:", said)
		}
		select {
		case <-i.soft.Done():
		case <-time.After(time.Second):
		}
	}
	servers, err := store.Servers(i.soft, []store.Database{target})
	if err != nil {
		return "", stop, err
	}
	files, err := servers[0].Files(i.soft, target)
	if err != nil {
		return "", stop, err
	}
	for _, file := range files {
		if file.Role != store.Temp && !below(file.Path, f.mount) {
			return "", stop, fmt.Errorf("%s keeps its %s in %s, which is not slowed: "+
				"stop it, and start it with its data directory at %s", target.Label(), file.Role, file.Path, f.mount)
		}
	}
	return fmt.Sprintf("PostgreSQL %s at %s", servers[0].Version, target.Label()), stop, nil
}

// below says whether a path lies in a directory, or is it, wherever links lead.
func below(path, dir string) bool {
	real := func(path string) string {
		if to, err := filepath.EvalSymlinks(path); err == nil {
			path = to
		}
		path, _ = filepath.Abs(path)
		return path
	}
	within, err := filepath.Rel(real(dir), real(path))
	return err == nil && filepath.IsLocal(within)
}

// unmount takes the drive away as soon as the user's server has stopped: without the drive it could not end in order.
func (f *whatifFlags) unmount(ctx context.Context, drive *slowdrive.Drive, stderr io.Writer) error {
	err := drive.Unmount()
	for told := false; err != nil && strings.Contains(err.Error(), "busy"); err = drive.Unmount() {
		if !told {
			told = true
			fmt.Fprintf(stderr, "stop the server now: ds2 ends when nobody uses %s any more\n", f.mount)
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(time.Second):
		}
	}
	return err
}
