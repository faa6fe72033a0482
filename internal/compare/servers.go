package compare

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"ds2/internal/measure"
	"ds2/internal/monitor"
	"ds2/internal/result"
)

// Server is what one server's drives did in the first window of a run. Rates are a second, times are in seconds;
// nil is not known.
type Server struct {
	Name                        string
	Reads, Writes               float64
	LogWrites                   *float64
	ReadTime, WriteTime, Logged Weighted
	Shared                      bool // drives hold data and log
	Maintenance                 *float64
	From, To                    time.Time
	Run                         *result.Record
}

// Weighted is a mean over I/Os.
type Weighted struct{ sum, weight float64 }

func (m *Weighted) add(v *float64, weight float64) {
	if v != nil {
		m.sum += *v * weight
		m.weight += weight
	}
}

// Mean is nil of no I/Os.
func (m Weighted) Mean() *float64 {
	if m.weight == 0 {
		return nil
	}
	return new(m.sum / m.weight)
}

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
	if d == nil || len(r.Windows) == 0 {
		return nil, fmt.Errorf("report %s: ESRP's form is about the I/Os of drives, and the run has none: "+
			"it takes a run of workload mailbox whose drives of data and log are observed; "+
			"on another machine say which they are by --devices data=nvme1n1,log=nvme2n1", r.Dir)
	}
	var machines []string
	for _, v := range d.Volumes {
		if !slices.Contains(machines, v.Machine) {
			machines = append(machines, v.Machine)
		}
	}
	if len(machines) < 2 {
		s := serverOf(monitor.HostOf(r.Targets[0]), d.Volumes)
		if r.Machine != nil {
			s.Name = cmp.Or(r.Machine.Hostname, s.Name)
		}
		// Where one drive holds data and log, only the server's own count tells them apart.
		s.Reads, s.Writes, s.LogWrites, s.Maintenance = d.Reads, d.Writes, &d.LogWrites, new(d.Maintenance.IOPS())
		servers = append(servers, s)
	} else {
		for _, name := range machines {
			elsewhere := func(v monitor.Volume) bool { return v.Machine != name }
			servers = append(servers, serverOf(name, slices.DeleteFunc(slices.Clone(d.Volumes), elsewhere)))
		}
	}
	w := r.Windows[0]
	for i := range servers {
		servers[i].Run = r
		servers[i].From, servers[i].To = r.Start.Add(measure.Seconds(w.From)), r.Start.Add(measure.Seconds(w.To))
	}
	return servers, nil
}

func serverOf(name string, volumes []monitor.Volume) Server {
	s, log := Server{Name: name}, 0.0
	for _, v := range volumes {
		data, logged := slices.Contains(v.Roles, monitor.Data), slices.Contains(v.Roles, monitor.Log)
		s.Shared = s.Shared || data && logged
		if data {
			s.Reads += v.Reads
			s.Writes += v.Writes
			s.ReadTime.add(v.ReadMean, v.Reads)
			s.WriteTime.add(v.WriteMean, v.Writes)
		} else {
			log += v.Writes
		}
		if logged {
			s.Logged.add(v.WriteMean, v.Writes)
		}
	}
	if !s.Shared {
		s.LogWrites = &log
	}
	return s
}

// AtOnce says that servers are several, and were all under load at the same time: only then there is a sum of them.
func AtOnce(servers []Server) bool {
	for i, s := range servers {
		for _, o := range servers[:i] {
			if s.Name == o.Name || !s.From.Before(o.To) || !o.From.Before(s.To) {
				return false
			}
		}
	}
	return len(servers) > 1
}

// Together is the sum of servers.
func Together(servers []Server) Server {
	sum, log, known := Server{Name: "all servers"}, 0.0, true
	for _, s := range servers {
		sum.Reads += s.Reads
		sum.Writes += s.Writes
		sum.ReadTime.add(s.ReadTime.Mean(), s.Reads)
		sum.WriteTime.add(s.WriteTime.Mean(), s.Writes)
		if s.Maintenance != nil {
			sum.Maintenance = new(*cmp.Or(sum.Maintenance, new(0.)) + *s.Maintenance)
		}
		if known = known && s.LogWrites != nil; known {
			log += *s.LogWrites
			sum.Logged.add(s.Logged.Mean(), *s.LogWrites)
		}
	}
	if known {
		sum.LogWrites = &log
	}
	return sum
}
