// Package esrp takes the figures of the form of Microsoft's Exchange Solution Reviewed Program from
// the records of runs: those of each server, and of all together. How the form is drawn is for
// package report.
package esrp

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"ds2/internal/result"
	"ds2/internal/sampling"
	"ds2/internal/topology"
)

// Server is what one server's drives did in the first window of a run, as the run's own result has
// it: without the I/Os of the log, of scans and of vacuums. With several machines in a run it is
// also all of them.
type Server struct {
	Name string
	sampling.Storage
	MaintenanceIOPS       float64
	Read, Write, LogWrite Latency
	Run                   *result.Record // nil: the sum of several
}

// MiB is what the drives read and wrote in a second, in MiB.
func (s Server) MiB() float64 { return (s.ReadBytes + s.WrittenBytes) / (1 << 20) }

// LogReads is how many reads a second the drives did that hold the log alone; NaN where none does.
func (s Server) LogReads() float64 {
	reads := math.NaN()
	for _, v := range s.Volumes {
		if slices.Equal(v.Roles, []topology.Role{topology.Log}) {
			if math.IsNaN(reads) {
				reads = 0
			}
			reads += v.Reads
		}
	}
	return reads
}

// Latency is the mean time of a kind of I/O in seconds, as limits have it: the longer of what the
// slowest drive took and what the servers waited. NaN is not known.
type Latency struct {
	Seconds  float64
	OfServer bool // the servers waited longer than the drives took
}

// Form is the servers of runs beside each other.
type Form struct {
	Servers []Server
	// Together is the sum of all, where they were under load at the same time; nil where they were
	// not, which Apart says of several.
	Together *Server
	Apart    string
}

// NewForm puts the servers of runs beside each other. A run may have several; which of its I/Os are
// whose is known where each has a machine of its own.
func NewForm(records []*result.Record) (f Form, err error) {
	for _, r := range records {
		found, err := serversOf(r)
		if err != nil {
			return f, err
		}
		f.Servers = append(f.Servers, found...)
	}
	switch {
	case len(f.Servers) < 2:
	case len(records) == 1: // of the same accounts as the run's result
		all := wholeOf(records[0], "all servers")
		f.Together = &all
	default:
		if f.Apart = explainNoSum(f.Servers); f.Apart == "" {
			f.Together = sumOf(f.Servers)
		}
	}
	return f, nil
}

// serversOf are the servers of a run: one for each machine where the drives of each are known
// apart, or else one with all drives.
func serversOf(r *result.Record) (servers []Server, err error) {
	d := r.Storage
	if d == nil || len(d.Volumes) == 0 || len(r.Windows) == 0 {
		return nil, fmt.Errorf("report %s: ESRP's form is about the I/Os of drives, and the run "+
			"has none: it takes a run of workload mailbox whose drives of data and log are "+
			"observed; on another machine say which they are by "+
			"--devices data=nvme1n1,log=nvme2n1", r.Dir)
	}
	var machines []string
	for _, v := range d.Volumes {
		if !slices.Contains(machines, v.Machine) {
			machines = append(machines, v.Machine)
		}
	}
	hostname := cmp.Or(r.Machine, new(topology.Machine)).Hostname
	whole := wholeOf(r, cmp.Or(hostname, topology.HostOf(r.Targets[0])))
	if len(machines) < 2 {
		return []Server{whole}, nil
	}
	seen := drivesOf(r)
	for _, machine := range machines {
		part, known := seen.OfMachine(machine)
		storage, err := part.Storage()
		if !known || err != nil {
			return []Server{whole}, nil
		}
		servers = append(servers, newServer(machine, *storage, part, r))
	}
	return servers, nil
}

// drivesOf is what the counters say of the drives in a run's first window.
func drivesOf(r *result.Record) sampling.Drives {
	w := r.Windows[0]
	return sampling.Drives{Counters: r.Host, Machine: r.Machine, From: r.At(w.From), To: r.At(w.To)}
}

// wholeOf is a run as one server, with the figures of its own result.
func wholeOf(r *result.Record, name string) Server {
	return newServer(name, *r.Storage, drivesOf(r), r)
}

// newServer is a server with its storage and the mean times of the form: of reads and writes of the
// data, and of writes of the log.
func newServer(name string, s sampling.Storage, seen sampling.Drives, r *result.Record) Server {
	mean := func(role topology.Role, write bool) Latency {
		seconds, ofServer := seen.MeanTime(sampling.IOKind{
			Role: role, Write: write, Over: sampling.Interval,
		})
		return Latency{seconds, ofServer}
	}
	return Server{
		Name: name, Storage: s, Run: r, MaintenanceIOPS: s.Maintenance.IOPS(),
		Read:     mean(topology.Data, false),
		Write:    mean(topology.Data, true),
		LogWrite: mean(topology.Log, true),
	}
}

// leastOverlap is the share of the longest window in which all servers of a sum are under load.
const leastOverlap = .9

// explainNoSum says why servers have no sum; empty where they have.
func explainNoSum(servers []Server) string {
	var begin, end time.Time
	longest := time.Duration(0)
	var names []string
	for i, s := range servers {
		if slices.Contains(names, s.Name) {
			return fmt.Sprintf("there is no sum, as two runs are of %s", s.Name)
		}
		names = append(names, s.Name)
		seen := drivesOf(s.Run)
		longest = max(longest, seen.To.Sub(seen.From))
		if i == 0 || seen.From.After(begin) {
			begin = seen.From
		}
		if i == 0 || seen.To.Before(end) {
			end = seen.To
		}
	}
	overlap := max(0, end.Sub(begin).Seconds()) / longest.Seconds()
	if overlap >= leastOverlap {
		return ""
	}
	return fmt.Sprintf("there is no sum of %s: they were under load together for %.0f %% of the "+
		"longest window, and a sum takes %.0f %%",
		strings.Join(names, " and "), 100*overlap, 100*leastOverlap)
}

// sumOf is the sum of the servers of several runs. Its latencies are those of the slowest, and
// unknown where those of one are.
func sumOf(servers []Server) *Server {
	sum := Server{Name: "all servers"}
	slower := func(a *Latency, b Latency) {
		slowest := max(a.Seconds, b.Seconds) // not a number where either is none
		if b.Seconds > a.Seconds {
			*a = b
		}
		a.Seconds = slowest
	}
	for _, s := range servers {
		sum.IOPS += s.IOPS
		sum.Reads += s.Reads
		sum.Writes += s.Writes
		sum.LogWrites += s.LogWrites
		sum.ReadBytes += s.ReadBytes
		sum.WrittenBytes += s.WrittenBytes
		sum.MaintenanceIOPS += s.MaintenanceIOPS
		slower(&sum.Read, s.Read)
		slower(&sum.Write, s.Write)
		slower(&sum.LogWrite, s.LogWrite)
	}
	return &sum
}
