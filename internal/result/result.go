// Package result is the record of a run on disk: what was asked for, what happened second by
// second, and the figures taken from it. It knows how a record is written and read, not what a
// figure means (package measure) or how it is drawn (package report).
//
// A record is a directory, by default ds2-results/<start in UTC>-<run id>:
//
//	summary.json       the Summary, in schema version Schema; written when the run starts, with
//	                   status "running", and again when it ends, each time whole
//	samples.csv.gz     one line a second: measure.Sample by the names of its tags
//	histograms.csv.gz  one line an interval and series: from_s, to_s, series, the exact sum of its
//	                   response times and an HdrHistogram of microseconds in the compressed V2
//	                   encoding
//	slowest.csv.gz     one line for each of the measure.MostSlow slowest orders of each interval,
//	                   with the operation that took the time
//	host.csv.gz        one line a second of the machine's and the database's counters (package
//	                   monitor): t_s, negative before the first orders, and the columns that the
//	                   machine has
//	run.log            what the driver logged; run.log.1 is what stood before, when that was too
//	                   much
//
// The CSV files are written as the run goes; nothing of them stays in memory.
//
// Times are in seconds from the moment the first orders start. Intervals are at most IntervalLength
// long and end where a phase or a window given before the run ends. Histograms merge exactly, so
// the figures of any other window can be computed from a record, response times to the nearest
// interval; a run's own figures are computed from its record too, so that nothing of it has to stay
// in memory. A record of an hour takes less than 1 MB. If ds2 crashes, the record holds all until
// at most one interval before, under the status "running".
package result

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"ds2/internal/measure"
	"ds2/internal/monitor"
	"ds2/internal/sampling"
	"ds2/internal/store"
	"ds2/internal/topology"
)

// Schema is the version of the record that is written; see lift for those that are read.
const Schema = 4

// IntervalLength is how long the histograms of a record are gathered before they are written: short
// enough that a crash loses less than a minute, long enough for small records, and a divisor of the
// storage report's window, 1,000 s to 1,200 s.
const IntervalLength = 50 * time.Second

// The files of a record.
const (
	SummaryFile    = "summary.json"
	SamplesFile    = "samples.csv.gz"
	HistogramsFile = "histograms.csv.gz"
	SlowestFile    = "slowest.csv.gz"
	HostFile       = "host.csv.gz"
	LogFile        = "run.log"
	ReportFile     = "report.html" // as package report draws it
)

// Status is how a run ended.
type Status string

// The statuses. A record that says running and is no longer written to is one of a crashed ds2.
const (
	Running     Status = "running"
	Done        Status = "done"
	Failed      Status = "failed"
	Interrupted Status = "interrupted"
	Aborted     Status = "aborted" // because a limit had failed for too long, or no room was left
)

// CameToEnd says that a run is over by itself or in order, so that it can be judged, and what
// follows it made up for.
func (s Status) CameToEnd() bool { return s == Done || s == Aborted }

// Summary is summary.json: what was asked for, what happened, and what that comes to.
type Summary struct {
	Head
	Spec `json:"spec"`
	Happened
	Conclusion
	// of the other files, by name: SHA-256; absent while the run goes on
	Sums     map[string]string `json:"sums,omitempty"`
	Findings []Finding         `json:"findings,omitempty"` // all, made by package conclude
}

