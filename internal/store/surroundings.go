package store

// Surroundings are what a run is made in, by kind and name.
type Surroundings map[Kind]map[string]string

// Kind is what surroundings are of.
type Kind string

// The kinds.
const (
	OfServer   Kind = "server"  // start, version, recovery, standbys; settings of the server, the database and the role
	OfSchema   Kind = "schema"  // tables, indexes, constraints, functions: as the load made them
	OfCommits  Kind = "commits" // transactions that each database of the server has committed
	OfSessions Kind = "session" // other clients that are at work
)
