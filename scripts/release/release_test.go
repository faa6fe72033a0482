package main

import (
	"archive/tar"
	"debug/elf"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// platformsVariable names the platforms of the test, as -platforms takes them; make platforms says all.
const platformsVariable = "DS2_TEST_RELEASE"

// TestRelease makes a release from two clones of the last commit: they are the same to the byte, and hold what they
// must.
func TestRelease(t *testing.T) {
	if testing.Short() {
		t.Skip("builds ds2 for several platforms, twice")
	}
	some := strings.TrimPrefix(os.Getenv(platformsVariable), "all")
	var outs []string
	source := "../.."
	for _, name := range []string{"one", "another"} {
		clone, out := filepath.Join(t.TempDir(), name), filepath.Join(t.TempDir(), "dist")
		run(t, "git", "clone", "--quiet", "--shared", source, clone)
		check(t, makeRelease(clone, out, some, t.Output()))
		outs, source = append(outs, out), clone // of the same commit, whatever is committed meanwhile
	}
	sums := sumsOf(t, outs[0])
	if again := sumsOf(t, outs[1]); !slices.Equal(sums, again) {
		t.Errorf("built again, files differ:\n%s\nand\n%s", strings.Join(sums, "\n"), strings.Join(again, "\n"))
	}
	said := inDir(t, outs[0], "sha256sum --check --strict SHA256SUMS")
	if strings.Count(said, ": OK\n") != len(sums)-1 {
		t.Errorf("SHA256SUMS of %d files:\n%s", len(sums), said)
	}

	t.Run("archive", func(t *testing.T) {
		dir := t.TempDir()
		run(t, "tar", "-xzf", only(t, outs[0], "*_linux_amd64.tar.gz"), "-C", dir, "--strip-components=1")
		filled(t, dir, "README.md", "LICENSE", "licenses/modules.txt", "man/man1/ds2-drive.1",
			"completions/ds2.bash", "completions/ds2.ps1")
		checkBinary(t, filepath.Join(dir, "ds2"))
	})
	t.Run("deb", func(t *testing.T) {
		dir := t.TempDir()
		deb := only(t, outs[0], "*_amd64.deb")
		run(t, "dpkg-deb", "-x", deb, dir)
		checkBinary(t, filepath.Join(dir, "usr/bin/ds2"))
		filled(t, filepath.Join(dir, "usr/share"),
			"man/man1/ds2.1.gz", "man/man1/ds2-init.1.gz", "bash-completion/completions/ds2", "doc/ds2/copyright")
		contains(t, run(t, "dpkg-deb", "-f", deb), "Package: ds2\n", "Architecture: amd64\n")
	})
	t.Run("rpm", func(t *testing.T) {
		if _, err := exec.LookPath("rpm"); err != nil {
			t.Skip("rpm is not installed")
		}
		rpm := only(t, outs[0], "*.x86_64.rpm")
		contains(t, run(t, "rpm", "-qpl", rpm),
			"/usr/bin/ds2\n", "/usr/share/man/man1/ds2.1.gz\n", "/usr/share/zsh/site-functions/_ds2\n")
		run(t, "rpm", "-K", "--nosignature", rpm)
	})
	t.Run("bill of materials", func(t *testing.T) {
		f, err := os.Open(only(t, outs[0], "*_linux_amd64.cdx.json"))
		check(t, err)
		defer f.Close()
		var bom cdx.BOM
		check(t, cdx.NewBOMDecoder(f, cdx.BOMFileFormatJSON).Decode(&bom))
		for _, want := range []string{"std", "github.com/jackc/pgx/v5", "echarts"} {
			if !slices.ContainsFunc(*bom.Components, func(c cdx.Component) bool {
				return c.Name == want && c.Version != "" && strings.HasSuffix(c.PackageURL, "@"+c.Version)
			}) {
				t.Errorf("no %s in it", want)
			}
		}
	})
	t.Run("image", func(t *testing.T) {
		image, err := tarball.ImageFromPath(only(t, outs[0], "*_image_amd64.tar"), nil)
		check(t, err)
		config, err := image.ConfigFile()
		check(t, err)
		c := config.Config
		if c.User != "10001:10001" || !slices.Equal(c.Entrypoint, []string{"/ds2"}) || config.Architecture != "amd64" {
			t.Errorf("config %+v", config)
		}
		files := mutate.Extract(image)
		defer files.Close()
		var names []string
		for archive := tar.NewReader(files); ; {
			header, err := archive.Next()
			if err == io.EOF {
				break
			}
			check(t, err)
			if header.Typeflag == tar.TypeReg {
				names = append(names, header.Name)
			}
			if header.Name == "etc/ssl/certs/ca-certificates.crt" && header.Size < 100_000 {
				t.Errorf("%d bytes of certificates", header.Size)
			}
		}
		if slices.Sort(names); !slices.Equal(names, []string{"ds2", "etc/ssl/certs/ca-certificates.crt"}) {
			t.Errorf("files %q", names)
		}
	})
}

// checkBinary wants one that is static and has a version.
func checkBinary(t *testing.T, path string) {
	t.Helper()
	f, err := elf.Open(path)
	check(t, err)
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Errorf("%s is not static", path)
		}
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("not a binary of this machine")
	}
	if said := run(t, path, "version"); !strings.HasPrefix(said, "ds2 ") || strings.HasPrefix(said, "ds2 devel") {
		t.Errorf("version %s", said)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	said, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, said)
	}
	return string(said)
}

// inDir has a shell run a command in a directory.
func inDir(t *testing.T, dir, command string) string {
	t.Helper()
	return run(t, "sh", "-c", `cd "$1" && `+command, "sh", dir)
}

func contains(t *testing.T, text string, all ...string) {
	t.Helper()
	for _, want := range all {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
}

// filled wants files that are not empty.
func filled(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// only is the one file of a directory that matches.
func only(t *testing.T, dir, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %q, %v", pattern, found, err)
	}
	return found[0]
}

// sumsOf are those of all files of a directory, by name.
func sumsOf(t *testing.T, dir string) []string {
	t.Helper()
	return strings.Split(strings.TrimSpace(inDir(t, dir, "sha256sum *")), "\n")
}

// TestPackageVersion: packages begin with a digit, and those of a tag are newer than those of none.
func TestPackageVersion(t *testing.T) {
	for version, want := range map[string]string{
		"1.2.0":         "1.2.0",
		"1.2.0-3-gabc":  "1.2.0+3+gabc",
		"abc1234-dirty": "0~00010101000000.abc1234+dirty",
		"1234567":       "0~00010101000000.1234567",
	} {
		if got := packageVersion(&release{version: version}); got != want {
			t.Errorf("%s: %s, want %s", version, got, want)
		}
	}
}