// Happened is what a run did, and what was seen beside it: all that a conclusion is drawn from,
// with the record's other files.
type Happened struct {
	Status Status `json:"status"`
	Error  string `json:"error,omitempty"` // why the run failed
	// when the first orders started; before that, when ds2 did
	Start time.Time `json:"start"`
	End   time.Time `json:"end,omitzero"`

	// of the whole run, from the first orders to the end of the drain
	Counts   measure.Counts         `json:"counts"`
	Errors   []measure.FailureCount `json:"errors"`
	Retries  []measure.FailureCount `json:"retries"`
	ByTarget []Target               `json:"by_target"`

	// Before and After are the marks of each target, in the order of Targets, read while no users
	// ran.
	Before []Marks `json:"marks_before,omitempty"`
	After  []Marks `json:"marks_after,omitempty"`
	// what only the workload knows of its databases, before and after
	Found json.RawMessage `json:"found,omitempty"`
	Audit *Audit          `json:"audit,omitempty"`

	// Changes are what of servers and schema was not so for the whole run, or not as it had been
	// loaded.
	Changes []Change `json:"changes,omitempty"`

	// Checkpoints are those that the counters of the databases show, also before the first orders
	// and after the last.
	Checkpoints []sampling.Checkpoint `json:"checkpoints,omitempty"`

	// of each target, in the order of Targets
	DeepChecks []store.DeepCheck `json:"deep_checks,omitempty"`
	Events     []Event           `json:"events,omitempty"` // in the order of their begin

	// of the file systems that hold the databases, where ds2 sees them
	Space []Space `json:"space,omitempty"`

	// what the drives can do by themselves; absent: unknown
	Device *Device `json:"device,omitempty"`
	// under test; absent where nothing is known of it
	Machine  *topology.Machine `json:"machine,omitempty"`
	Local    bool              `json:"local,omitempty"`    // ds2 ran on it
	Servers  []topology.Server `json:"servers,omitempty"`  // in the order of Targets
	Cluster  *Cluster          `json:"cluster,omitempty"`  // absent: Kubernetes runs none of them
	Cautions []Finding         `json:"cautions,omitempty"` // known before the run
	// Noticed is what was seen beside the run and its record shows nowhere else.
	Noticed []Finding `json:"noticed,omitempty"`
	// of the drives that tell, over the whole run
	SMART []monitor.SMART `json:"smart,omitempty"`
	// last lines of the run's, where its workload's report has it
	Log []string `json:"log,omitempty"`

	Warm *Warm `json:"warm,omitempty"` // where the run waited for a state of the store
	Pace *Pace `json:"pace,omitempty"` // where the drives were to do a number of I/Os

	Scrub []Scrub `json:"scrub,omitempty"` // of each target, where the run was to have one
}

// At is a time of the run, in seconds since the first orders, on the clock.
func (h Happened) At(seconds float64) time.Time { return h.Start.Add(measure.Seconds(seconds)) }

// Change is one thing of a target's surroundings that changed.
type Change struct {
	Target string `json:"target"`
	When   string `json:"when"`
	What   string `json:"what"`
	Before string `json:"before,omitempty"` // empty: it was not there
	After  string `json:"after,omitempty"`  // empty: it is not there any more
}

// SinceLoad is when what a load made changed.
const SinceLoad = "since the load"

// Words say what changed: since the load an index, say, during the run a setting of the server.
func (c Change) Words() string {
	switch {
	case c.When != SinceLoad:
		return fmt.Sprintf("%s was %s before the run and %s after it, changed %s", c.What,
			c.show(c.Before), c.show(c.After), c.When)
	case c.Before == "":
		return fmt.Sprintf("%s was not there when the database was loaded (%s)", c.What, c.After)
	case c.After == "":
		return fmt.Sprintf("%s was there when the database was loaded, and is gone (%s)", c.What,
			c.Before)
	}
	return fmt.Sprintf("%s is %q, and was %q when the database was loaded", c.What, c.After,
		c.Before)
}

// IsOfServer says that another server answers since the change, as after a failover: no restart
// changes any of these.
func (c Change) IsOfServer() bool {
	return slices.Contains(
		[]string{"cluster", "timeline", "setting data_directory", "recovery"}, c.What)
}

// show is a value, or that there is none.
func (Change) show(value string) string {
	if value == "" {
		return "not there"
	}
	return strconv.Quote(value)
}

// CompareStates lists what differs between two states, in the order of names.
func CompareStates(before, after map[string]string) (changes []Change) {
	names := maps.Collect(maps.All(after)) // not nil
	maps.Copy(names, before)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if was, is := before[name], after[name]; was != is {
			changes = append(changes, Change{What: name, Before: was, After: is})
		}
	}
	return changes
}

// Conclusion is what a run comes to over some windows. It is made by package conclude, in one
// piece.
type Conclusion struct {
	Headline
	// CumulativeOPM is DS2's opm at the end of the run: the average since the end of the warm-up,
	// over CumulativeOf.
	CumulativeOPM *float64            `json:"opm_cumulative"`
	CumulativeOf  *measure.Average    `json:"opm_cumulative_of,omitempty"`
	Phases        []measure.PhaseSpan `json:"phases"`
	Windows       []measure.Window    `json:"windows"`

	// Shown is what the samples and counters show, apart from the figures below.
	Shown []Finding `json:"shown,omitempty"`

	// Of the first window: verdicts, what held the run back, what a cycle cost, and under which
	// conditions it was made.
	Limits       Verdicts      `json:"limits,omitempty"`
	Disturbances []Disturbance `json:"disturbances,omitempty"` // of the whole run
	// of the first window, the slowest first
	Slowest    []SlowOrder       `json:"slowest_orders,omitempty"`
	Power      *Power            `json:"power,omitempty"`
	Bottleneck *Bottleneck       `json:"bottleneck,omitempty"`
	Costs      *Costs            `json:"cost_per_order,omitempty"`
	Conditions []Condition       `json:"conditions,omitempty"`
	Storage    *sampling.Storage `json:"storage,omitempty"`  // where IOPS count
	Sections   []Section         `json:"sections,omitempty"` // of the report, made by the workload
}

