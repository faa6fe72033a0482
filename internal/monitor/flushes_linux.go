package monitor

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
)

// flushing is how the flushes of a drive stand among its writes; others is what holds where the journals of its file
// systems are not to be seen.
func (fs FS) flushing(drive string, others flushing) flushing {
	queue := filepath.Join(fs.Sys, "block", drive, "queue")
	_, noRequests := os.Stat(filepath.Join(fs.Sys, "block", drive, "mq"))
	_, journals := fs.journals(drive)
	f := flushing{ofJournalWrite: 2}
	if line(filepath.Join(queue, "fua")) == "1" {
		f.ofJournalWrite = 1
	}
	switch {
	case line(filepath.Join(queue, "write_cache")) == "write through":
		f.through = true
	case noRequests != nil:
		f.unknown = "it has a write-back cache and no request queue, as MD, device mapper and drives with " +
			"several paths, which count flushes each in its way: name the drives below it"
	case !journals:
		f.unknown = others.unknown
	}
	return f
}

// journals are the files in which the kernel counts the journals' writes of the file systems on a drive or on its
// partitions; false where there may be others.
func (fs FS) journals(drive string) (files []string, all bool) {
	devices := []string{drive}
	partitions, _ := filepath.Glob(filepath.Join(fs.Sys, "block", drive, "*/partition"))
	for _, p := range partitions {
		devices = append(devices, filepath.Base(filepath.Dir(p)))
	}
	for _, d := range devices {
		if above, _ := os.ReadDir(filepath.Join(fs.Sys, "class/block", d, "holders")); len(above) > 0 {
			return nil, false
		}
		for _, pattern := range []string{
			filepath.Join(fs.Proc, "fs/jbd2", d, "info"), filepath.Join(fs.Proc, "fs/jbd2", d+"-*", "info"),
			filepath.Join(fs.Sys, "fs/xfs", d, "stats/stats"),
		} {
			found, _ := filepath.Glob(pattern)
			files = append(files, found...)
		}
	}
	proc, err := procfs.NewFS(fs.Proc)
	if err != nil {
		return nil, false
	}
	mounts, err := proc.GetProcMounts(os.Getpid())
	for _, m := range mounts {
		on := slices.Contains(devices, filepath.Base(m.Source))
		if on && !slices.Contains([]string{"ext3", "ext4", "xfs"}, m.FSType) {
			return nil, false
		}
	}
	return files, err == nil
}

// journalWrites sums up what such files count: transactions of ext4's journal, each of which ends with one flushing
// write, and writes of XFS's log.
func journalWrites(files []string) (sum float64) {
	for _, file := range files {
		text := line(file)
		if filepath.Base(file) == "stats" {
			_, text, _ = strings.Cut("\n"+text, "\nlog ")
		}
		first, _, _ := strings.Cut(text, " ")
		n, err := strconv.ParseFloat(first, 64)
		if err != nil {
			return math.NaN()
		}
		sum += n
	}
	return sum
}
