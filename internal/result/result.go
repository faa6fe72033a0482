// Package result is the record of a run on disk: what was asked for, what happened second by second, and the figures
// taken from it. It knows how a record is written and read, not what a figure means (package measure) or how it is
// drawn (package report).
//
// A record is a directory, by default ds2-results/<start in UTC>-<run id>:
//
//	summary.json       the Summary, in schema version Schema; written when the run starts, with status "running", and
//	                   again when it ends, each time whole
//	samples.csv.gz     one line a second with the columns of samplesColumns and the workload's own counts
//	histograms.csv.gz  one line an interval and series: from_s, to_s, series, the exact sum of its response times and an
//	                   HdrHistogram of microseconds in the compressed V2 encoding
//	host.csv.gz        one line a second of the machine's and the database's counters (package monitor): t_s, negative
//	                   before the first orders, and the columns that the machine has
//	run.log            what the driver logged; run.log.1 is what stood before, when that was too much
//
// The CSV files are written as the run goes and turned over every hour: samples.csv.gz is the hour under way, or the last
// one, and samples-001.csv.gz the first that is over.
//
// Times are in seconds from the moment the first orders start. Intervals are at most IntervalLength long and end where
// a phase or a window given before the run ends. Histograms merge exactly, so the figures of any other window can be
// computed from a record, response times to the nearest interval; a run's own figures are computed from its record too,
// so that nothing of it has to stay in memory. A record of an hour takes less than 1 MB. If ds2 crashes, the record
// holds all until at most one interval before, under the status "running".
package result

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"ds2/internal/atomicfile"
	"ds2/internal/diagnose"
	"ds2/internal/limit"
	"ds2/internal/measure"
	"ds2/internal/monitor"
	"ds2/internal/store"
)

// Schema is the version of the record. A reader refuses a newer one.
const Schema = 1

// IntervalLength is how long the histograms of a record are gathered before they are written: short enough that a crash
// loses less than a minute, long enough for small records, and a divisor of the storage report's window, 1,000 s to 1,200 s.
const IntervalLength = 50 * time.Second

// The files of a record.
const (
	SummaryFile    = "summary.json"
	SamplesFile    = "samples.csv.gz"
	HistogramsFile = "histograms.csv.gz"
	HostFile       = "host.csv.gz"
	LogFile        = "run.log"
)

// Status is how a run ended.
type Status string

// The statuses. A record that says running and is no longer written to is one of a crashed ds2.
const (
	Running     Status = "running"
	Done        Status = "done"
	Failed      Status = "failed"
	Interrupted Status = "interrupted"
	Aborted     Status = "aborted" // because a limit had failed for too long
)

