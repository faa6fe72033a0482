package mailbox

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"ds2/internal/conclude"
	"ds2/internal/result"
	"ds2/internal/sampling"
	"ds2/internal/topology"
)

// disclaimer stands above the result of every run.
const disclaimer = "This is the mailbox workload of ds2: it has the I/O profile and the method of Jetstress, " +
	"not its engine, and is no Jetstress or ESRP result."

// run is what a run is concluded from, with the workload's part of it.
type run struct {
	conclude.Input
	parametersRecord
	stateRecord
	storage *sampling.Storage // of the first window; nil: the I/Os are not known
	unknown string            // why
	engine  Engine
}

// Conclude adds the achieved IOPS and the report's sections, in the order of Jetstress's report.
func (w Workload) Conclude(in conclude.Input, c *result.Conclusion) error {
	engine, known := w.Engines[in.Engine]
	if !known {
		return fmt.Errorf("conclude the run: workload %s does not run on %s", Name, in.Engine)
	}
	r := run{Input: in, engine: engine, unknown: "no window was measured"}
	err := errors.Join(
		result.ReadBlock(in.Spec.Own, &r.parametersRecord),
		result.ReadBlock(in.Found, &r.stateRecord),
	)
	if err != nil {
		return err
	}
	if len(c.Windows) > 0 {
		w := c.Windows[0]
		seen := sampling.Drives{
			Counters: in.Counters,
			Machine:  in.Machine,
			From:     in.At(w.From),
			To:       in.At(w.To),
		}
		d, err := seen.Storage()
		if err != nil {
			r.unknown = err.Error()
		} else {
			c.Storage = d
			c.Headline = result.NewHeadline(&result.Figure{Unit: result.IOPS, Value: d.IOPS})
			if rate := float64(w.Counts.Orders) / (w.To - w.From); rate > 0 {
				d.IOsPerOperation = new(d.IOPS / rate)
			}
			d.IOPSPerWatt = c.Power.PerWatt(d.Total())
			mib := (d.ReadBytes + d.WrittenBytes) / (1 << 20)
			c.Conditions = append(c.Conditions, // what the published reports compare besides
				result.Condition{Name: result.TotalIOPS, Value: d.Total(), Unit: "a second"},
				result.Condition{Name: result.Throughput, Value: mib, Unit: "a second"})
			if mailboxes := float64(r.Mailboxes * len(in.Targets)); mailboxes > 0 {
				c.Conditions = append(c.Conditions,
					result.Condition{Name: result.Mailboxes, Value: mailboxes},
					result.Condition{
						Name: result.IOPSPerMailbox, Value: d.IOPS / mailboxes, Unit: "a second",
					})
			}
			if watt := d.IOPSPerWatt; watt != nil {
				c.Conditions = append(
					c.Conditions,
					result.Condition{Name: result.TotalIOPSPerWatt, Value: *watt},
				)
			}
		}
	}
	r.storage = c.Storage
	c.Sections = append(r.sections(), r.trend(c.Windows)...)
	return nil
}

func (r run) sections() []result.Section {
	all := []result.Section{r.sizing(), r.parameters(), r.databases(), r.volumes()}
	if len(r.Targets) > 1 && r.engine.SharesLog() {
		all[0].Notes = append(
			all[0].Notes,
			"The databases of a server share a log here, which Exchange's do not.",
		)
	}
	if r.storage != nil && len(r.storage.Databases) > 0 {
		all = append(all, r.databaseIO())
	}
	return all
}

func decimals(f float64, n int) string { return strconv.FormatFloat(f, 'f', n, 64) }

// decimalsOr is a dash where unknown.
func decimalsOr(known bool, f float64, n int) string {
	if !known {
		return "–"
	}
	return decimals(f, n)
}

// What is said of where the figures of the drives come from.
const (
	uncounted = "There are no IOPS: %s."
	oneDrive  = "One drive holds data and log: the writes of the log are those that the server counts, " +
		"and its latencies are those of the drive as a whole."
	paced = "The rate was found in the warm-up by %d samples of %g s, whose average asked for it, within 2 %%, four " +
		"times in a row, and then kept."
)

func whatAndValue(title string, notes ...string) result.Section {
	return result.Section{Title: title, Notes: notes, Head: []string{"what", "value"}, Words: true}
}

