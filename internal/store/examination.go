package store

// OwnConnections are those of ds2 itself beside its users': counters, and the lock.
const OwnConnections = 2

// Examination is what an engine found of a server before a run.
type Examination struct {
	Findings []Found
	// bytes that the files of the log may still grow by on their own; negative: unknown
	LogGrowth int64
	Hidden    bool // a finding says that the user is not told where the database's files are
}

// Found is one thing that an engine looked at before a run. Its kind says whether a run is
// possible.
type Found struct {
	Detail string // of the words: names, numbers, what the engine alone can say
	More   string

	Kind    FindingKind
	Unasked error // why it could not be looked at
}

// Add adds a finding.
func (e *Examination) Add(kind FindingKind, detail, more string) {
	e.Findings = append(e.Findings, Found{Kind: kind, Detail: detail, More: more})
}

// Judge adds one of two kinds, by whether the server is as a run needs it.
func (e *Examination) Judge(fit bool, good, poor FindingKind, detail, more string) {
	kind := poor
	if fit {
		kind = good
	}
	e.Add(kind, detail, more)
}

// FindingKind is what kind of thing an engine finds. There are those below alone: one that is
// misspelt does not compile. Package preflight has the words of each.
type FindingKind struct{ name string }

// Name is that of the kind's row in preflight/kinds.tsv.
func (k FindingKind) Name() string { return k.name }

// FindingKinds are all of them.
var FindingKinds []FindingKind

func newFindingKind(name string) FindingKind {
	kind := FindingKind{name}
	FindingKinds = append(FindingKinds, kind)
	return kind
}

// The kinds.
var (
	VersionKnown         = newFindingKind("version")
	VersionTooOld        = newFindingKind("version too old")
	VersionUntested      = newFindingKind("version untested")
	Babelfish            = newFindingKind("Babelfish")
	Writable             = newFindingKind("writable")
	ReadOnly             = newFindingKind("read-only")
	Replica              = newFindingKind("replica")
	EnoughConnections    = newFindingKind("connections")
	TooFewConnections    = newFindingKind("too few connections")
	EnoughRights         = newFindingKind("rights")
	NoRightToRead        = newFindingKind("no right to read")
	NoRightToCall        = newFindingKind("no right to call")
	NoRightToWrite       = newFindingKind("no right to write")
	NoRightToCallAll     = newFindingKind("no right to call all")
	NoStandby            = newFindingKind("no standby")
	RowsHidden           = newFindingKind("rows hidden")
	TriggersOff          = newFindingKind("triggers off")
	TimeLimits           = newFindingKind("time limits")
	IdleTimeLimit        = newFindingKind("idle time limit")
	IONotTimed           = newFindingKind("I/O not timed")
	PreparedTransactions = newFindingKind("prepared transactions")
	OpenTransactions     = newFindingKind("open transactions")
	NoReplicaIdentity    = newFindingKind("no replica identity")
	LogicalSlots         = newFindingKind("logical slots")
	SlotsNotRead         = newFindingKind("slots not read")
	ArchivingFails       = newFindingKind("archiving fails")
	LogRoom              = newFindingKind("log")
	LogFull              = newFindingKind("log full")
	CountersHidden       = newFindingKind("counters hidden")
	SessionsShared       = newFindingKind("sessions shared")
	Pooler               = newFindingKind("pooler")
)
