package mailbox

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"ds2/internal/measure"
	"ds2/internal/monitor"
	"ds2/internal/result"
	"ds2/internal/workload"
)

var _ workload.Concluder = (*Plan)(nil)

// disclaimer stands above the result of every run.
const disclaimer = "This is the mailbox workload of ds2: it has the I/O profile and the method of Jetstress, not its engine, and is no Jetstress or ESRP result."

// Conclude adds the achieved IOPS and the report's sections, in the order of Jetstress's report.
func (p *Plan) Conclude(s *result.Summary, series measure.Series, counters monitor.Table) error {
	if p.last != nil && s.Mailbox != nil && s.Mailbox.BytesAfter == nil {
		p.last.describe(s.Mailbox)
	}
	s.IOPS, s.Storage = nil, nil
	if len(s.Windows) > 0 {
		w := s.Windows[0]
		at := func(seconds float64) time.Time { return s.Start.Add(time.Duration(seconds * float64(time.Second))) }
		s.Storage = monitor.Drives{Counters: counters, Machine: s.Machine, From: at(w.From), To: at(w.To)}.Storage()
		if d := s.Storage; d != nil {
			s.IOPS = &d.IOPS
			if rate := float64(w.Counts.Orders) / (w.To - w.From); rate > 0 {
				d.IOsPerOperation = new(d.IOPS / rate / float64(p.Parameters.Batch))
			}
			if s.Power != nil && s.Power.Active != nil && *s.Power.Active > 0 {
				d.IOPSPerWatt = new(d.Total() / *s.Power.Active)
			}
			s.Conditions = append(s.Conditions, conditions(*d)...)
		}
	}
	s.Sections = append(p.sections(*s), trend(*s, series, counters)...)
	return nil
}

// conditions are what the published reports compare besides.
func conditions(d monitor.Storage) []result.Condition {
	all := []result.Condition{
		{Name: result.TotalIOPS, Value: d.Total(), Unit: "a second"},
		{Name: result.Throughput, Value: (d.ReadBytes + d.WrittenBytes) / (1 << 20), Unit: "a second"},
	}
	if d.IOPSPerWatt != nil {
		all = append(all, result.Condition{Name: result.TotalIOPSPerWatt, Value: *d.IOPSPerWatt})
	}
	return all
}

func (p *Plan) sections(s result.Summary) []result.Section {
	all := []result.Section{sizing(s), p.parameters(s), databases(s), volumes(s)}
	if len(s.Targets) > 1 && p.Targets[0].Engine.SharesLog() {
		all[0].Notes = append(all[0].Notes, "The databases of a server share a log here, which Exchange's do not.")
	}
	if t := databaseIO(s); len(t.Rows) > 0 {
		all = append(all, t)
	}
	return all
}

func decimals(f float64, n int) string { return strconv.FormatFloat(f, 'f', n, 64) }