// sizing is Jetstress's "Database Sizing and Throughput".
func (r run) sizing() result.Section {
	t := whatAndValue("Database sizing and throughput", disclaimer)
	add := func(name string, values ...string) {
		t.Rows = append(t.Rows, []string{name, strings.Join(values, " and ")})
	}
	addKnown := func(name string, value *float64, places int) {
		if value != nil {
			add(name, decimals(*value, places))
		}
	}
	if d := r.storage; d == nil {
		t.Notes = append(t.Notes, fmt.Sprintf(uncounted, r.unknown))
	} else {
		add(
			"achieved transactional I/O per second (database reads and writes)",
			decimals(d.IOPS, 3),
		)
		maintenance := d.Maintenance.IOPS()
		add("maintenance I/O per second, not included above (vacuums and background scans)",
			decimalsOr(maintenance >= 0, maintenance, 3))
		if r.Target > 0 {
			add("target I/O per second", decimals(r.Target, 3))
			add("achieved of target", decimals(100*d.IOPS/r.Target, 1)+" %")
		}
		if p := r.Pace; p != nil {
			add("transactions offered a second", decimals(p.Rate, 3))
			if p.Reached {
				t.Notes = append(t.Notes, fmt.Sprintf(paced, p.Samples, p.Length))
			}
		}
		if mailboxes := r.Mailboxes * len(r.Targets); mailboxes > 0 {
			add("achieved I/O per second and mailbox", decimals(d.IOPS/float64(mailboxes), 3))
		}
		add("the same counted in pages of 8 KB", decimals(d.PageIOPS, 3))
		add("total I/O per second, with log writes", decimals(d.Total(), 3))
		addKnown("database I/Os an operation", d.IOsPerOperation, 3)
		add("database reads : writes", decimalsOr(d.Writes > 0, d.Reads/d.Writes, 3))
		add("database I/Os : log writes", decimalsOr(d.LogWrites > 0, d.IOPS/d.LogWrites, 2))
		addKnown("bytes a log write", d.LogBytes, 0)
		addKnown("log syncs a second, as the server counts them", d.LogSyncs, 3)
		add(
			"MiB read and written a second",
			decimals(d.ReadBytes/(1<<20), 3),
			decimals(d.WrittenBytes/(1<<20), 3),
		)
		addKnown("total IOPS a watt", d.IOPSPerWatt, 2)
		if d.Shared {
			t.Notes = append(t.Notes, oneDrive)
		}
	}
	add("mailboxes of each database", fmt.Sprint(r.Mailboxes))
	add("mailbox size in MB", decimals(float64(r.MailboxBytes)/(1<<20), 0))
	for _, volume := range r.Space {
		add("size and use of a volume", volume.Text())
	}
	add("initial database size in bytes", numbersText(r.BytesBefore))
	add("final database size in bytes", numbersText(r.BytesAfter))
	return t
}

func numbersText(all []int64) string {
	texts := make([]string, len(all))
	for i, n := range all {
		if texts[i] = fmt.Sprint(n); n == unknownBytes {
			texts[i] = "unknown"
		}
	}
	return cmp.Or(strings.Join(texts, ", "), "unknown")
}

// parameters is Jetstress's "System Parameters".
func (r run) parameters() result.Section {
	t := whatAndValue("System parameters")
	t.Rows = [][]string{{"users of each database", fmt.Sprint(r.Threads)}}
	for _, said := range r.InWords {
		t.Rows = append(t.Rows, []string{said.Name, said.Value})
	}
	for i, server := range r.Servers {
		name := "cache of the operating system"
		if len(r.Targets) > 1 {
			name += ", " + r.Targets[i]
		}
		t.Rows = append(t.Rows, []string{name, r.systemCache(server)})
	}
	if w := r.Warm; w != nil {
		t.Rows = append(t.Rows, []string{"measuring began", warmed(*w)})
	}
	return t
}

