package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"ds2/internal/monitor"
	"ds2/internal/result"
	"ds2/internal/sampling"
	"ds2/internal/topology"
)

// Server is what one server's drives did in the first window of a run. Rates are a second, times
// are in seconds; NaN is not known.
type Server struct {
	Name                                  string
	Reads, Writes, LogWrites, Maintenance float64
	ReadTime, WriteTime, LogTime          Weighted
	Shared                                bool // drives hold data and log
	Run                                   *result.Record
}

// Weighted is a mean over I/Os.
type Weighted struct{ sum, weight float64 }

func (m *Weighted) add(mean, ios float64) {
	if !math.IsNaN(mean) {
		m.sum += mean * ios
		m.weight += ios
	}
}

func (m *Weighted) addAll(o Weighted) {
	m.sum += o.sum
	m.weight += o.weight
}

// Mean is NaN of no I/Os.
func (m Weighted) Mean() float64 { return m.sum / m.weight }

// Servers are those of runs, of which each may have several.
func Servers(records []*result.Record) (servers []Server, err error) {
	for _, r := range records {
		found, err := serversOf(r)
		if err != nil {
			return nil, err
		}
		servers = append(servers, found...)
	}
	return servers, nil
}

func serversOf(r *result.Record) (servers []Server, err error) {
	d := r.Storage
	if d == nil || len(d.Volumes) == 0 || len(r.Windows) == 0 {
		return nil, fmt.Errorf(
			"report %s: ESRP's form is about the I/Os of drives, and the run has none: "+
				"it takes a run of workload mailbox whose drives of data and log are observed; "+
				"on another machine say which they are by --devices data=nvme1n1,log=nvme2n1",
			r.Dir,
		)
	}
	for _, v := range d.Volumes {
		i := slices.IndexFunc(servers, func(s Server) bool { return s.Name == v.Machine })
		if i < 0 {
			i = len(servers)
			servers = append(servers, Server{Name: v.Machine, Maintenance: math.NaN(), Run: r})
		}
		servers[i].add(v)
	}
	if len(servers) == 1 {
		s := &servers[0]
		s.Name = cmp.Or(
			cmp.Or(r.Machine, new(topology.Machine)).Hostname,
			monitor.HostOf(r.Targets[0]),
		)
		// Where one drive holds data and log, only the server's own count tells them apart.
		s.Reads, s.Writes, s.LogWrites, s.Maintenance = d.Reads, d.Writes, d.LogWrites, d.Maintenance.IOPS()
	}
	return servers, nil
}

// add takes in what one drive did.
func (s *Server) add(v sampling.Volume) {
	nan := math.NaN()
	write := *cmp.Or(v.WriteMean, &nan)
	data := slices.Contains(v.Roles, topology.Data)
	logged := slices.Contains(v.Roles, topology.Log)
	if data {
		s.Reads += v.Reads
		s.Writes += v.Writes
		s.ReadTime.add(*cmp.Or(v.ReadMean, &nan), v.Reads)
		s.WriteTime.add(write, v.Writes)
	}
	if logged {
		s.LogWrites += v.Writes
		s.LogTime.add(write, v.Writes)
	}
	if data && logged {
		s.Shared = true
		s.LogWrites = nan
	}
}

// AtOnce says that servers are several, and were all under load at the same time: only then there
// is a sum of them.
func AtOnce(servers []Server) bool {
	for i, s := range servers {
		from, to := s.window()
		for _, o := range servers[:i] {
			if begin, end := o.window(); s.Name == o.Name || !from.Before(end) ||
				!begin.Before(to) {
				return false
			}
		}
	}
	return len(servers) > 1
}

func (s Server) window() (from, to time.Time) {
	w := s.Run.Windows[0]
	return s.Run.At(w.From), s.Run.At(w.To)
}

// Together is the sum of servers.
func Together(servers []Server) Server {
	sum := Server{Name: "all servers"}
	for _, s := range servers {
		sum.Reads += s.Reads
		sum.Writes += s.Writes
		sum.LogWrites += s.LogWrites
		sum.Maintenance += s.Maintenance
		sum.ReadTime.addAll(s.ReadTime)
		sum.WriteTime.addAll(s.WriteTime)
		sum.LogTime.addAll(s.LogTime)
	}
	return sum
}
