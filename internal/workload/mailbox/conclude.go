package mailbox

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

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
		r.storage, err = r.drivesDuring(in.At(w.From), in.At(w.To)).Storage()
		if err != nil {
			r.unknown = err.Error()
		} else {
			r.addFigures(c)
		}
	}
	c.Sections = append(r.makeSections(), r.describeTrend(c.Windows)...)
	return nil
}

// drivesDuring is what the counters say of the drives in a time.
func (r run) drivesDuring(from, to time.Time) sampling.Drives {
	return sampling.Drives{Counters: r.Counters, Machine: r.Machine, From: from, To: to}
}

// addFigures adds the achieved IOPS, and what the published reports compare besides.
func (r run) addFigures(c *result.Conclusion) {
	d := r.storage
	c.Storage = d
	c.Headline = result.NewHeadline(&result.Figure{Unit: result.IOPS, Value: d.IOPS})
	w := c.Windows[0]
	if rate := float64(w.Counts.Orders) / (w.To - w.From); rate > 0 {
		d.IOsPerOperation = new(d.IOPS / rate)
	}
	d.IOPSPerWatt = c.Power.PerWatt(d.Total())
	add := func(name string, value float64, unit string) {
		c.Conditions = append(c.Conditions, result.Condition{Name: name, Value: value, Unit: unit})
	}
	const rate = "a second"
	add(result.TotalIOPS, d.Total(), rate)
	add(result.Throughput, (d.ReadBytes+d.WrittenBytes)/(1<<20), rate)
	if mailboxes := float64(r.Mailboxes * len(r.Targets)); mailboxes > 0 {
		add(result.Mailboxes, mailboxes, "")
		add(result.IOPSPerMailbox, d.IOPS/mailboxes, rate)
	}
	if d.IOPSPerWatt != nil {
		add(result.TotalIOPSPerWatt, *d.IOPSPerWatt, "")
	}
}

func (r run) makeSections() []result.Section {
	all := []result.Section{
		r.describeSizing(), r.parametersSection(), r.describeDatabases(), r.describeVolumes(),
	}
	if len(r.Targets) > 1 && r.engine.SharesLog() {
		all[0].Notes = append(
			all[0].Notes,
			"Here the databases of a server share one log; those of Exchange do not.",
		)
	}
	if r.storage != nil && len(r.storage.Databases) > 0 {
		all = append(all, r.databaseIO())
	}
	return all
}

// formatDecimals is a figure with n decimals; a dash where it is not known, or of no I/O.
func formatDecimals(f float64, n int) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return "–"
	}
	return strconv.FormatFloat(f, 'f', n, 64)
}

// formatMilliseconds is a time of seconds with three decimals; a dash where it is not known.
func formatMilliseconds(seconds *float64) string { return formatDecimals(1000*valueOf(seconds), 3) }

func valueOf(f *float64) float64 { return *cmp.Or(f, new(math.NaN())) }

// What is said of where the figures of the drives come from.
const (
	uncounted = "There are no IOPS: %s."
	oneDrive  = "One drive holds data and log: the writes of the log are those that the server counts, " +
		"and its latencies are those of the drive as a whole."
	paced = "The rate was corrected in the warm-up by %d samples of %g s, until four " +
		"averages of them in a row agreed within 2 %%, and was then kept."
)

// values is a section of names and values.
type values struct{ result.Section }

func newValues(title string, notes ...string) values {
	head := []string{"what", "value"}
	return values{result.Section{Title: title, Notes: notes, Head: head, Words: true}}
}

func (v *values) add(name, value string) { v.Rows = append(v.Rows, []string{name, value}) }

func (v *values) note(format string, args ...any) {
	v.Notes = append(v.Notes, fmt.Sprintf(format, args...))
}

// describeSizing is Jetstress's "Database Sizing and Throughput".
func (r run) describeSizing() result.Section {
	t := newValues("Database sizing and throughput", disclaimer)
	if d := r.storage; d == nil {
		t.note(uncounted, r.unknown)
	} else {
		r.addThroughput(&t, *d)
	}
	t.add("mailboxes of each database", fmt.Sprint(r.Mailboxes))
	t.add("mailbox size in MB", formatDecimals(float64(r.MailboxBytes)/(1<<20), 0))
	for _, volume := range r.Space {
		t.add("size and use of a volume", volume.Text())
	}
	t.add("initial database size in bytes", bytesText(r.BytesBefore))
	t.add("final database size in bytes", bytesText(r.BytesAfter))
	return t.Section
}

