package result

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strings"
	"time"

	"ds2/internal/measure"
)

// Spec is what a run was to be: the flags of a run fill it in, the driver goes by it, and every
// record has it. A bench is resumed with the same, and runs that are compared have the same, but
// for the fields whose tag mayDiffer names that use.
type Spec struct {
	KitVersion string `json:"kit_version" mayDiffer:"history"`
	// or that of the bench or the search
	RunID   string   `json:"run_id" mayDiffer:"compare,resume,history"`
	Command *Command `json:"command,omitempty" mayDiffer:"compare,resume,history"`

	Engine string `json:"engine"`
	// what the kit lacks of it on this engine
	Proof string `json:"proof,omitempty" mayDiffer:"compare,history"`
	// labels, without user or password
	Targets []string `json:"targets" mayDiffer:"compare"`
	// of the rows of each target as they were loaded
	DataSeeds []uint64 `json:"data_seeds,omitempty"`
	Size      string   `json:"size"` // of the dataset
	Workload  string   `json:"workload"`
	Words     Words    `json:"words" mayDiffer:"compare,resume,history"` // the workload's
	InWords   []Said   `json:"in_words,omitempty"`                       // the workload's parameters
	// Own are the same, which only the workload's room reads.
	Own json.RawMessage `json:"own,omitempty" mayDiffer:"compare,resume,history"`

	Threads    int      `json:"threads"`   // per target
	RampRate   float64  `json:"ramp_rate"` // users that start a second
	WarmupTime Duration `json:"warmup_time_s"`
	// after the warm-up, until the store is warm; 0: no wait
	WarmWithin Duration `json:"warm_within_s,omitzero"`
	RunTime    Duration `json:"run_time_s"`           // 0: until stopped
	DrainTime  Duration `json:"drain_time_s"`         // that orders under way may take at the end
	ThinkTime  Duration `json:"think_time_s"`         // mean pause after an order
	Rate       float64  `json:"rate_per_s,omitempty"` // open loop: orders due a second
	Spacing    string   `json:"spacing,omitempty"`    // open loop: Poisson or even
	// Seed is that of the first of several runs; each further one's is one more. Another draws
	// other orders of the same kind.
	Seed       uint64  `json:"seed" mayDiffer:"compare,history"`
	UserOffset int     `json:"user_offset"`                 // number of the first user
	ScrubRate  float64 `json:"scrub_bytes_per_s,omitempty"` // of each target
	// each after its time, since the begin of the run phase
	EventTexts []string `json:"event_commands,omitempty"`

	CheckpointFirst bool     `json:"checkpoint_first"`
	ColdStart       bool     `json:"cold_start"` // the server's cache was emptied before
	WindowTexts     []string `json:"windows,omitempty"`
	LimitTexts      []string `json:"limits,omitempty" mayDiffer:"history"`
	// that a limit has failed for so long; 0: never
	AbortAfter       Duration `json:"abort_on_fail_s,omitzero"`
	MaxRetries       int      `json:"max_retries"` // of one operation
	MaxErrors        int      `json:"max_errors"`  // orders given up before the run is
	OperationTimeout Duration `json:"operation_timeout_s"`
	Journal          bool     `json:"journal,omitempty"`
	Verify           string   `json:"verify,omitempty"` // the check after the run

	// Of a run among several: how many are to be made, the first for practice aside, and what is
	// done around each.
	Runs     int      `json:"runs,omitempty" mayDiffer:"compare,resume"`
	Practice int      `json:"practice,omitempty"`
	Restore  string   `json:"restore,omitempty"` // reset, snapshot, command or none
	Settle   Duration `json:"settle_s,omitzero"`
	Idle     Duration `json:"idle_s,omitzero"`
	Cooldown Duration `json:"cooldown_s,omitzero"`
	// RestoreCommand restores the database; what it does belongs to the array.
	RestoreCommand string `json:"restore_command,omitempty" mayDiffer:"compare,history"`
	DiscardLog     bool   `json:"discard_log,omitempty"` // of SQL Server, before a reset

	// What is observed beside the users, as it was asked for, without passwords. A meter's log is
	// not here: it may be added later.
	ObservedDevices []string `json:"devices,omitempty" mayDiffer:"compare,history"`
	Exporters       []string `json:"exporters,omitempty" mayDiffer:"compare,history"`
	PowerCommand    string   `json:"power_command,omitempty" mayDiffer:"compare,history"`
	DeviceRecord    string   `json:"device_record,omitempty" mayDiffer:"compare,history"`
	IOTrace         bool     `json:"io_trace,omitempty"`
	// that the server may use, where it was stated
	ServerMemory int64 `json:"server_memory_bytes,omitempty"`

	// DropUnsteady has runs that were not steady not count.
	DropUnsteady bool `json:"drop_unsteady,omitempty" mayDiffer:"resume"`
	// Disclosure is what was stated of the array, by keys in Disclosures.
	Disclosure map[string]string `json:"disclosure,omitempty" mayDiffer:"compare,resume,history"`
}