// Summary is summary.json.
type Summary struct {
	Schema     int       `json:"schema"`
	KitVersion string    `json:"kit_version"`
	RunID      string    `json:"run_id"`
	Status     Status    `json:"status"`
	Error      string    `json:"error,omitempty"` // why the run failed
	Start      time.Time `json:"start"`           // when the first orders started; before that, when ds2 did
	End        time.Time `json:"end,omitzero"`

	Command *Command `json:"command,omitempty"`

	Workload   string     `json:"workload,omitempty"` // absent: DVD Store 2
	Words      *Words     `json:"words,omitempty"`    // the workload's; absent: DVD Store 2's
	Engine     string     `json:"engine"`
	Targets    []string   `json:"targets"`              // labels, without user or password
	Cloned     []string   `json:"cloned,omitempty"`     // those whose files may share blocks with their snapshot's, so that what is overwritten goes elsewhere
	DataSeeds  []uint64   `json:"data_seeds,omitempty"` // of the rows of each target as they were loaded; 0 is DS2's own
	Size       string     `json:"size"`
	Threads    int        `json:"threads"` // per target
	Seed       uint64     `json:"seed"`
	Parameters Parameters `json:"parameters"`
	// Customers and so on are the three numbers of the size.
	Customers      int64 `json:"customers"`
	OrdersPerMonth int64 `json:"orders_per_month"`
	Products       int64 `json:"products"`

	// OPM is the figure that counts, unless IOPS is: that of the first window. A run that ended without one has none.
	OPM *float64 `json:"opm"`
	// IOPS is the figure that counts where the workload is judged by the I/Os of its drives.
	IOPS *float64 `json:"iops,omitempty"`
	// CumulativeOPM is DS2's opm at the end of the run: the average since the end of the warm-up, over CumulativeOf.
	CumulativeOPM *float64               `json:"opm_cumulative"`
	CumulativeOf  *measure.Average       `json:"opm_cumulative_of,omitempty"`
	Phases        []measure.PhaseSpan    `json:"phases"`
	Windows       []measure.Window       `json:"windows"`
	Counts        measure.Counts         `json:"counts"` // of the whole run, from the first orders to the end of the drain
	Errors        []measure.FailureCount `json:"errors"`
	Retries       []measure.FailureCount `json:"retries"`
	ByTarget      []Target               `json:"by_target"`

	// Before and After are the marks of each target, in the order of Targets, read when nobody was at work.
	Before []Marks `json:"marks_before,omitempty"`
	After  []Marks `json:"marks_after,omitempty"`
	Audit  *Audit  `json:"audit,omitempty"`

	// Checkpoints are those that the counters of the databases show, also before the first orders and after the last.
	Checkpoints []monitor.Checkpoint `json:"checkpoints,omitempty"`

	Limits     []limit.Verdict   `json:"limits,omitempty"` // over the first window
	DeepChecks []store.DeepCheck `json:"scrubs,omitempty"` // of each target, in the order of Targets
	Crash      *Crash            `json:"crash,omitempty"`
	Cuts       *Cuts             `json:"cuts,omitempty"`
	Replay     *Replay           `json:"replay,omitempty"`

	Machine    *monitor.Machine `json:"machine,omitempty"` // under test; absent where nothing is known of it
	Servers    []monitor.Server `json:"servers,omitempty"` // in the order of Targets
	Power      *Power           `json:"power,omitempty"`
	Bottleneck *Bottleneck      `json:"bottleneck,omitempty"`
	Warnings   []string         `json:"warnings,omitempty"` // of what showed while the run went on, such as a log that would be full

	// Of the first window: what an order cost, and under which conditions the orders were made.
	Costs      *diagnose.Costs `json:"cost_per_order,omitempty"`
	Conditions []Condition     `json:"conditions,omitempty"`

	Sections []Section        `json:"sections,omitempty"` // of the report, made by the workload
	Storage  *monitor.Storage `json:"storage,omitempty"`  // of the first window, where IOPS count
	Log      []string         `json:"log,omitempty"`      // the last lines of the run's log, where the report of its workload has it
	Warm     *Warm            `json:"warm,omitempty"`     // where the run waited for a state of the store
	Pace     *Pace            `json:"pace,omitempty"`     // where the drives were to do a number of I/Os
	Mailbox  *Mailbox         `json:"mailbox,omitempty"`  // of workload mailbox alone

	Scrub  []Reader `json:"background_scan,omitempty"` // of each target, where the run was to have one
	Copies []Reader `json:"log_readers,omitempty"`     // in the place of copies, of each target, where the run was to have some

	Debt *Debt `json:"debt,omitempty"` // work that the servers had put off at the end of the run, where it was measured

	SMART []monitor.SMART `json:"smart,omitempty"` // of the drives that tell, over the whole run
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

// WriteAmplification is the condition of bytes that drives wrote to their flash by bytes that were written to them.
const WriteAmplification = "write amplification"

// Names of conditions that a report compares too. The limits are those that ds2 device measured.
const (
	ReadsOfDevices   = "reads of the devices"
	WritesOfDevices  = "writes of the devices"
	LimitOfReads     = "random reads that the devices can do"
	LimitOfLogWrites = "log writes that the devices can do"
)

// Names of conditions that runs judged by IOPS have, as the published reports compare them.
const (
	TotalIOPS        = "total IOPS, with the log's" // a second
	Throughput       = "MiB read and written"       // a second
	TotalIOPSPerWatt = "total IOPS per watt"
)

// Power is what the run took, in watts. Its source is monitor.Power, or monitor.PowerRAPL: processors and memory only.
type Power = diagnose.Power

// Bottleneck is what held the orders back in the first window, and the figures that say so.
type Bottleneck struct {
	diagnose.Bottleneck
	Warnings []string `json:"warnings,omitempty"` // what makes the run a poor test of storage
}

// Crash is a crash of the server that the run brought about.
type Crash struct {
	At   time.Time `json:"at"`
	Down float64   `json:"down_s"` // until the server took connections again
}

// Cuts are the cuts of the server in a run that was to have several.
type Cuts struct {
	Planned      int     `json:"planned"`
	Mean         float64 `json:"mean_s"`     // time of orders before each, on average
	DeepEvery    int     `json:"deep_every"` // cuts; 0: no page was checked
	Cuts         []Cut   `json:"cuts"`
	Acknowledged int64   `json:"acknowledged"`
	Lost         int64   `json:"lost"`           // of the orders acknowledged
	Lossy        int     `json:"lossy"`          // cuts after which something acknowledged was missing, old or damaged, or the server did not come back
	Idle         int     `json:"idle,omitempty"` // cuts before which nothing was acknowledged, so that nothing could be lost
	// From and To are the share of cuts that lose anything, of those that were not idle, 0 to 1, at 95 % by Clopper and Pearson: where no cut did, To is
	// the one-sided bound, else they are the two-sided ones.
	From float64 `json:"lossy_from"`
	To   float64 `json:"lossy_to"`
}

// Cut is one cut of the server.
type Cut struct {
	At            time.Time      `json:"at"`
	When          string         `json:"when"`         // at random, during a checkpoint, in a burst of commits
	Down          float64        `json:"down_s"`       // from the kill until the database could be asked again
	Recovery      float64        `json:"recovery_s"`   // of that, from the start of the server
	Acknowledged  int64          `json:"acknowledged"` // cycles since the cut before
	InDoubt       int64          `json:"in_doubt"`     // cycles whose end nobody was told of
	Kept          int64          `json:"kept"`         // of those in doubt, the ones that are there, whole
	Lost          int64          `json:"lost"`         // acknowledged cycles that are not there
	LostOrders    string         `json:"lost_orders,omitempty"`
	LostCustomers int64          `json:"lost_customers"`         // DS2: acknowledged new customers that are not there
	LostRecords   string         `json:"lost_records,omitempty"` // mailbox: records that lost commits wrote
	LostLazy      int64          `json:"lost_lazy,omitempty"`    // mailbox: lazy commits that are not there and may be lost
	Stale         int64          `json:"stale"`                  // products with fewer sales than were acknowledged
	StaleProducts string         `json:"stale_products,omitempty"`
	BadPages      *int64         `json:"bad_pages"` // that the deep check found; nil: it did not look
	Damage        []store.Damage `json:"damage,omitempty"`
	Error         string         `json:"error,omitempty"` // why nobody could look
}

// Count is what was counted under a name of the record besides lost cycles; 0 where it has none.
func (c Cut) Count(name string) int64 {
	return map[string]int64{"lost_customers": c.LostCustomers, "lost_lazy": c.LostLazy, "stale": c.Stale}[name]
}

// Lossy tells whether something that was acknowledged is missing, old or damaged, or nobody can look.
func (c Cut) Lossy() bool {
	return c.Lost > 0 || c.LostCustomers > 0 || c.Stale > 0 || c.BadPages != nil && *c.BadPages > 0 || c.Error != ""
}

// Marks are the state of a database before or after a run, by the workload's own names, for its audit: the highest keys, above which
// lies what the run added, and sums by which it knows what else was changed. A run lowers none of them.
type Marks map[string]int64

// Parameters are those of WORKLOAD.md section 5 and the kit's own, as the run used them. Times are in seconds.
type Parameters struct {
	RampRate        float64  `json:"ramp_rate"`
	RunTime         float64  `json:"run_time_s"` // 0: until stopped
	WarmupTime      float64  `json:"warmup_time_s"`
	ThinkTime       float64  `json:"think_time_s"`
	PctNewCustomers int      `json:"pct_newcustomers"`
	Searches        int      `json:"n_searches"`
	SearchBatchSize int      `json:"search_batch_size"`
	LineItems       int      `json:"n_line_items"`
	Rate            float64  `json:"rate_per_s,omitempty"` // open loop: orders due a second
	Spacing         string   `json:"spacing,omitempty"`    // open loop: poisson or even
	Windows         []string `json:"windows,omitempty"`
	MaxRetries      int      `json:"max_retries"`
	MaxErrors       int      `json:"max_errors"`
	UserOffset      int      `json:"user_offset"`
	Words           string   `json:"words_sha256,omitempty"`
	CheckpointFirst bool     `json:"checkpoint_first,omitempty"`
	ScrubRate       float64  `json:"scrub_bytes_per_s,omitempty"` // of each target
	Copies          int      `json:"copies,omitempty"`            // of each target: readers of its log
	Calls           string   `json:"calls,omitempty"`             // by what the users called, where the engine has several ways
	Proof           string   `json:"proof,omitempty"`             // what the kit lacks of it on this engine
}

// Target is what one of several targets did, over the whole run.
type Target struct {
	Target  string                     `json:"target"`
	OPM     float64                    `json:"opm"` // average from the end of the warm-up to the end of the run, over OPMOf
	OPMOf   *measure.Average           `json:"opm_of,omitempty"`
	Counts  measure.Counts             `json:"counts"`
	Latency map[string]measure.Latency `json:"latency"`
}

// Audit is what the audit after the run found.
type Audit struct {
	Passed     bool    `json:"passed"`
	NotAudited string  `json:"not_audited,omitempty"` // why the audit came to no end; there are no checks then
	Checks     []Check `json:"checks"`
}

// Check is one question of an audit and its answer.
type Check struct {
	Target   string `json:"target"`
	Name     string `json:"name"`
	Passed   bool   `json:"passed"`
	Expected string `json:"expected"`
	Found    string `json:"found"`
}

// Passed tells whether all checks did.
func Passed(checks []Check) bool {
	return !slices.ContainsFunc(checks, func(c Check) bool { return !c.Passed })
}

// Record is a record read from disk.
type Record struct {
	Dir string
	Summary
	Series measure.Series
	Host   monitor.Table
}

// Read reads a record, also that of a run that is still going or that crashed: its series then ends where the files do,
// its counts are those of the series, and its window is the run phase so far. The record of a run that ended is whole, to
// the checksums of its files, or Read refuses it: also where columns are missing, times do not rise or figures cannot have
// been measured. The error names the file. What is read is bounded, whoever wrote it.
func Read(dir string) (*Record, error) {
	r := &Record{Dir: dir}
	var summary struct {
		Summary
		Kind string `json:"kind"`
	}
	err := readJSON(filepath.Join(dir, SummaryFile), &summary)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read record: %s is not a record of a run: it has no %s", dir, SummaryFile)
	}
	if err != nil {
		return nil, fmt.Errorf("read record: %w", err)
	}
	if summary.Kind != "" {
		return nil, fmt.Errorf("read record: %s holds several runs (%s): name one of the directories in it", dir, summary.Kind)
	}
	r.Summary = summary.Summary
	if r.Schema < 1 || r.Schema > Schema {
		return nil, fmt.Errorf("read record: %s has schema %d, and this ds2 knows up to %d: use a newer ds2", dir, r.Schema, Schema)
	}
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("read record: %s: %w", filepath.Join(dir, SummaryFile), err)
	}
	ended := r.Status == Done || r.Status == Interrupted || r.Status == Aborted
	if r.Series, err = readSeries(dir, ended); err != nil {
		return nil, err
	}
	if r.Host, err = readHost(filepath.Join(dir, HostFile), r.Start, ended); err != nil {
		return nil, fmt.Errorf("read record: %w", err)
	}
	AddCheckpoints(&r.Summary, &r.Series, &r.Host)
	if r.Status != Running {
		return r, nil
	}
	r.Counts = measure.Counts{}
	for _, s := range r.Series.Samples {
		r.Counts.Add(s.Counts)
	}
	if run := r.Series.Phase(measure.PhaseRun); run.To > 0 {
		return r, r.Choose([]measure.WindowSpec{{Name: "run", Span: run}})
	}
	return r, nil
}

