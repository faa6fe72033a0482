package preflight

import (
	_ "embed"
	"strings"

	"ds2/internal/datatable"
)

// Finding is one thing that was looked at before a run.
type Finding struct {
	What  string `json:"check"` // such as "connections of host:5432/ds2"
	State State  `json:"state"`
	Found string `json:"found"`
	Do    string `json:"do,omitempty"` // where the state is not OK
	Kind  Kind   `json:"kind"`         // for scripts, which read no words

	Skips int `json:"skips,omitempty"` // how many checks were not made
}

// State is how good a finding is.
type State string

// The states.
const (
	OK      State = "ok"
	Warning State = "warning" // the run may say less than it seems to, or end early
	Failure State = "failure" // there will be no run
	Skipped State = "skipped" // a failure kept it from being looked at
)

// Kind is what kind of thing may be found before a run: a row of kinds.tsv, or a result.FindingKind
// of what a run's result would say of it, too.
type Kind string

// The kinds that this package and the command line find. Those of servers are store.FindingKinds.
const (
	notAsked        Kind = "not asked" // the server
	oneDatabase     Kind = "one database"
	unlike          Kind = "not alike" // in more than the subject
	subjectAlike    Kind = "subject alike"
	connected       Kind = "connected"
	notConnected    Kind = "not connected"
	filesUnknown    Kind = "files unknown"
	roomUnknown     Kind = "room unknown"
	roomEnough      Kind = "room"
	roomTooSmall    Kind = "too little room"
	counted         Kind = "counted"
	notCounted      Kind = "not counted" // some counters are missing
	notDistorted    Kind = "not distorted"
	recordPlace     Kind = "record"
	recordRefused   Kind = "no record"
	recordTooSmall  Kind = "little room for the record"
	openFiles       Kind = "open files"
	fewOpenFiles    Kind = "few open files" // enough for the users alone
	tooFewOpenFiles Kind = "too few open files"
	Loaded          Kind = "loaded"
	NotAsNeeded     Kind = "database unusable" // nothing, or not what the flags ask for
	DrivenBefore    Kind = "driven before"
	EngineUnproven  Kind = "engine unproven"
	NotLocked       Kind = "not locked"
	Locked          Kind = "locked"
	SchemaAsLoaded  Kind = "schema as loaded"
	SchemaChanged   Kind = "schema changed"
	SchemaUnknown   Kind = "schema unknown"
	NotExamined     Kind = "not examined"  // the server cannot be asked
	NotObserved     Kind = "not observed"  // no counter can be read
	FlagUsable      Kind = "flag usable"   // what a flag asks for can be done
	FlagRefused     Kind = "flag refused"  // the server, or the user's rights, refuse it
	FlagWrong       Kind = "flag unusable" // its value leads to nothing
	NotPushed       Kind = "not pushed"
	OtherDrives     Kind = "drives of another record" // the device record is not of the drives of the data
	PortFree        Kind = "port free"
	PortTaken       Kind = "port taken"
	NoPort          Kind = "no port"
	ClassReady      Kind = "class ready"
	ClassFails      Kind = "class fails"
	SameNode        Kind = "driver on the server's node"
	notLookedAt     Kind = "skipped" // as something before it failed
)

//go:embed kinds.tsv
var kindsTable string

// kinds are the findings of each kind, with the places of what fills them.
var kinds = readKinds(kindsTable)

func readKinds(table string) map[Kind]Finding {
	all := map[Kind]Finding{}
	for _, row := range datatable.Rows(table, 5) {
		kind := Kind(row[0])
		all[kind] = Finding{row[1], State(row[2]), row[3], row[4], kind, 0}
	}
	return all
}

// NewFinding makes one of a kind, about a database, a drive or a flag. What its words name beside
// that are a detail and, of few kinds, more.
func NewFinding(kind Kind, of, detail string, more ...string) Finding {
	f := kinds[kind]
	words := strings.NewReplacer(
		"{of}", of, "{detail}", detail, "{more}", strings.Join(more, ""))
	for _, text := range []*string{&f.What, &f.Found, &f.Do} {
		*text = words.Replace(*text)
	}
	return f
}

// NewSkipped is that checks of some databases were not made.
func NewSkipped(of string, checks ...string) Finding {
	f := NewFinding(notLookedAt, of, strings.Join(checks, ", "))
	f.Skips = len(checks)
	return f
}
