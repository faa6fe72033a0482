//go:build unix

package localpg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	embedded "github.com/fergusstrange/embedded-postgres"
)

// binaries are a server's programs.
type binaries struct {
	dir          string
	major, minor int
}

func (b binaries) path(program string) string { return filepath.Join(b.dir, program) }

// version is such as 15.18.
func (b binaries) version() string { return fmt.Sprintf("%d.%d", b.major, b.minor) }

// fits says whether they are of a major version; 0: any.
func (b binaries) fits(major int) bool { return major == 0 || major == b.major }

// installedAt are the places where packages put servers, besides those that PATH and pg_config
// name.
var installedAt = []string{
	"/usr/lib/postgresql/*/bin", // Debian
	"/usr/pgsql-*/bin",          // the PostgreSQL project's packages for Red Hat
	"/usr/lib/postgresql*/bin",  // SUSE
	"/usr/libexec/postgresql*",  // Alpine
	"/usr/local/pgsql/bin",      // built from source
	"/opt/homebrew/opt/*/bin",   // Homebrew
	"/home/linuxbrew/.linuxbrew/opt/postgresql*/bin",
}

// fetched are the versions to fetch, the newest first.
var fetched = []embedded.PostgresVersion{
	embedded.V18, embedded.V17, embedded.V16, embedded.V15, embedded.V14, "13.22.0",
}

// findBinaries finds the programs of a server: in dir where one is given, else the newest installed
// one of that major version (0: of any), else fetched ones.
func findBinaries(ctx context.Context, dir string, major int, log *slog.Logger) (binaries, error) {
	if dir != "" {
		b, err := inspect(ctx, dir)
		if err == nil && !b.fits(major) {
			err = fmt.Errorf("it is version %s, not %d", b.version(), major)
		}
		if err != nil {
			return binaries{}, fmt.Errorf("use PostgreSQL in %s: %w", dir, err)
		}
		return b, nil
	}
	if b, ok := newestInstalled(ctx, major); ok {
		return b, nil
	}
	for _, v := range fetched {
		if major == 0 || strings.HasPrefix(string(v), strconv.Itoa(major)+".") {
			dir, err := fetch(ctx, v, cacheDir(), log)
			if err != nil {
				return binaries{}, err
			}
			return inspect(ctx, dir)
		}
	}
	const none = "find PostgreSQL %d: it is not installed, and only versions 13 to 18 can be fetched"
	return binaries{}, fmt.Errorf(none, major)
}

// newestInstalled looks for installed servers.
func newestInstalled(ctx context.Context, major int) (newest binaries, ok bool) {
	var dirs []string
	// What PATH names may be a link: the other programs lie where it leads to.
	if path, err := exec.LookPath("postgres"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			dirs = append(dirs, filepath.Dir(path))
		}
	}
	if out, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	for _, pattern := range installedAt {
		found, _ := filepath.Glob(pattern)
		dirs = append(dirs, found...)
	}
	for _, dir := range dirs {
		b, err := inspect(ctx, dir)
		newer := cmp.Or(cmp.Compare(b.major, newest.major), cmp.Compare(b.minor, newest.minor)) > 0
		if err == nil && b.fits(major) && newer {
			newest = b
		}
	}
	return newest, newest.dir != ""
}

// versionText is in what postgres --version says: "postgres (PostgreSQL) 15.18 (Debian …)".
var versionText = regexp.MustCompile(`\(PostgreSQL\) (\d+)(?:\.(\d+))?`)

// inspect makes sure that dir holds a server's programs, and asks their version.
func inspect(ctx context.Context, dir string) (binaries, error) {
	b := binaries{dir: dir}
	if _, err := os.Stat(b.path("initdb")); err != nil {
		return b, fmt.Errorf("find initdb: %w", err)
	}
	out, err := exec.CommandContext(ctx, b.path("postgres"), "--version").Output()
	if err != nil {
		return b, fmt.Errorf("ask postgres for its version: %w", err)
	}
	m := versionText.FindStringSubmatch(string(out))
	if m == nil {
		return b, fmt.Errorf("ask postgres for its version: it says %q", out)
	}
	b.major, _ = strconv.Atoi(m[1])
	b.minor, _ = strconv.Atoi(m[2]) // a beta has none
	return b, nil
}

// cacheDir is where fetched servers are kept: root's home is closed to the user that the server
// runs as, so root's are in /var/cache.
func cacheDir() string {
	if os.Geteuid() == 0 {
		return "/var/cache/ds2"
	}
	if dir, err := os.UserCacheDir(); err == nil {
		if dir = filepath.Join(dir, "ds2"); os.MkdirAll(dir, 0o755) == nil {
			return dir
		}
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("ds2-cache-%d", os.Geteuid()))
}

// fetch brings the programs of a version into the cache, where they are not there yet, and returns
// their directory. They come the way the embedded-postgres library gets them: by HTTP, through the
// proxy that the environment names.
func fetch(
	ctx context.Context, v embedded.PostgresVersion, cache string, log *slog.Logger,
) (bin string, err error) {
	dir := filepath.Join(cache, "postgresql-"+string(v))
	bin = filepath.Join(dir, "bin")
	if _, err := os.Stat(bin); err == nil {
		return bin, nil
	}
	defer func() {
		if err != nil {
			const hint = "where the network is closed, install a PostgreSQL server package"
			err = fmt.Errorf("fetch PostgreSQL %s: %w; %s", v, err, hint)
		}
	}()
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	log.Info("no PostgreSQL server is installed: fetching one",
		"version", string(v), "cache", cache)
	done := make(chan error, 1)
	go func() { done <- unpackInto(dir, v) }()
	select {
	case err := <-done:
		return bin, err
	case <-ctx.Done(): // the library knows no context: it is left to end by itself
		return "", context.Cause(ctx)
	}
}

// removeNew gives what removes the files that come to match a pattern from now on: the library
// leaves its log behind.
func removeNew(pattern string) func() {
	before, _ := filepath.Glob(pattern)
	return func() {
		after, _ := filepath.Glob(pattern)
		for _, path := range after {
			if !slices.Contains(before, path) {
				os.Remove(path)
			}
		}
	}
}

// unpackInto makes dir, whole or not at all, and holds the programs of a version in it.
func unpackInto(dir string, v embedded.PostgresVersion) error {
	work, err := os.MkdirTemp(filepath.Dir(dir), "unpack-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	unpacked := filepath.Join(work, "server")
	defer removeNew(filepath.Join(os.TempDir(), "embedded_postgres_log*"))()
	// The library can only fetch, unpack and start in one go, and cannot start as root. Given a
	// data directory that cannot be made, it ends after the unpacking.
	config := embedded.DefaultConfig().Version(v).Port(0).Logger(io.Discard).CachePath(work).
		RuntimePath(filepath.Join(work, "run")).BinariesPath(unpacked).DataPath("/dev/null/none")
	err = embedded.NewDatabase(config).Start()
	if _, statErr := os.Stat(filepath.Join(unpacked, "bin", "postgres")); statErr != nil {
		return errors.Join(err, statErr)
	}
	// A temporary directory is closed to others, and a server of root's runs as another user.
	if err := os.Chmod(unpacked, 0o755); err != nil {
		return err
	}
	err = os.Rename(unpacked, dir)
	if errors.Is(err, fs.ErrExist) { // another process was first
		return nil
	}
	return err
}
