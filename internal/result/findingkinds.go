package result

import "ds2/internal/monitor"

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
	MemoryHoldsIt    FindingKind = "cache too large"
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
	Distorted        FindingKind = "distorted"
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

const longerWarmUp = ". A longer warm-up helps (--warmup-time)"

// FindingKinds are all kinds, those of several runs first. Of two findings with one effect that of
// the earlier kind is said first.
var FindingKinds = []KindOfFinding{
	{
		Unlike,
		Withholds,
		OfConfiguration,
		"{against} and {configuration} are not alike: {detail}; declare by --subject what is meant to differ",
	},
	{NoResult, Withholds, OfConfiguration, "no run counts"},
	{SingleRun, Reserves, OfConfiguration, "a single run does not show how much runs vary"},
	{RunsAgree, Informs, OfConfiguration, "{detail}"},
	{
		RunsDropped,
		Reserves,
		OfConfiguration,
		"runs that were not steady were dropped (--drop-unsteady), {runs} of them: the result flatters a drive that is erratic",
	},
	{OtherFigure, Reserves, OfConfiguration, "{detail}"},
	{
		NotAllMade,
		Reserves,
		OfConfiguration,
		"it is recorded as {detail}: {made} of {asked} runs count",
	},
	{
		LeftOut,
		Fails,
		OfConfiguration,
		"the configuration was left out after {made} valid runs: {detail}",
	},
	{
		StillWarming,
		Withholds,
		OfConfiguration,
		"{runs} of {of_runs} valid runs drift the same way, by {detail} over the window" + longerWarmUp,
	},
	{
		StillSlowing,
		Withholds,
		OfConfiguration,
		"{runs} of {of_runs} valid runs drift the same way, by {detail} over the window" + longerWarmUp,
	},
	{InOrder, Withholds, OfConfiguration, "the results of the valid runs {detail}"},
	{
		RunsShareError,
		Reserves,
		OfConfiguration,
		"the runs may all be off by the same {share%}, which none of their differences shows: they vary less from one to the next than each by itself, or have a trend in common, as with a phase of a checkpoint cycle or a cache that fills; the interval has it as well",
	},
	{NoRatio, Withholds, OfConfiguration, "no other configuration has a ratio to it: {detail}"},
	{
		RunsUnlike,
		Withholds,
		OfConfiguration,
		"{runs} of {of_runs} valid runs were not measured on the same as the first: {detail}",
	},
	{
		NotInBlocks,
		Reserves,
		OfConfiguration,
		"the runs were not in blocks: whatever else changed between them counts as a difference, which ds2 experiment takes out",
	},
	{Blind, Withholds, OfConfiguration, "{detail}"},
	{CachesUnlike, Withholds, OfConfiguration, "{detail}" + longerWarmUp},
	{DifferenceFound, Informs, OfConfiguration, "{detail}"},
	{FactorsDepend, Reserves, OfConfiguration, "{detail}"},
	{DifferenceOnly, Withholds, OfConfiguration, "{detail}"},
	{NotOfStorage, Reserves, OfConfiguration, "{detail}"},
	{GatePassed, Informs, OfConfiguration, "gate passed: {detail}"},
	{GateOpen, Withholds, OfConfiguration, "gate cannot tell: {detail}"},
	{GateFailed, Fails, OfConfiguration, "gate failed: {detail}"},
	{LevelChanged, Informs, OfConfiguration, "{detail}"},
	{LevelKept, Informs, OfConfiguration, "{detail}"},
	{FewDays, Withholds, OfConfiguration, "{detail}"},
	{DayUncounted, Reserves, OfConfiguration, "{detail}"},
	{RecordLeftOut, Reserves, OfConfiguration, "not in the history: {detail}"},
	{NotOfHistory, Withholds, OfConfiguration, "{detail}"},
	{OtherHistory, Informs, OfConfiguration, "{detail}"},

	{RunFailed, Fails, OfRun, "the run failed: {detail}"},
	{RunInterrupted, Withholds, OfRun, "the run was interrupted: {detail}"},
	{RunUnfinished, Withholds, OfRun, "the run has not ended, or ds2 ended before it did"},
	{RunAborted, Fails, OfRun, "the run was ended: {detail}"},
	{NoWindow, Withholds, OfRun, "the run ended before its first window did"},
	{
		OutsideRunPhase,
		Withholds,
		OfRun,
		"window {detail} is not in the run phase, which was from {from} s to {to} s",
	},
	{NothingCompleted, Fails, OfRun, "{detail}"},
	{AuditPassed, Informs, OfRun, "the audit of {detail} passed: {checks} checks"},
	{
		AuditFailed,
		Fails,
		OfRun,
		"the audit of {detail} FAILED: {failed} of {checks} checks do not hold",
	},
	{
		AuditNotMade,
		Fails,
		OfRun,
		"the database was not audited: {detail}; ds2 verify --record does it",
	},
	{DeepCheckNotMade, Fails, OfRun, "the database was not read to the last page: {detail}"},
	{NotAudited, Reserves, OfRun, "the database was not audited"},
	{Undamaged, Informs, OfRun, "all tables and indexes were checked, {megabytes} MB: no damage"},
	{Damaged, Fails, OfRun, "the database is DAMAGED: the deep check found {errors} errors"},
	{LimitsHold, Informs, OfRun, "pass: every limit holds"},
	{LimitFailed, Fails, OfRun, "limits failed: {detail}"},
	{LimitOpen, Withholds, OfRun, "cannot tell whether limits hold: {detail}"},
	{Away, Reserves, OfRun, "the server did not answer {detail}"},
	{
		AnotherServer,
		Reserves,
		OfTarget,
		"another server answers than before the run: {detail}",
	},
	{AttemptsFailed, Reserves, OfRun, "{detail}"},
	{
		StoodStill,
		Reserves,
		OfRun,
		"for {seconds} s, until {detail}, ds2 itself stood still: it or its machine was stopped",
	},
	{Steady, Informs, OfRun, "{detail}"},
	{NotJudged, Reserves, OfRun, "{detail}"},
	{Unsteady, Reserves, OfRun, "{detail}"},
	{Drifts, Withholds, OfRun, "{detail}"},
	{
		FewSamples,
		Reserves,
		OfRun,
		"the confidence interval is wide and less certain than others, as it rests on {detail}",
	},
	{PartialCycle, Reserves, OfRun, "{detail}"},
	{WideInterval, Reserves, OfRun, "the interval {detail} ± {half%}, more than ± {most%}"},
	{NoInterval, Reserves, OfRun, "the result has no interval: {detail}"},
	{RateSet, Informs, OfRun, "the user set the rate of {rate} {detail} a second"},
	{
		OrdersDropped,
		Reserves,
		OfRun,
		"{dropped} of {offered} {detail} that fell due were dropped: high response times are lower bounds",
	},
	{EngineUnproven, Informs, OfRun, "{detail}"},
	{
		SameNode,
		Reserves,
		OfRun,
		"ds2 ran on the server's node, {detail}, and took CPUs of it: the cluster had no other for it",
	},
	{NotStorage, Reserves, OfRun, "not yet a statement about storage: it was limited by {detail}"},
	{
		LimitUnknown,
		Reserves,
		OfRun,
		"not yet a statement about storage: what limited it is unknown",
	},
	{SettingsChanged, Reserves, OfTarget, "{detail}"},
	{ChangeUnknown, Reserves, OfTarget, "whether server or schema changed is unknown: {detail}"},
	{
		FailedBefore,
		Reserves,
		OfTarget,
		"an audit of it failed before this run ({detail}), and since then it was not reset, restored or passed by ds2 verify",
	},
	{MemoryHoldsIt, Reserves, OfTarget, "{detail}"},
	{
		OtherPrograms,
		Reserves,
		OfRun,
		"other programs take {share%} of the CPUs of the database's machine: stop them, and measure again",
	},
	{
		OtherIO,
		Reserves,
		OfRun,
		"other programs made {ios} I/Os a second on the drives of the data, beyond those that the servers count; the figures leave them out, and the run may have been slower for them",
	},
	{
		PartlyCovered,
		Reserves,
		OfRun,
		"the samples of {detail} cover {covers} of {window} s of the window: what is said of them is of that time alone",
	},
	{
		Uncovered,
		Reserves,
		OfRun,
		"the samples of {detail} cover {covers} of {window} s of the window: they are unknown, and nothing is judged by them",
	},
	{OtherClients, Reserves, OfTarget, "{detail}"},
	{
		OtherSessions,
		Reserves,
		OfRun,
		"other clients worked on the server in the window: on average {sessions} of their sessions were active: log, CPUs and drives are not the run's alone",
	},
	{
		LargeReads,
		Reserves,
		OfTarget,
		"a read of the data files had {kilobytes} kB on average, not 8: until the server's memory has grown to its target it reads eight pages for one, and a longer warm-up fills it; or something scanned tables",
	},
	{
		HeldAbove,
		Reserves,
		OfRun,
		"the server waited {server_ms} ms for {detail} on average, of which the drives took {drive_ms}: something above them limits it: a control group, a container or the volume, the file system, or CPUs that have no time",
	},
	{
		Vacuums,
		Reserves,
		OfRun,
		"vacuums ran in the window, and their I/O is among what users achieved: PostgreSQL tells them apart from version 16 on",
	},
	{
		SettingsReloaded,
		Reserves,
		OfRun,
		"a server read its settings anew in the window, in {times} of its seconds: one may have been changed and changed back",
	},
	{
		StoodLong,
		Reserves,
		OfRun,
		"nothing was completed for {seconds} s on end, {share%} of the window in all such times",
	},
	{Distorted, Reserves, OfTarget, "{detail}"},
	{
		DriveThrottled,
		Reserves,
		OfDrive,
		"the drive was throttled because of its temperature: {detail}",
	},
	{IOErrors, Reserves, OfTarget, "{detail}"},
	{NotMerged, Reserves, OfRun, "{detail}"},
	{PaceMissed, Reserves, OfRun, "{detail}"},
	{NotWarm, Reserves, OfRun, "{detail}"},
	{ScanMissed, Reserves, OfTarget, "{detail}"},
	{EventFailed, Reserves, OfRun, "the command of event {event} failed, see run.log: {detail}"},
	{
		BeyondDevice,
		Reserves,
		OfRun,
		"the run took {share%} of what the device record says that the drives can do, so it is a record of other drives, or of these in another state: measure them again by ds2 device",
	},
	{
		MountsAssumed,
		Informs,
		OfTarget,
		"the file systems of {of} ({detail}) may not be read by this user, and are taken to be those that ds2 sees: run ds2 as root or as the server's user",
	},
	{DrivesUnknown, Reserves, OfTarget, "which drives {of} lies on is unknown: {detail}"},
	{
		DevicesElsewhere,
		Withholds,
		OfTarget,
		"{of} lies on {detail}: correct --devices, or leave it out",
	},
	{
		MayBurst,
		Informs,
		OfDrive,
		"{of} may be faster than it can stay {detail}: measure for longer, or after that",
	},
	{
		WithinBurst,
		Reserves,
		OfDrive,
		"{of} may be faster than it can stay {detail}, and the run is no longer than that: measure for longer, or after that",
	},
	{
		BurstEnded,
		Reserves,
		OfRun,
		"{at} s after the begin the rate fell by {share%} and stayed there, as of a burst that ends: {detail}. What was measured before it does not last",
	},
}

// amongRuns has the kinds of which one of several runs means less than a run by itself: limits,
// which a bench judges by the interval of all its runs.
var amongRuns = map[FindingKind]Effect{
	LimitFailed: Informs,
	LimitOpen:   Informs,
}
