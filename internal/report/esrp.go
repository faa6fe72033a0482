package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ds2/internal/measure"
	"ds2/internal/monitor"
	"ds2/internal/result"
)

// esrpDisclaimer is what a summary in this form is not.
const esrpDisclaimer = "This summary follows the form of Microsoft's Exchange Solution Reviewed Program (ESRP), " +
	"but is no ESRP result: nobody has reviewed it, and its figures come from ds2, not from Jetstress with " +
	"Exchange's engine. ESRP itself is not designed to be a benchmarking program, and its figures are not for direct " +
	"comparison."

// esrpServer is what one server's drives did in the first window of a run. Rates are a second, times are in seconds;
// nil is not known.
type esrpServer struct {
	name                        string
	reads, writes               float64
	logWrites                   *float64
	readTime, writeTime, logged weighted
	shared                      bool // drives hold data and log
	from, to                    time.Time
}

// weighted is a mean over I/Os.
type weighted struct{ sum, weight float64 }

func (m *weighted) add(v *float64, weight float64) {
	if v != nil {
		m.sum += *v * weight
		m.weight += weight
	}
}

func (m weighted) mean() *float64 {
	if m.weight == 0 {
		return nil
	}
	return new(m.sum / m.weight)
}

// ESRP writes the results of runs in the order of ESRP's form: a column for each server, of which a run may have
// several, and one for all of them. Latencies are means over all I/Os.
func ESRP(records []*result.Record) (Page, error) {
	var servers []esrpServer
	for _, r := range records {
		found, err := esrpServers(r)
		if err != nil {
			return Page{}, err
		}
		servers = append(servers, found...)
	}
	for i := range servers { // several runs on one server
		if slices.ContainsFunc(servers[:i], func(s esrpServer) bool { return s.name == servers[i].name }) {
			servers[i].name = fmt.Sprintf("%s (%d)", servers[i].name, i+1)
		}
	}
	v := esrpView(records, servers)
	return Page{v.Title, []view{v}}, nil
}

func esrpServers(r *result.Record) (servers []esrpServer, err error) {
	d := r.Storage
	if d == nil || len(r.Windows) == 0 {
		return nil, fmt.Errorf("report %s: ESRP's form is about the I/Os of drives, and the run has none: "+
			"it takes a run of workload mailbox whose drives of data and log are observed; "+
			"on another machine say which they are by --devices data=nvme1n1,log=nvme2n1", r.Dir)
	}
	var machines []string
	for _, v := range d.Volumes {
		machines = addNew(machines, v.Machine)
	}
	if len(machines) < 2 {
		s := serverOf(monitor.HostOf(r.Targets[0]), d.Volumes)
		if r.Machine != nil {
			s.name = cmp.Or(r.Machine.Hostname, s.name)
		}
		// Where one drive holds data and log, only the server's own count tells them apart.
		s.reads, s.writes, s.logWrites = d.Reads, d.Writes, &d.LogWrites
		servers = append(servers, s)
	} else {
		for _, name := range machines {
			elsewhere := func(v monitor.Volume) bool { return v.Machine != name }
			servers = append(servers, serverOf(name, slices.DeleteFunc(slices.Clone(d.Volumes), elsewhere)))
		}
	}
	w := r.Windows[0]
	for i := range servers {
		servers[i].from, servers[i].to = r.Start.Add(measure.Seconds(w.From)), r.Start.Add(measure.Seconds(w.To))
	}
	return servers, nil
}

func serverOf(name string, volumes []monitor.Volume) esrpServer {
	s, log := esrpServer{name: name}, 0.0
	for _, v := range volumes {
		data, logged := v.Keeps(monitor.Data), v.Keeps(monitor.Log)
		s.shared = s.shared || data && logged
		if data {
			s.reads += v.Reads
			s.writes += v.Writes
			s.readTime.add(v.ReadMean, v.Reads)
			s.writeTime.add(v.WriteMean, v.Writes)
		} else {
			log += v.Writes
		}
		if logged {
			s.logged.add(v.WriteMean, v.Writes)
		}
	}
	if !s.shared {
		s.logWrites = &log
	}
	return s
}

func together(servers []esrpServer) esrpServer {
	sum, log, known := esrpServer{name: "all servers"}, 0.0, true
	for _, s := range servers {
		sum.reads += s.reads
		sum.writes += s.writes
		sum.readTime.add(s.readTime.mean(), s.reads)
		sum.writeTime.add(s.writeTime.mean(), s.writes)
		if known = known && s.logWrites != nil; known {
			log += *s.logWrites
			sum.logged.add(s.logged.mean(), *s.logWrites)
		}
	}
	if known {
		sum.logWrites = &log
	}
	return sum
}

func esrpView(records []*result.Record, servers []esrpServer) view {
	v := view{Title: "Storage performance, in the order of ESRP's form", Headline: esrpDisclaimer}
	ids := make([]string, len(records))
	for i, r := range records {
		workload := cmp.Or(r.Workload, "ds2")
		ids[i] = fmt.Sprintf("%s (%s on %s, %d users a database)", r.RunID, workload, r.Engine, r.Threads)
		if r.Status != result.Done {
			v.findf(aside, "Run %s is recorded as %s.", r.RunID, r.Status)
		}
		v.findLimits(r.Limits)
	}
	v.find(aside, "Runs: "+strings.Join(ids, ", ")+".")
	for i, s := range servers {
		apart := func(o esrpServer) bool { return !s.from.Before(o.to) || !o.from.Before(s.to) }
		if slices.ContainsFunc(servers[:i], apart) {
			v.find(aside, "These servers were not under load at the same time: "+
				"the sum is of several runs, not of one load.")
			break
		}
	}
	if slices.ContainsFunc(servers, func(s esrpServer) bool { return s.shared }) {
		v.find(aside, "Data and log share a drive: its latencies are those of both.")
	}
	columns := append(slices.Clone(servers), together(servers))
	head := []string{"figure"}
	for _, s := range columns {
		head = append(head, s.name)
	}
	database, log := newTable("Database I/O", head...), newTable("Transaction log I/O", head...)
	row := func(t *table, name string, scale float64, of func(esrpServer) *float64) {
		cells := []string{name}
		for _, s := range columns {
			cells = append(cells, orElse("–", of(s), scale, 3))
		}
		t.row(cells...)
	}
	row(&database, "Database Disks Transfers/sec", 1, func(s esrpServer) *float64 { return new(s.reads + s.writes) })
	row(&database, "Database Disks Reads/sec", 1, func(s esrpServer) *float64 { return &s.reads })
	row(&database, "Database Disks Writes/sec", 1, func(s esrpServer) *float64 { return &s.writes })
	row(&database, "Average Database Disk Read Latency (ms)", 1000,
		func(s esrpServer) *float64 { return s.readTime.mean() })
	row(&database, "Average Database Disk Write Latency (ms)", 1000,
		func(s esrpServer) *float64 { return s.writeTime.mean() })
	row(&log, "Log Disks Writes/sec", 1, func(s esrpServer) *float64 { return s.logWrites })
	row(&log, "Average Log Disk Write Latency (ms)", 1000, func(s esrpServer) *float64 { return s.logged.mean() })
	v.Tables = []table{database, log}
	return v
}
