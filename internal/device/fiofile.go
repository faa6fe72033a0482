package device

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// ReadOrFio reads a record, or makes one of fio's own JSON: random reads of 4 to 16 kB at one depth or several, and
// writes each of which is flushed (fdatasync=1 or fsync=1); random writes where there are any. The record has nothing
// else. Its errors name the file.
func ReadOrFio(path string) (*Record, error) {
	info, err := os.Stat(path)
	if err != nil || info.Size() > maxRecord {
		return Read(path)
	}
	text, err := os.ReadFile(path)
	var f output
	if err != nil || json.Unmarshal(text, &f) != nil || f.Version == "" {
		return Read(path)
	}
	r, err := f.record()
	if err != nil {
		return nil, fmt.Errorf("read fio's output %s: %w", path, err)
	}
	r.Path = path
	return r, nil
}

// record takes jobs of one name, as numjobs makes them, together.
func (f output) record() (*Record, error) {
	r := &Record{Format: Format, Kind: "device", Fio: f.Version}
	names := map[string]int{}
	for _, j := range f.Jobs {
		names[j.Name]++
	}
	reads, writes := map[string]*Point{}, map[string]*Point{}
	for _, j := range f.Jobs {
		option := func(name, otherwise string) string { return cmp.Or(j.Options[name], f.Global[name], otherwise) }
		number := func(name string) int { n, _ := strconv.Atoi(option(name, "1")); return n }
		small := slices.Contains([]string{"4k", "4096", "8k", "8192", "16k", "16384"}, option("bs", "4k"))
		switch rw := option("rw", option("readwrite", "read")); {
		case j.Error != 0:
			return nil, fmt.Errorf("job %s ended with error %d", j.Name, j.Error)
		case j.Write.IOPS > 0 && j.Sync.Latency.N > 0 && (option("fdatasync", "") == "1" || option("fsync", "") == "1"):
			r.Log = Point{Depth: 1, IOPS: j.Write.IOPS, Writes: j.Write.IOPS,
				Mean: (j.Write.Latency.Mean + j.Sync.Latency.Mean) / 1e9}
		case (rw == "randread" || rw == "randwrite") && small:
			points, done := reads, j.Read
			if rw == "randwrite" {
				points, done = writes, j.Write
			}
			p := points[j.Name]
			if p == nil {
				p = &Point{Depth: 1}
				points[j.Name] = p
				if engine := option("ioengine", "psync"); !strings.Contains(engine, "sync") { // such know no depth
					p.Depth = number("iodepth")
				}
				if n := names[j.Name]; n > 1 {
					p.Depth *= n
				} else {
					p.Depth *= number("numjobs") // in one report, by group_reporting
				}
			}
			p.Mean = (p.Mean*p.IOPS + done.Latency.Mean/1e9*done.IOPS) / (p.IOPS + done.IOPS)
			p.IOPS += done.IOPS
			p.Reads, p.Writes = p.Reads+j.Read.IOPS, p.Writes+j.Write.IOPS
		}
	}
	r.Reads, r.Writes = byDepth(reads), byDepth(writes)
	switch {
	case len(r.Reads) == 0:
		return nil, errors.New("it has no job of random reads (rw=randread) of 4 to 16 kB")
	case r.Log.IOPS == 0:
		return nil, errors.New("it has no job of flushed writes (rw=write with fdatasync=1)")
	}
	return r, r.check()
}

func byDepth(points map[string]*Point) (all []Point) {
	for _, p := range points {
		all = append(all, *p)
	}
	slices.SortFunc(all, func(a, b Point) int { return a.Depth - b.Depth })
	return all
}