// systemCache says what keeps the operating system's cache from holding the database.
func (r run) systemCache(server topology.Server) string {
	if direct := r.engine.Direct(server.Settings); direct != "" {
		return "kept out by direct I/O: " + direct
	}
	var by string
	switch c := server.Container; {
	case c != nil && c.MemoryBytes > 0:
		by = fmt.Sprintf(
			"held to %d MiB, with all memory of the server, by its control group",
			c.MemoryBytes>>20,
		)
	case r.Machine != nil && r.Machine.MemoryBytes > 0:
		by = fmt.Sprintf(
			"not kept out: the machine has %d MiB of memory",
			r.Machine.MemoryBytes>>20,
		)
	default:
		return "the memory that the server may use is unknown"
	}
	if len(r.BytesBefore) > 0 {
		sum := int64(0)
		for _, bytes := range r.BytesBefore {
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
		if w.Estimated != "" {
			text += ", by the pages that the server had read (" + w.Estimated + ")"
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
	reads := "with almost no reads from the drives"
	end := "as the longest wait was over"
	if w.Slope != nil {
		reads = fmt.Sprintf("the read latency changing by %.2g ms a second", 1000**w.Slope)
	}
	if w.Reached {
		end = fmt.Sprintf("all of this at %.0f s", w.At)
	}
	return strings.Join(append(all, reads, end), "; ")
}

func (r run) databases() result.Section {
	t := result.Section{Title: "Databases, over the whole run", Head: []string{
		"database",
		"reads",
		"inserts",
		"replaces",
		"deletes",
		"read ms",
		"insert ms",
		"replace ms",
		"delete ms",
		"records before",
		"after",
		"pages read a second",
		"ms",
	}}
	seen := sampling.Drives{
		Counters: r.Counters,
		Machine:  r.Machine,
		From:     r.Start,
		To:       r.Happened.End,
	}
	for i, target := range r.ByTarget {
		row := []string{target.Target}
		times := []string{}
		for _, o := range operations {
			l, ok := target.Latency[o.Name]
			row = append(row, fmt.Sprint(l.Count))
			times = append(times, decimalsOr(ok, l.Mean, 2))
		}
		before := "–"
		after := "–"
		if i < len(r.RecordsBefore) && i < len(r.RecordsAfter) {
			before = fmt.Sprint(r.RecordsBefore[i])
			after = fmt.Sprint(r.RecordsAfter[i])
		}
		pages, seconds := seen.PageReads(target.Target)
		t.Rows = append(t.Rows, slices.Concat(row, times, []string{
			before, after,
			decimalsOr(pages >= 0, pages, 3), decimalsOr(seconds >= 0, 1000*seconds, 3),
		}))
	}
	return t
}

// volumes is Jetstress's "Disk Subsystem Performance", with the maxima that its verdict takes.
func (r run) volumes() result.Section {
	t := ioSection("Volumes, in the first window; maxima over means of 15 s", "volume", "holds")
	if r.storage == nil {
		return t
	}
	for _, v := range r.storage.Volumes {
		var roles []string
		for _, role := range v.Roles {
			roles = append(roles, string(role))
		}
		holds := cmp.Or(strings.Join(roles, ", "), "unknown")
		t.Rows = append(t.Rows, ioRow(v.FileIO, v.Name, holds))
	}
	for _, role := range []struct {
		name  topology.Role
		times *sampling.Times
	}{{topology.Data, r.storage.ServerData}, {topology.Log, r.storage.ServerLog}} {
		if role.times != nil {
			row := append(
				[]string{"as the servers timed it", string(role.name)},
				timeCells(*role.times)...)
			t.Rows = append(t.Rows, append(row, "–", "–", "–", "–", "–", "–"))
		}
	}
	return t
}

// databaseIO is what Jetstress reports of each database and its log from 2010 on, where servers
// count it.
func (r run) databaseIO() result.Section {
	const counted = "I/O of the databases' files as their servers counted it"
	t := ioSection(counted+", in the first window; maxima over means of 15 s", "database", "files")
	for _, d := range r.storage.Databases {
		t.Rows = append(t.Rows, ioRow(d.Data, d.Database, "data"), ioRow(d.Log, d.Database, "log"))
	}
	return t
}

// ioSection is a section of ioRows, which begin with the columns of a head.
func ioSection(title string, head ...string) result.Section {
	ios := []string{
		"read ms", "max", "write ms", "max", "reads/s", "writes/s", "bytes/read", "bytes/write",
		"flushes/s", "flush ms",
	}
	return result.Section{Title: title, Head: append(head, ios...)}
}

func ioRow(io sampling.FileIO, head ...string) []string {
	each := func(bytes, ios float64) string {
		return decimalsOr(ios > 0, math.Round(bytes/ios), 0)
	}
	return slices.Concat(head, timeCells(io.Times), []string{
		decimals(io.Reads, 3),
		decimals(io.Writes, 3),
		each(io.ReadBytes, io.Reads),
		each(io.WrittenBytes, io.Writes),
		scaled(io.Flushes, 1),
		scaled(io.FlushMean, 1000),
	})
}

func timeCells(t sampling.Times) []string {
	const ms = 1000
	return []string{
		scaled(t.ReadMean, ms),
		scaled(t.ReadMax, ms),
		scaled(t.WriteMean, ms),
		scaled(t.WriteMax, ms),
	}
}

func scaled(f *float64, scale float64) string {
	return decimalsOr(f != nil, scale**cmp.Or(f, new(0.)), 3)
}