// addThroughput adds what the drives did.
func (r run) addThroughput(t *values, d sampling.Storage) {
	add := func(name string, value float64, places int) {
		t.add(name, formatDecimals(value, places))
	}
	addKnown := func(name string, value *float64, places int) {
		if value != nil {
			add(name, *value, places)
		}
	}
	add("achieved transactional I/O per second (database reads and writes)", d.IOPS, 3)
	add("maintenance I/O per second, not included above (vacuums and background scans)",
		d.Maintenance.IOPS(), 3)
	if r.Target > 0 {
		add("target I/O per second", r.Target, 3)
		t.add("achieved of target", formatDecimals(100*d.IOPS/r.Target, 1)+" %")
	}
	if p := r.Pace; p != nil {
		add("transactions offered a second", p.Rate, 3)
		if p.Reached {
			t.note(paced, p.Samples, p.Length)
		}
	}
	if mailboxes := r.Mailboxes * len(r.Targets); mailboxes > 0 {
		add("achieved I/O per second and mailbox", d.IOPS/float64(mailboxes), 3)
	}
	add("the same counted in pages of 8 KB", d.PageIOPS, 3)
	add("total I/O per second, with log writes", d.Total(), 3)
	addKnown("database I/Os per operation", d.IOsPerOperation, 3)
	add("database reads : writes", d.Reads/d.Writes, 3)
	add("database I/Os : log writes", d.IOPS/d.LogWrites, 2)
	addKnown("bytes a log write", d.LogBytes, 0)
	addKnown("log syncs a second, as the server counts them", d.LogSyncs, 3)
	t.add("MiB read and written a second",
		formatDecimals(d.ReadBytes/(1<<20), 3)+" and "+formatDecimals(d.WrittenBytes/(1<<20), 3))
	addKnown("total IOPS a watt", d.IOPSPerWatt, 2)
	if d.Shared {
		t.note(oneDrive)
	}
}

func bytesText(all []int64) string {
	texts := make([]string, len(all))
	for i, n := range all {
		if texts[i] = fmt.Sprint(n); n == unknownBytes {
			texts[i] = "unknown"
		}
	}
	return cmp.Or(strings.Join(texts, ", "), "unknown")
}

// parametersSection is Jetstress's "System Parameters".
func (r run) parametersSection() result.Section {
	t := newValues("System parameters")
	t.add("users of each database", fmt.Sprint(r.Threads))
	for _, said := range r.InWords {
		t.add(said.Name, said.Value)
	}
	for i, server := range r.Servers {
		name := "cache of the operating system"
		if len(r.Targets) > 1 {
			name += ", " + r.Targets[i]
		}
		t.add(name, r.systemCache(server))
	}
	if w := r.Warm; w != nil {
		t.add("measuring began", warmText(*w))
	}
	return t.Section
}

// systemCache says what keeps the operating system's cache from holding the database.
func (r run) systemCache(server topology.Server) string {
	if direct := r.engine.DescribeDirectIO(server.Settings); direct != "" {
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

// warmText says in what state of the store measuring began.
func warmText(w result.Warm) string {
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

func (r run) describeDatabases() result.Section {
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
	seen := r.drivesDuring(r.Start, r.Happened.End)
	count := func(records []int64, target int) string {
		if target >= len(records) {
			return "–"
		}
		return fmt.Sprint(records[target])
	}
	for i, target := range r.ByTarget {
		row := []string{target.Target}
		times := []string{}
		for _, o := range operations {
			l, ok := target.Latency[o.Name]
			if !ok {
				l.Mean = math.NaN()
			}
			row = append(row, fmt.Sprint(l.Count))
			times = append(times, formatDecimals(l.Mean, 2))
		}
		pages, seconds := seen.PageReads(target.Target)
		t.Rows = append(t.Rows, slices.Concat(row, times, []string{
			count(r.RecordsBefore, i), count(r.RecordsAfter, i),
			formatDecimals(pages, 3), formatMilliseconds(&seconds),
		}))
	}
	return t
}

// describeVolumes is Jetstress's "Disk Subsystem Performance", with the maxima that its verdict
// takes.
func (r run) describeVolumes() result.Section {
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
	addServer := func(role topology.Role, times *sampling.Times) {
		if times != nil {
			head := []string{"as the servers timed it", string(role)}
			none := slices.Repeat([]string{"–"}, 6)
			t.Rows = append(t.Rows, slices.Concat(head, timeCells(*times), none))
		}
	}
	addServer(topology.Data, r.storage.ServerData)
	addServer(topology.Log, r.storage.ServerLog)
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
	return slices.Concat(head, timeCells(io.Times), []string{
		formatDecimals(io.Reads, 3),
		formatDecimals(io.Writes, 3),
		formatDecimals(io.ReadBytes/io.Reads, 0),
		formatDecimals(io.WrittenBytes/io.Writes, 0),
		formatDecimals(valueOf(io.Flushes), 3),
		formatMilliseconds(io.FlushMean),
	})
}

func timeCells(t sampling.Times) []string {
	return []string{
		formatMilliseconds(t.ReadMean), formatMilliseconds(t.ReadMax),
		formatMilliseconds(t.WriteMean), formatMilliseconds(t.WriteMax),
	}
}
