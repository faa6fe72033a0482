package preflight

import (
	"fmt"
	"strings"

	"ds2/internal/result"
	"ds2/internal/store"
)

// kind is what may be found before a run, in words: what was looked at, where {of} is a database or
// a file system, what was found of it, where a verb of fmt is a figure, and what to do.
type kind struct {
	name  result.FindingKind // for scripts
	what  string
	state store.State
	found string
	do    string
}

// The kinds.
var (
	oneDatabase = kind{
		"one database", "configurations", store.Failure,
		"%s of %s and %s of %s are one database",
		"load a database for each, or name it alike in both",
	}
	unlike = kind{
		result.Unlike, "configurations", store.Warning,
		"%s and %s are not alike: %s",
		"make them alike, or declare by subject what is meant to differ",
	}
	subjectAlike = kind{
		"subject alike", "configurations", store.Warning,
		"%s is the subject, and all configurations have the same",
		"give them what is to be compared",
	}
	connected = kind{
		"connected", "users of {of}", store.OK, "%d of %d connected at once", "",
	}
	notConnected = kind{
		"not connected", "users of {of}", store.Failure, connected.found,
		"allow as many on the server, and on a pooler in front of it; or use fewer --threads",
	}
	filesUnknown = kind{
		"files unknown", "room of {of}", store.Warning,
		"the server does not show where its files are", "check the free space yourself",
	}
	roomUnknown = kind{
		"room unknown", "room of {of}", store.Warning, "how much is free in %s is unknown",
		"check it yourself, or name an exporter of its machine by --exporter",
	}
	roomEnough   = kind{"room", "room on {of}", store.OK, "%s are free%s", ""}
	roomTooSmall = kind{
		"too little room", "room on {of}", store.Warning, roomEnough.found,
		"free some space: a server whose drive fills up stops",
	}
	notCounted = kind{
		"not counted", "counters", store.Warning, "%s",
		"see ds2 drive --help for --exporter and --devices",
	}
	counted     = kind{"counted", "counters", store.OK, "database host%s", ""}
	memoryHolds = kind{
		result.MemoryHoldsIt, "reads", store.Warning, "%s",
		"load a larger size, or give the server less memory; where that is not its memory, give it by --server-memory",
	}
	distorted = kind{
		result.Distorted, "settings", store.Warning, "%s",
		"change it or the run, or disclose it with the result",
	}
	notDistorted = kind{
		"not distorted", "settings", store.OK,
		"nothing that distorts a test of storage was found", "",
	}
	recordPlace   = kind{"record", "record", store.OK, "goes into %s%s", ""}
	recordRefused = kind{
		"no record", "record", store.Failure, "%s", "give another directory by --out",
	}
	recordTooSmall = kind{
		"too little room", "record", store.Warning, recordPlace.found,
		"make room there, or give another directory by --out",
	}
	openFiles  = kind{"open files", "open files", store.OK, "this process may have %d", ""}
	tooFewOpen = kind{
		"too few open files", "open files", store.Warning, openFiles.found,
		"raise the limit to %d or more: ulimit -Hn, or LimitNOFILE of a service",
	}
)

// makeFinding makes one of a kind, about a database or a file system.
func (k kind) makeFinding(of string, figures ...any) store.Finding {
	return store.Finding{
		Kind: string(k.name), What: strings.Replace(k.what, "{of}", of, 1), State: k.state,
		Found: fmt.Sprintf(k.found, figures...), Do: k.do,
	}
}
