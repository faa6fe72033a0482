package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/result"
)

// platformsVariable asks for the tests of other platforms, which fail then where what they need is
// missing. They are not run unasked: ds2 is compiled for each.
const platformsVariable = "DS2_TEST_PLATFORMS"

// foreign is a ds2 of another platform, which something else runs.
type foreign struct {
	platform string // as ds2 version prints it
	command  []string
	path     func(string) string // a path of this machine as that platform writes it
}

func (f foreign) start(args ...string) *exec.Cmd {
	return exec.Command(f.command[0], append(f.command[1:], args...)...)
}

func (f foreign) run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := f.start(args...).CombinedOutput()
	require.NoError(t, err, "%s: ds2 %s: %v\n%s", f.platform, args[0], err, out)
	return string(out)
}

// needs finds what a test of another platform needs.
func needs(t *testing.T, commands ...string) {
	t.Helper()
	if os.Getenv(platformsVariable) == "" {
		t.Skipf("%s is not set; make platforms sets it", platformsVariable)
	}
	for _, name := range commands {
		_, err := exec.LookPath(name)
		require.NoError(t, err)
	}
}

// buildFor builds ds2 for another platform.
func buildFor(t *testing.T, goos, goarch string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ds2.exe")
	build := exec.Command("go", "build", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch)
	out, err := build.CombinedOutput()
	require.NoError(t, err, "go build: %v\n%s", err, out)
	return path
}

// works checks that a ds2 of another platform writes the same data and measures a database.
func (f foreign) works(t *testing.T, target string) {
	assert.Regexp(t, "^ds2 .*"+f.platform, f.run(t, "version"))
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	record := filepath.Join(dir, "record")
	f.run(t, "generate", "--size", "S", "--out", f.path(data), "--quiet")
	files := 0
	for line := range strings.Lines(read(t, "../../testdata/golden/S.sha256")) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if name == "prod.csv" { // holds DVD Store's own words
			continue
		}
		files++
		content := []byte(read(t, filepath.Join(data, name)))
		assert.Equal(t, sum, fmt.Sprintf("%x", sha256.Sum256(content)), "%s, as on Linux", name)
	}
	assert.Equal(t, 39, files, "files were compared")
	f.run(t, "load", "--target", target, "--from", f.path(data), "--quiet")
	said := f.run(
		t,
		quick("drive", target, "--warmup-time 1s --run-time 5s --out %s", f.path(record))...)
	assert.Contains(t, said, "The audit of what this run wrote passed", "drive")
	r := recordOf(t, record)
	require.True(t, r.OPM != nil && r.Status == result.Done, "record: %+v", r)
	t.Logf("%s: %.0f OPM, which says nothing about the platform", f.platform, *r.OPM)
}

// TestARM64UnderQemu: on ARM, where the compiler may fuse a multiplication and an addition, the
// data are the same bytes.
func TestARM64UnderQemu(t *testing.T) {
	needs(t, "qemu-aarch64")
	foreign{
		platform: "linux/arm64",
		command:  []string{"qemu-aarch64", buildFor(t, "linux", "arm64")},
		path:     func(p string) string { return p },
	}.works(t, pgtest.Database(t))
}

// TestWindowsUnderWine runs the binary for Windows, at last in a console, in which Ctrl-C is typed.
func TestWindowsUnderWine(t *testing.T) {
	needs(t, "wine", "wineboot", "wineserver", mingwLinker)
	target := pgtest.Database(t)
	f := foreign{
		platform: "windows/amd64",
		command:  []string{"wine", buildFor(t, "windows", "amd64")},
		path:     func(p string) string { return `Z:` + strings.ReplaceAll(p, "/", `\`) },
	}
	startWindows(t)
	f.works(t, target)

	record := filepath.Join(t.TempDir(), "record")
	c := f.start(quick("drive", target, "--run-time 10m --out %s", f.path(record))...)
	console, err := pty.StartWithSize(c, &pty.Winsize{Rows: 50, Cols: 200})
	require.NoError(t, err)
	defer console.Close()
	var screen output
	read := make(chan struct{})
	go func() {
		defer close(read)
		io.Copy(&screen, console) // ends with an error of the closed terminal
	}()
	defer func() { <-read }()
	defer c.Process.Kill()
	shows := func(text string) {
		await(t, text, func() bool { return strings.Contains(screen.String(), text) })
	}
	shows("OPM") // a line of the run
	_, err = console.Write([]byte{'C' - '@'})
	require.NoError(t, err)
	shows("Ctrl-C again leaves at once")
	exit, ok := errors.AsType[*exec.ExitError](c.Wait())
	assert.True(t, ok && exit.ExitCode() == exitInterrupted, "Ctrl-C: %v\n%s", exit, &screen)
	assert.Equal(t, result.Interrupted, recordOf(t, record).Status)
}

// mingwLinker links libraries for Windows.
const mingwLinker = "x86_64-w64-mingw32-ld"

// startWindows makes the Windows of the test. Go's programs ask the library bcryptprimitives for
// random numbers, which older versions of Wine lack; there it is made of another library's
// function, which has the same parameters.
func startWindows(t *testing.T) {
	t.Helper()
	prefix := t.TempDir()
	t.Setenv("WINEPREFIX", prefix)
	t.Setenv("WINEDEBUG", "-all")
	t.Setenv("WINEDLLOVERRIDES", "mscoree,mshtml,winemenubuilder.exe=")
	tool := func(name string, args ...string) {
		t.Helper()
		out, err := exec.Command(name, args...).CombinedOutput()
		require.NoError(t, err, "%s: %s", name, out)
	}
	t.Cleanup(
		func() { exec.Command("wineserver", "--kill").Run() },
	) // fails where it has ended by itself
	tool("wineboot", "--init")
	library := filepath.Join(prefix, "drive_c/windows/system32/bcryptprimitives.dll")
	if _, err := os.Stat(library); err == nil {
		return
	}
	exports := textFile(t, "bcryptprimitives.def",
		"LIBRARY bcryptprimitives.dll\nEXPORTS\n  ProcessPrng = advapi32.SystemFunction036\n")
	tool(mingwLinker, "-shared", "-o", library, exports)
}