// Command is how ds2 was called, without passwords.
type Command struct {
	Line  string            `json:"line"`
	Flags map[string]string `json:"flags"` // those of the command that have a value, given or not
}

// Condition is a figure of a run's surroundings that may explain why it differs from another.
type Condition struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit,omitempty"`
}

// Names of conditions that a report compares too. The limits are those that ds2 device measured.
const (
	FailedAttempts   = "failed attempts"
	ReadsOfDevices   = "reads of the devices"
	WritesOfDevices  = "writes of the devices"
	LimitOfReads     = "random reads that the devices can do"
	LimitOfLogWrites = "log writes that the devices can do"
	ReadLatency      = "read latency, slowest device"
	WriteLatency     = "write latency, slowest device"
	LogWriteLatency  = "log write latency, slowest device"
	ServerProcessors = "CPUs of the database"
)

// Names of conditions that runs judged by IOPS have, as the published reports compare them.
const (
	TotalIOPS        = "total IOPS, with the log's" // a second
	Throughput       = "MiB read and written"       // a second
	TotalIOPSPerWatt = "total IOPS per watt"
	Mailboxes        = "mailboxes"        // of all databases
	IOPSPerMailbox   = "IOPS per mailbox" // a second, of data
)

// Marks are the state of a database before or after a run, by the workload's own names, for its
// audit: the highest keys, above which lies what the run added, and sums by which it knows what
// else was changed. A run lowers none of them.
type Marks map[string]int64

// Target is what one of several targets did, over the whole run.
type Target struct {
	Target string `json:"target"`
	// average since the end of the warm-up, over OPMOf
	OPM     float64                    `json:"opm"`
	OPMOf   *measure.Average           `json:"opm_of,omitempty"`
	Counts  measure.Counts             `json:"counts"`
	Latency map[string]measure.Latency `json:"latency"`
}

// Audit is what the audit after the run found.
type Audit struct {
	// of the whole database, by ds2 verify; else of what the run wrote
	Whole  bool `json:"whole,omitempty"`
	Passed bool `json:"passed"`
	// why the audit came to no end; there are no checks then
	NotAudited string  `json:"not_audited,omitempty"`
	Checks     []Check `json:"checks"`
}

// Scope is what was audited, in words.
func (a Audit) Scope() string {
	if a.Whole {
		return "the whole database"
	}
	return "what this run wrote"
}

// Check is one question of an audit and its answer.
type Check struct {
	Target   string `json:"target"`
	Name     string `json:"name"`
	Passed   bool   `json:"passed"`
	Expected string `json:"expected"`
	Found    string `json:"found"`
}

// NewCheck is one with what was expected and found as text.
func NewCheck(target, name string, passed bool, expected, found any) Check {
	return Check{target, name, passed, fmt.Sprint(expected), fmt.Sprint(found)}
}

// Passed says whether all checks of an audit passed.
func Passed(checks []Check) bool {
	return !slices.ContainsFunc(checks, func(c Check) bool { return !c.Passed })
}

// Record is a record read from disk.
type Record struct {
	Dir string
	Summary
	Series measure.Series
	Host   sampling.Table
}

// Read reads a record, also that of a run that is still going or that crashed: its series then ends
// where the files do, and its counts are those of the series; its conclusion is for package
// conclude. The record of a run that ended is whole, to the checksums of its files, or Read refuses
// it: also where columns are missing, times do not rise or figures cannot have been measured. The
// error names the file. What is read is bounded, whoever wrote it.
func Read(dir string) (*Record, error) {
	s, err := ReadSummary[Summary](dir)
	if err != nil {
		return nil, err
	}
	r := &Record{Dir: dir, Summary: s}
	ended := r.Status == Done || r.Status == Interrupted || r.Status == Aborted
	if r.Series, err = ReadSeries(dir, ended); err != nil {
		return nil, err
	}
	if r.Host, err = ReadHost(dir, r.Start, ended); err != nil {
		return nil, err
	}
	if err := r.checkFiles(dir); err != nil {
		return nil, err
	}
	AddCheckpoints(&r.Summary, &r.Series, &r.Host)
	if r.Status == Running {
		r.Counts = r.Counted()
	}
	return r, nil
}

// Counted is what the samples have, all together.
func (r *Record) Counted() (all measure.Counts) {
	for _, s := range r.Series.Samples {
		all.Add(s.Counts)
	}
	return all
}