// ReadSeries reads the samples and histograms of the record in dir, also while they are being written.
func ReadSeries(dir string) (measure.Series, error) { return readSeries(dir, false) }

// readSeries reads the samples and histograms of a run that ended, or may not have.
func readSeries(dir string, ended bool) (s measure.Series, err error) {
	if s.Samples, err = readSamples(filepath.Join(dir, SamplesFile), ended); err != nil {
		return s, fmt.Errorf("read record: %w", err)
	}
	if s.Intervals, err = readIntervals(filepath.Join(dir, HistogramsFile), ended); err != nil {
		return s, fmt.Errorf("read record: %w", err)
	}
	return s, nil
}

// Choose takes the record's figures from other windows than those of the run; with none given the record stays as it is.
func (r *Record) Choose(windows []measure.WindowSpec) error {
	if len(windows) == 0 {
		return nil
	}
	r.Windows = nil
	for _, spec := range windows {
		w, err := r.Series.Compute(spec)
		if err != nil {
			return err
		}
		r.Windows = append(r.Windows, w)
	}
	r.OPM = &r.Windows[0].OPM
	return nil
}

// SaveSummary writes summary.json of the record in dir, whole or not at all. The audit uses it to add its result to a
// record that is otherwise complete.
func SaveSummary(dir string, s Summary) error {
	s.Schema = Schema
	return SaveJSON(filepath.Join(dir, SummaryFile), s)
}

// SaveJSON writes a file of a record, whole or not at all.
func SaveJSON(path string, v any) error {
	if err := atomicfile.WriteJSON(path, v); err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	return nil
}