// Said is a parameter in words.
type Said struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// Follows is the parameter of the Spec from which this one follows.
	Follows string `json:"follows,omitempty"`
}

// NewBlock is the JSON of a part of a record that is a workload's own, and that no other room
// reads.
func NewBlock(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // a fault of the workload's, whatever the values
	}
	return text
}

// ReadBlock reads what NewBlock made into v, and refuses numbers that cannot have been measured. An
// empty one leaves v as it is.
func ReadBlock(b json.RawMessage, v any) error {
	if len(b) == 0 {
		return nil
	}
	if err := decode(b, v); err != nil {
		return fmt.Errorf("read the workload's part of the record: %w", err)
	}
	return nil
}

// The values of Spec.Spacing.
const (
	// intervals between orders are exponential, as of many independent customers
	Poisson = "poisson"
	Even    = "even"
)

// The values of Spec.Verify.
const (
	VerifyNone  = "none"
	VerifyAudit = "audit" // that the databases hold what the run did
	VerifyDeep  = "deep"  // first every page is read and checked
)

// AllUsers is how many users there are on all targets together.
func (s Spec) AllUsers() int { return s.Threads * len(s.Targets) }

// Ramp is how long the ramp takes: it ends with the second in which the last user starts, so that
// the phases after it begin on one.
func (s Spec) Ramp() time.Duration {
	return time.Duration(math.Ceil(float64(s.AllUsers()-1)/s.RampRate)) * time.Second
}

// Length is how long the run takes from the first orders to the end of the run phase, where it does
// not wait for a warm store; 0: until stopped.
func (s Spec) Length() time.Duration {
	if s.RunTime.Duration == 0 {
		return 0
	}
	return s.Ramp() + s.WarmupTime.Duration + s.RunTime.Duration
}

// Use is what several runs are for that have a Spec in common.
type Use string

// The uses that the tag mayDiffer names.
const (
	Resume  Use = "resume" // a bench, a search or an experiment that was stopped
	Compare Use = "compare"
	// History is of runs of one configuration over years: what changes with time is told
	History Use = "history"
)

// Differences are the parameters that differ between two specs, or other structs with such tags,
// and have to be alike for a use. A workload's have the names that reports have for them.
func Differences[T any](a, b T, use Use) []Differing {
	return findDiffering([][]Said{parameters(a, use), parameters(b, use)}, "none")
}

// parameters are the fields of a struct that have to be alike for a use, as a reader is told them;
// all of them for none.
func parameters(of any, use Use) (all []Said) {
	for field, value := range reflect.ValueOf(of).Fields() {
		if field.Tag.Get("json") != "-" &&
			(use == "" || !strings.Contains(field.Tag.Get("mayDiffer"), string(use))) {
			all = append(all, told(field, value)...)
		}
	}
	return all
}

// units are the ends of JSON names that a reader needs no more, the longest first.
var units = regexp.MustCompile(`(_bytes_per_s|_per_s|_bytes|_s)$`)

// told is a field as a reader is told it: one parameter, or those of the workload. A list with a
// value for each target has only those that differ.
func told(field reflect.StructField, of reflect.Value) []Said {
	if parameters, ok := of.Interface().([]Said); ok {
		return parameters
	}
	text := fmt.Sprint(of.Interface())
	if of.Kind() == reflect.Slice {
		var values []string
		for _, one := range of.Seq2() {
			values = AddNew(values, fmt.Sprint(one.Interface()))
		}
		text = strings.Join(values, ", ")
	}
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	name = strings.ReplaceAll(units.ReplaceAllString(name, ""), "_", " ")
	return []Said{{Name: name, Value: text}}
}

// Duration is a time that records have in seconds.
type Duration struct{ time.Duration }

// MarshalJSON writes seconds, as all durations of a record.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.Seconds()) }

// UnmarshalJSON refuses what no run can take.
func (d *Duration) UnmarshalJSON(text []byte) error {
	var seconds float64
	if err := json.Unmarshal(text, &seconds); err != nil {
		return err
	}
	if !(seconds >= 0 && seconds <= maxSeconds) {
		return fmt.Errorf("%v seconds cannot be the time of a run", seconds)
	}
	d.Duration = measure.Seconds(seconds).Round(time.Microsecond)
	return nil
}
