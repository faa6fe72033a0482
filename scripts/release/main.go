// Command release builds what a release of ds2 consists of: for each platform a static binary in an archive, with
// manual pages and completions, and its bill of materials; packages for Debian and Red Hat; an image; and the checksums
// of them all. Built twice from one commit with one version of Go, all files are the same to the byte. It is a module
// of its own, so that what it needs is no part of ds2's.
package main

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// platform is what a binary is made for, in Go's words.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "_" + p.arch }

var platforms = []platform{
	{"linux", "amd64"}, {"linux", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
	{"darwin", "amd64"}, {"darwin", "arm64"},
}

type release struct {
	source  string    // directory of ds2's module
	out     string    // directory of what is made
	work    string    // directory of what is made on the way
	version string    // as git describes the commit
	time    time.Time // the commit's, which all files get
}

func main() {
	source := flag.String("source", "../..", "`directory` of ds2's module, a git work tree")
	out := flag.String("out", "../../dist", "`directory` to write to; what is in it is removed")
	only := flag.String("platforms", "", "only these, such as linux_amd64,windows_amd64 (default: all)")
	flag.Parse()
	if err := makeRelease(*source, *out, *only, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// makeRelease makes the files of a release for all platforms, or for some of them.
func makeRelease(source, out, only string, log io.Writer) (err error) {
	some := platforms
	if only != "" {
		names := strings.Split(only, ",")
		other := func(p platform) bool { return !slices.Contains(names, p.String()) }
		some = slices.DeleteFunc(slices.Clone(platforms), other)
		if len(some) != len(names) {
			return fmt.Errorf("platforms %s: they are some of %v", only, platforms)
		}
	}
	r := release{}
	if r.source, err = filepath.Abs(source); err != nil {
		return err
	}
	if r.out, err = filepath.Abs(out); err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(r.out), os.MkdirAll(r.out, 0o755)); err != nil {
		return fmt.Errorf("empty the directory of the release: %w", err)
	}
	if r.work, err = os.MkdirTemp("", "ds2-release-"); err != nil {
		return err
	}
	defer os.RemoveAll(r.work)
	if err := r.describe(); err != nil {
		return err
	}
	fmt.Fprintf(log, "ds2 %s of %s\n", r.version, r.time.Format(time.RFC3339))
	docs, err := r.documents()
	if err != nil {
		return err
	}
	var images []image
	for _, p := range some {
		fmt.Fprintf(log, "%s\n", p)
		b, err := r.build(p)
		if err != nil {
			return err
		}
		if err := errors.Join(r.archive(b, docs), r.billOfMaterials(b)); err != nil {
			return err
		}
		if p.os != "linux" {
			continue
		}
		if err := r.packages(b, docs); err != nil {
			return err
		}
		i, err := r.image(b)
		if err != nil {
			return err
		}
		images = append(images, i)
	}
	if len(images) > 0 {
		if err := r.imageOfAll(images); err != nil {
			return err
		}
	}
	return r.checksums(log)
}

func (r *release) describe() error {
	version, err := r.git("describe", "--tags", "--always", "--dirty")
	if err != nil {
		return err
	}
	r.version = strings.TrimPrefix(version, "v")
	stamp, err := r.git("log", "-1", "--format=%ct")
	if err != nil {
		return err
	}
	seconds, err := strconv.ParseInt(cmp.Or(os.Getenv("SOURCE_DATE_EPOCH"), stamp), 10, 64)
	if err != nil {
		return fmt.Errorf("the time of the release: %w", err)
	}
	r.time = time.Unix(seconds, 0).UTC()
	return nil
}

func (r *release) git(args ...string) (string, error) {
	out, err := output(exec.Command("git", append([]string{"-C", r.source}, args...)...))
	return strings.TrimSpace(string(out)), err
}

// output runs a command; where it fails, the error is what it said.
func output(c *exec.Cmd) ([]byte, error) {
	out, err := c.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%s: %w\n%s", c, err, exit.Stderr)
	}
	return out, err
}

func (r *release) create(name string, write func(io.Writer) error) error {
	f, err := os.Create(filepath.Join(r.out, name))
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// checksums writes the SHA-256 of all files, as sha256sum -c reads them.
func (r *release) checksums(log io.Writer) error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(r.out, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), e.Name())
		fmt.Fprintf(log, "%11d  %s\n", len(content), e.Name())
	}
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(sums.String()), 0o644)
}