// sizing is Jetstress's "Database Sizing and Throughput".
func sizing(s result.Summary) result.Section {
	m, d := s.Mailbox, s.Storage
	t := result.Section{Title: "Database sizing and throughput", Notes: []string{disclaimer}, Head: []string{"what", "value"}, Words: true}
	add := func(name, value string) { t.Rows = append(t.Rows, []string{name, value}) }
	if d == nil {
		t.Notes = append(t.Notes, "Nobody counted the I/Os of the drives that hold data and log, so there are no IOPS: run ds2 on the database machine, or name its exporter by --exporter and these drives by --devices data=nvme1n1,log=nvme2n1.")
	} else {
		add("achieved I/O per second (database reads and writes)", decimals(d.IOPS, 3))
		if m.Target > 0 {
			add("target I/O per second", decimals(m.Target, 3))
			add("achieved of target", decimals(100*d.IOPS/m.Target, 1)+" %")
		}
		if p := s.Pace; p != nil {
			add("transactions offered a second", decimals(p.Rate, 3))
			if p.Settled {
				t.Notes = append(t.Notes, fmt.Sprintf("The rate was found in the warm-up by %d samples of %g s, the last four within 2 %% of the target, and then kept.", p.Samples, p.Length))
			}
		}
		add("the same counted in pages of 8 KB", decimals(d.PageIOPS, 3))
		add("total I/O per second, with log writes", decimals(d.Total(), 3))
		if d.IOsPerOperation != nil {
			add("database I/Os an operation", decimals(*d.IOsPerOperation, 3))
		}
		if d.Writes > 0 {
			add("database reads : writes", decimals(d.Reads/d.Writes, 3))
		}
		if d.LogWrites > 0 {
			add("database I/Os : log writes", decimals(d.IOPS/d.LogWrites, 2))
		}
		if d.LogBytes != nil {
			add("bytes a log write", decimals(*d.LogBytes, 0))
		}
		add("MiB read and written a second", decimals(d.ReadBytes/(1<<20), 3)+" and "+decimals(d.WrittenBytes/(1<<20), 3))
		if d.IOPSPerWatt != nil {
			add("total IOPS a watt", decimals(*d.IOPSPerWatt, 2))
		}
		if len(s.Scrub) > 0 {
			add("background scan, taken out: reads and MB a second", decimals(d.ScrubReads, 3)+" and "+decimals(d.ScrubReadBytes/1e6, 3))
		}
		if len(s.Copies) > 0 {
			add("log read for copies, MB a second", decimals(d.LogRead/1e6, 3))
		}
		if d.Shared {
			t.Notes = append(t.Notes, "One drive holds data and log: the writes of the log are those that the server counts, and its latencies are those of the drive as a whole.")
		}
	}
	add("mailboxes of each database", fmt.Sprint(m.Mailboxes))
	add("mailbox size in MB", decimals(float64(m.MailboxBytes)/(1<<20), 0))
	add("initial database size in bytes", numbersText(m.BytesBefore))
	add("final database size in bytes", numbersText(m.BytesAfter))
	return t
}

func numbersText(all []int64) string {
	if len(all) == 0 {
		return "unknown"
	}
	texts := make([]string, len(all))
	for i, n := range all {
		texts[i] = fmt.Sprint(n)
	}
	return strings.Join(texts, ", ")
}

// parameters is Jetstress's "System Parameters".
func (p *Plan) parameters(s result.Summary) result.Section {
	m := s.Mailbox
	t := result.Section{Title: "System parameters", Head: []string{"what", "value"}, Words: true}
	for _, row := range [][2]string{
		{"users of each database", fmt.Sprint(s.Threads)},
		{"profile", m.Profile},
		{"insert operations", fmt.Sprintf("%d %%", m.Insert)},
		{"delete operations", fmt.Sprintf("%d %%", m.Delete)},
		{"replace operations", fmt.Sprintf("%d %%", m.Replace)},
		{"read operations", fmt.Sprintf("%d %%", m.Read)},
		{"lazy commits", fmt.Sprintf("%d %%", m.Lazy)},
		{"operations a transaction", fmt.Sprint(m.Batch)},
	} {
		t.Rows = append(t.Rows, row[:])
	}
	for i, server := range s.Servers[:min(len(s.Servers), len(p.Targets))] {
		name := "cache of the operating system"
		if len(s.Targets) > 1 {
			name += ", " + s.Targets[i]
		}
		t.Rows = append(t.Rows, []string{name, systemCache(s, server, p.Targets[i].Engine)})
	}
	if w := s.Warm; w != nil {
		t.Rows = append(t.Rows, []string{"measuring began", warmed(*w)})
	}
	return t
}

// systemCache says what keeps the operating system's cache from holding the database.
func systemCache(s result.Summary, server monitor.Server, engine Engine) string {
	if direct := engine.Direct(server.Settings); direct != "" {
		return "kept out by direct I/O: " + direct
	}
	memory, by := int64(0), "nobody knows how much memory the server may use"
	switch c := server.Container; {
	case c != nil && c.MemoryBytes > 0:
		memory, by = c.MemoryBytes, fmt.Sprintf("held to %d MiB, with all memory of the server, by its control group", c.MemoryBytes>>20)
	case s.Machine != nil && s.Machine.MemoryBytes > 0:
		memory, by = s.Machine.MemoryBytes, fmt.Sprintf("not kept out: the machine has %d MiB of memory", s.Machine.MemoryBytes>>20)
	}
	if all := s.Mailbox.BytesBefore; memory > 0 && len(all) > 0 {
		sum := int64(0)
		for _, bytes := range all {
			sum += bytes
		}
		by += fmt.Sprintf(", and the databases took %d MiB", sum>>20)
	}
	return by
}

