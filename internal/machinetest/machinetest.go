// Package machinetest makes machines for tests: files as the kernel shows them in /proc and /sys,
// and exporters.
package machinetest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TwoCPUs is /proc/stat of a machine with two of them.
const TwoCPUs = `cpu  10 0 10 100 0 0 0 100 0 0
cpu0 5 0 5 50 0 0 0 100 0 0
cpu1 5 0 5 50 0 0 0 0 0 0
btime 1
processes 1
procs_running 1
procs_blocked 0
`

// Files makes /proc and /sys of a machine with two CPUs that shows as little as any.
func Files(t *testing.T) (proc, sys string) {
	proc = t.TempDir()
	sys = t.TempDir()
	Write(t, proc, "stat", TwoCPUs)
	Write(t, proc, "meminfo", "MemTotal: 1000 kB\n")
	Write(t, proc, "net/dev", "Inter-|   Receive |  Transmit\n face |bytes packets\n")
	Write(t, proc, "diskstats", "")
	return proc, sys
}

// Machine makes a /sys of one machine: sda with two partitions; md0 over nvme0n1p1 and nvme1n1p1;
// the volume dm-0 of LVM over md0 and sda2; a loop device and a ramdisk. Mounts are lines of
// mountinfo in which @ stands for the directory that plays /.
func Machine(t *testing.T, mounts ...string) (proc, sys, root string) {
	t.Helper()
	proc, sys = Files(t)
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for dir, number := range map[string]string{
		"devices/pci/sda": "8:0", "devices/pci/sda/sda1": "8:1", "devices/pci/sda/sda2": "8:2",
		"devices/pci/nvme0n1": "259:0", "devices/pci/nvme0n1/nvme0n1p1": "259:1",
		"devices/pci/nvme1n1": "259:2", "devices/pci/nvme1n1/nvme1n1p1": "259:3",
		"devices/virtual/md0": "9:0", "devices/virtual/dm-0": "253:0",
		"devices/virtual/loop0": "7:0", "devices/virtual/zram0": "252:0",
	} {
		Device(t, sys, dir, number)
		if strings.Count(dir, "/") == 3 {
			Write(t, sys, dir+"/partition", "1\n")
			require.NoError(t, os.Remove(filepath.Join(sys, "block", filepath.Base(dir))))
		}
	}
	for device, slaves := range map[string][]string{
		"md0": {"nvme0n1/nvme0n1p1", "nvme1n1/nvme1n1p1"}, "dm-0": {"../virtual/md0", "sda/sda2"},
	} {
		for _, s := range slaves {
			from := filepath.Join(sys, "devices/virtual", device, "slaves", filepath.Base(s))
			Link(t, filepath.Join(sys, "devices/pci", s), from)
		}
	}
	text := strings.ReplaceAll(strings.Join(mounts, "\n")+"\n", "@", root)
	Write(t, proc, "self/mountinfo", text)
	Write(t, proc, strconv.Itoa(os.Getpid())+"/mountinfo", text)
	return proc, sys, root
}

// Device has a /sys show one, in place of another of its name or number.
func Device(t *testing.T, sys, dir, number string) {
	t.Helper()
	Write(t, sys, dir+"/dev", number+"\n")
	name := filepath.Base(dir)
	for _, from := range []string{"block/" + name, "dev/block/" + number, "class/block/" + name} {
		os.Remove(filepath.Join(sys, from))
		Link(t, filepath.Join(sys, dir), filepath.Join(sys, from))
	}
}

// Link makes a symbolic link, and the directories to it.
func Link(t *testing.T, to, from string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(from), 0o755))
	require.NoError(t, os.Symlink(to, from))
}

// Write makes a file below dir, and the directories to it.
func Write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

// WriteFiles makes small files: on each line a directory and some NAME=TEXT, with + for a blank and
// a comma for a line end.
func WriteFiles(t *testing.T, root, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		var dir string
		for i, field := range strings.Fields(line) {
			if i == 0 {
				dir = field
				continue
			}
			name, text, _ := strings.Cut(field, "=")
			Write(
				t,
				root,
				filepath.Join(dir, name),
				strings.NewReplacer("+", " ", ",", "\n").Replace(text)+"\n",
			)
		}
	}
}

// Exporter shows an exposition that the test changes, and can fail.
type Exporter struct {
	*httptest.Server
	sync.Mutex
	Text    string
	Broken  bool
	Queries []string
}

// NewExporter starts one, and stops it when the test ends.
func NewExporter(t *testing.T, text string) *Exporter {
	e := &Exporter{Text: text}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.Mutex.Lock()
		defer e.Mutex.Unlock()
		e.Queries = append(e.Queries, r.URL.Query().Encode())
		e.passTime()
		if e.Broken {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		fmt.Fprint(w, e.Text)
	}))
	t.Cleanup(e.Close)
	return e
}

// passTime has the idle time of a CPU go on, as that of all machines does.
func (e *Exporter) passTime() {
	lines := strings.Split(e.Text, "\n")
	for i, line := range lines {
		name, value, _ := strings.Cut(line, "} ")
		if v, err := strconv.ParseFloat(value, 64); err == nil &&
			strings.Contains(name, `mode="idle"`) {
			lines[i] = fmt.Sprintf("%s} %f", name, v+.01)
		}
	}
	e.Text = strings.Join(lines, "\n")
}

// Show changes what is shown: each line of a metric gets the value given.
func (e *Exporter) Show(values map[string]float64) {
	e.Mutex.Lock()
	defer e.Mutex.Unlock()
	lines := strings.Split(e.Text, "\n")
	for i, line := range lines {
		blank := strings.LastIndexByte(line, ' ')
		if v, ok := values[line[:max(blank, 0)]]; ok {
			lines[i] = fmt.Sprint(line[:blank], " ", v)
		}
	}
	e.Text = strings.Join(lines, "\n")
}
