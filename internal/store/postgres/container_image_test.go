package postgres_test

import (
	"archive/tar"
	"bytes"
	_ "embed"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
)

//go:embed testdata/entrypoint
var entrypoint []byte

// imageContext is what Docker builds an image of PostgreSQL from where none can be pulled: the programs of the test's
// own server, as Debian's packages installed them, with what these need of the machine, and an entrypoint that keeps
// the official image's contract.
func imageContext(t *testing.T) io.ReadSeeker {
	t.Helper()
	bin := pgtest.Server(t).BinDir()
	share, err := exec.Command(filepath.Join(bin, "pg_config"), "--sharedir").Output()
	if err != nil {
		t.Skipf("where the server's files are is not known: %v", err)
	}
	var root bytes.Buffer
	r := rootFS{t: t, archive: tar.NewWriter(&root), added: map[string]bool{}}
	for _, dir := range []string{"/bin", "/lib", "/lib64", "/sbin"} { // links into /usr
		r.add(dir)
	}
	r.addTree(bin)
	r.addTree(filepath.Join(bin, "../lib"))
	r.addTree(strings.TrimSpace(string(share)))
	r.addTree("/usr/share/zoneinfo")
	for _, program := range []string{"sh", "rm", "cat"} {
		r.addProgram("/bin/" + program)
	}
	const user = 999 // as in the official image
	r.file("etc/passwd", 0o644, 0,
		[]byte("root:x:0:0:root:/root:/bin/sh\npostgres:x:999:999::/var/lib/postgresql:/bin/sh\n"))
	r.file("etc/group", 0o644, 0, []byte("root:x:0:\npostgres:x:999:\n"))
	r.file("usr/local/bin/docker-entrypoint.sh", 0o755, 0, entrypoint)
	for _, dir := range []string{"docker-entrypoint-initdb.d/", "var/lib/postgresql/data/", "var/run/postgresql/"} {
		r.file(dir, 0o700, user, nil)
	}
	r.file("tmp/", 0o1777, 0, nil)
	require.NoError(t, r.archive.Close())
	var context bytes.Buffer
	c := rootFS{t: t, archive: tar.NewWriter(&context)}
	c.file("root.tar", 0o644, 0, root.Bytes())
	c.file("Dockerfile", 0o644, 0, []byte(`FROM scratch
ADD root.tar /
ENV PGDATA=/var/lib/postgresql/data PATH=/usr/local/bin:`+bin+`:/usr/bin LC_ALL=C
USER postgres
EXPOSE 5432
VOLUME /var/lib/postgresql/data
STOPSIGNAL SIGINT
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["postgres"]
`))
	require.NoError(t, c.archive.Close())
	return bytes.NewReader(context.Bytes())
}

// rootFS collects the files of an image.
type rootFS struct {
	t       *testing.T
	archive *tar.Writer
	added   map[string]bool
}

func (r rootFS) file(name string, mode int64, owner int, content []byte) {
	r.t.Helper()
	header := tar.Header{Name: name, Mode: mode, Size: int64(len(content)), Uid: owner, Gid: owner}
	require.NoError(r.t, r.archive.WriteHeader(&header))
	_, err := r.archive.Write(content)
	require.NoError(r.t, err)
}

// add adds a file of the machine, and where that is a link what it leads to.
func (r rootFS) add(path string) {
	r.t.Helper()
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	require.NoError(r.t, err)
	path = filepath.Join(dir, filepath.Base(path))
	if r.added[path] {
		return
	}
	r.added[path] = true
	info, err := os.Lstat(path)
	require.NoError(r.t, err)
	switch info.Mode().Type() {
	case fs.ModeSymlink:
		target, err := os.Readlink(path)
		require.NoError(r.t, err)
		link := tar.Header{Name: path[1:], Linkname: target, Typeflag: tar.TypeSymlink}
		require.NoError(r.t, r.archive.WriteHeader(&link))
		if !filepath.IsAbs(target) {
			target = filepath.Join(dir, target)
		}
		if to, err := os.Stat(target); err == nil && !to.IsDir() {
			r.add(target)
		}
	case 0:
		content, err := os.ReadFile(path)
		require.NoError(r.t, err)
		r.file(path[1:], int64(info.Mode().Perm()), 0, content)
	}
}

var library = regexp.MustCompile(`(?m)^\s*(?:\S+ => )?(/\S+) \(0x`)

// addProgram adds a program or library and what it is linked with.
func (r rootFS) addProgram(path string) {
	r.t.Helper()
	r.add(path)
	linked, _ := exec.Command("ldd", path).Output() // fails for what is not linked dynamically, such as a script
	for _, found := range library.FindAllSubmatch(linked, -1) {
		r.add(string(found[1]))
	}
}

// addTree adds all files of a directory, with what they are linked with. The just-in-time compiler is left out: it is
// larger than all the rest, and the server does without.
func (r rootFS) addTree(dir string) {
	r.t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "bitcode":
			return fs.SkipDir
		case d.IsDir(), strings.HasPrefix(d.Name(), "llvmjit"):
			return nil
		case strings.Contains(path, "/bin/"), strings.HasSuffix(path, ".so"):
			r.addProgram(path)
		default:
			r.add(path)
		}
		return nil
	})
	require.NoError(r.t, err)
}