// warmed says in what state of the store measuring began.
func warmed(w result.Warm) string {
	all := []string{fmt.Sprintf("%.0f s after the warm-up", w.Waited)}
	if w.Buffers != nil {
		text := fmt.Sprintf("with %.0f %% of the buffers in use", 100**w.Buffers)
		if w.Estimated {
			text += ", by the pages that the server had read"
		}
		if w.Fits {
			text += ", which hold the whole database"
		}
		all = append(all, text)
	}
	switch {
	case w.Checkpoint:
		all = append(all, "after a checkpoint")
	case w.Uncounted:
		all = append(all, "the server counting no checkpoints")
	default:
		all = append(all, "before any checkpoint")
	}
	if w.Slope != nil {
		all = append(all, fmt.Sprintf("the read latency changing by %.2g ms a second", 1000**w.Slope))
	} else {
		all = append(all, "with hardly a read of the drives")
	}
	if w.Reached {
		all = append(all, fmt.Sprintf("all of it seen at %.0f s", w.At))
	} else {
		all = append(all, "since it had waited as long as it might")
	}
	return strings.Join(all, "; ")
}

// databases has a row for each database.
func databases(s result.Summary) result.Section {
	t := result.Section{Title: "Databases, over the whole run", Head: []string{"database", "reads", "inserts", "replaces", "deletes", "read ms", "insert ms", "replace ms", "delete ms", "records before", "after"}}
	for i, target := range s.ByTarget {
		counts, times := []string{}, []string{}
		for _, o := range operations[:Batch] {
			l, ok := target.Latency[o.Name]
			counts = append(counts, fmt.Sprint(l.Count))
			if times = append(times, "–"); ok {
				times[len(times)-1] = decimals(l.Mean, 2)
			}
		}
		before, after := "–", "–"
		if m := s.Mailbox; i < len(m.RecordsBefore) && i < len(m.RecordsAfter) {
			before, after = fmt.Sprint(m.RecordsBefore[i]), fmt.Sprint(m.RecordsAfter[i])
		}
		t.Rows = append(t.Rows, append(append(append([]string{target.Target}, counts...), times...), before, after))
	}
	return t
}

// volumes is Jetstress's "Disk Subsystem Performance", with the maxima that its verdict takes.
func volumes(s result.Summary) result.Section {
	t := result.Section{Title: "Volumes, in the first window; maxima over means of 15 s", Head: append([]string{"volume", "holds"}, ioHead...)}
	if s.Storage == nil {
		return t
	}
	for _, v := range s.Storage.Volumes {
		var roles []string
		for _, r := range v.Roles {
			roles = append(roles, string(r))
		}
		if len(roles) == 0 {
			roles = []string{"unknown"}
		}
		t.Rows = append(t.Rows, append([]string{v.Name, strings.Join(roles, ", ")}, ioRow(v.FileIO)...))
	}
	return t
}

// databaseIO is what Jetstress reports of each database and its log from 2010 on, where servers count it.
func databaseIO(s result.Summary) result.Section {
	t := result.Section{Title: "I/O of the databases' files as their servers counted it, in the first window; maxima over means of 15 s", Head: append([]string{"database", "files"}, ioHead...)}
	if s.Storage == nil {
		return t
	}
	for _, d := range s.Storage.Databases {
		t.Rows = append(t.Rows, append([]string{d.Database, "data"}, ioRow(d.Data)...), append([]string{d.Database, "log"}, ioRow(d.Log)...))
	}
	return t
}

var ioHead = []string{"read ms", "max", "write ms", "max", "reads/s", "writes/s", "bytes/read", "bytes/write"}

func ioRow(io monitor.FileIO) []string {
	ms := func(seconds *float64) string {
		if seconds == nil {
			return "–"
		}
		return decimals(*seconds*1000, 3)
	}
	each := func(bytes, ios float64) string {
		if !(ios > 0) {
			return "–"
		}
		return decimals(math.Round(bytes/ios), 0)
	}
	return []string{ms(io.ReadMean), ms(io.ReadMax), ms(io.WriteMean), ms(io.WriteMax),
		decimals(io.Reads, 3), decimals(io.Writes, 3), each(io.ReadBytes, io.Reads), each(io.WrittenBytes, io.Writes)}
}
