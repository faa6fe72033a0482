package result

import (
	_ "embed"

	"ds2/internal/datatable"
	"ds2/internal/monitor"
)

// The kinds of what is found of a run, by its record.
const (
	RunFailed        FindingKind = "run failed"
	RunInterrupted   FindingKind = "interrupted"
	RunUnfinished    FindingKind = "unfinished"
	RunAborted       FindingKind = "ended by a limit"
	NoWindow         FindingKind = "no window"
	OutsideRunPhase  FindingKind = "window outside the run phase"
	NothingCompleted FindingKind = "nothing completed"
	AuditPassed      FindingKind = "audit passed"
	AuditFailed      FindingKind = "audit failed"
	NotAudited       FindingKind = "not audited"
	Undamaged        FindingKind = "undamaged"
	Damaged          FindingKind = "damaged"
	LimitsHold       FindingKind = "limits hold"
	LimitFailed      FindingKind = "limit failed"
	LimitOpen        FindingKind = "limit cannot tell"
	Away             FindingKind = "server away"
	StoodStill       FindingKind = "ds2 stood still"
	Steady           FindingKind = "steady"
	Unsteady         FindingKind = "not steady"
	Drifts           FindingKind = "drifts"
	FewSamples       FindingKind = "few independent samples"
	WideInterval     FindingKind = "wide interval"
	PartialCycle     FindingKind = "partial checkpoint cycle"
	NoInterval       FindingKind = "no interval"
	RateSet          FindingKind = "rate set by the user"
	OrdersDropped    FindingKind = "orders dropped"
	AttemptsFailed   FindingKind = "attempts failed"
	AuditNotMade     FindingKind = "audit not made"
	DeepCheckNotMade FindingKind = "deep check not made"
	NotJudged        FindingKind = "steadiness not judged"
	EngineUnproven   FindingKind = "engine unproven"
	SameNode         FindingKind = "driver on the server's node"
	NotStorage       FindingKind = "not limited by storage"
	LimitUnknown     FindingKind = "bottleneck unknown"
	AnotherServer    FindingKind = "another server"
	SettingsChanged  FindingKind = "settings changed"
	ChangeUnknown    FindingKind = "change unknown"
	FailedBefore     FindingKind = "audit failed before"
	MemoryHoldsIt    FindingKind = monitor.MemoryHolds
	OtherPrograms    FindingKind = "other programs"
	OtherIO          FindingKind = "I/O of other programs"
	StoodLong        FindingKind = "nothing completed for seconds"
	SettingsReloaded FindingKind = "settings read anew"
	PartlyCovered    FindingKind = "partly covered"
	Uncovered        FindingKind = "not covered"
	OtherClients     FindingKind = "other clients"
	OtherSessions    FindingKind = "other clients in the window"
	LargeReads       FindingKind = "large reads"
	HeldAbove        FindingKind = "held above the drives"
	Vacuums          FindingKind = "vacuums among the I/O"
	Distorted        FindingKind = monitor.Distorted
	DriveThrottled   FindingKind = "throttled"
	IOErrors         FindingKind = "I/O errors"
	NotMerged        FindingKind = "not merged"
	PaceMissed       FindingKind = "rate not found"
	NotWarm          FindingKind = "not warm"
	ScanMissed       FindingKind = "background scan missed"
	EventFailed      FindingKind = "event failed"
	BeyondDevice     FindingKind = "beyond the device"
	MountsAssumed    FindingKind = monitor.MountsAssumed
	DrivesUnknown    FindingKind = monitor.DrivesUnknown
	DevicesElsewhere FindingKind = monitor.DevicesElsewhere
	MayBurst         FindingKind = monitor.MayBurst
	WithinBurst      FindingKind = monitor.WithinBurst
	BurstEnded       FindingKind = "burst ended"
)

// The kinds of what is found of several runs.
const (
	NoResult        FindingKind = "no result"
	SingleRun       FindingKind = "single run"
	RunsAgree       FindingKind = "mean of runs"
	RunsDropped     FindingKind = "runs dropped"
	OtherFigure     FindingKind = "result in another unit"
	NotAllMade      FindingKind = "not all runs made"
	RecordGone      FindingKind = "record not there"
	LeftOut         FindingKind = "left out"
	StillWarming    FindingKind = "still warming up"
	StillSlowing    FindingKind = "still slowing down"
	InOrder         FindingKind = "still changing from run to run"
	RunsShareError  FindingKind = "runs share an error"
	NoRatio         FindingKind = "runs of zero"
	Unlike          FindingKind = "not alike"
	RunsUnlike      FindingKind = "runs not made alike"
	NotInBlocks     FindingKind = "not in blocks"
	Blind           FindingKind = "the runs vary too much"
	CachesUnlike    FindingKind = "caches not filled alike"
	DifferenceFound FindingKind = "difference"
	FactorsDepend   FindingKind = "difference depends on factors"
	DifferenceOnly  FindingKind = "difference without interval"
	NotOfStorage    FindingKind = "difference not of storage"
	GatePassed      FindingKind = "gate passed"
	GateOpen        FindingKind = "gate cannot tell"
	GateFailed      FindingKind = "gate failed"
	LevelChanged    FindingKind = "level changed"
	LevelKept       FindingKind = "no change of level"
	FewDays         FindingKind = "too few days"
	DayUncounted    FindingKind = "day that does not count"
	RecordLeftOut   FindingKind = "record left out"
	NotOfHistory    FindingKind = "not of the history"
	OtherHistory    FindingKind = "another history"
)

// Observed is what was found of what is observed.
func Observed(f monitor.Found) Finding {
	return NewFinding(FindingKind(f.Kind), f.Detail).About(f.Of)
}

//go:embed findingkinds.tsv
var kindsTable string

// FindingKinds are all kinds, those of several runs first. Of two findings with one effect that of
// the earlier kind is said first.
var FindingKinds = readKinds(kindsTable)

func readKinds(table string) (kinds []KindOfFinding) {
	for _, row := range datatable.Rows(table, 4) {
		kinds = append(kinds, KindOfFinding{
			FindingKind(row[0]), Effect(row[1]), Scope(row[2]), row[3],
		})
	}
	return kinds
}
