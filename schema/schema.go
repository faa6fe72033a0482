// Package schema holds the SQL of the databases as plain .sql files, one a workload, phase and
// engine (for DS2: WORKLOAD.md sections 1 and 4), and renders them for a placement and a size. It
// knows no database driver: what it returns is text, and who runs it, in what order and how many
// statements at once, is package load's business.
package schema

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"text/template"
)

// Phase is one stage of making a database.
type Phase string

// The phases, in the order in which a load runs them. The data comes between Tables and Indexes.
const (
	Database   Phase = "database"   // run while connected to another database of the server
	Tables     Phase = "tables"     // without keys, so that the data comes in fast
	Indexes    Phase = "indexes"    // primary keys, indexes, foreign keys
	Procedures Phase = "procedures" // and the restock trigger
	Statistics Phase = "statistics"

	// Drop removes what the other phases made, apart from the database, and nothing else. No load
	// runs it unasked.
	Drop Phase = "drop"

	// Reset takes a database that runs have worked on back to the state after the load.
	Reset Phase = "reset"
	// Data has the server read the dataset from files, one a statement, between Tables and Indexes.
	// Engines that cannot have no such phase: see ReadsFiles.
	Data Phase = "data"
)

// Phases lists the phases in the order in which a load runs them.
var Phases = []Phase{Database, Tables, Indexes, Procedures, Statistics}

// Unasked are the phases that run only where they are asked for.
var Unasked = []Phase{Data, Drop, Reset}

// Params is what the SQL depends on.
type Params struct {
	Workload string // whose database it is: the directory of its SQL; empty: DS2's
	Database string // name of the database to make

	// Customers, OrdersPerMonth and Products are the size, for engines that size their files in
	// advance.
	Customers, OrdersPerMonth, Products int64

	Bytes int64 // the size where it is one in bytes

	// DataTablespace and IndexTablespace are the PostgreSQL tablespaces of tables and of indexes;
	// empty: the default.
	DataTablespace, IndexTablespace string

	Layout Layout
}

// Orders is the number of orders of the dataset: twelve months of them.
func (p Params) Orders() int64 { return 12 * p.OrdersPerMonth }

// files are those of the phases in WORKLOAD/ENGINE, and in ENGINE/kit.sql templates of what all
// workloads have.
//
//go:embed */kit.sql */postgres/*.sql */sqlserver/*.sql
var files embed.FS

// dialect is what rendering needs to know of an engine.
type dialect struct {
	separator string // what the engine's own client wants between two phases
	ident     func(name string) string
	// the command of the engine's own client that goes on in another database
	connect string
	funcs   template.FuncMap // further ones beside ident; may be nil
	bytes   func(Params) int64
}

var dialects = map[string]dialect{
	"postgres": {
		separator: "\n\n", connect: `\connect `, bytes: postgresBytes,
		ident: func(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` },
	},
	"sqlserver": sqlserver,
}

// Engines lists the engines that there is SQL for.
func Engines() []string { return slices.Sorted(maps.Keys(dialects)) }

// ReadsFiles tells whether an engine has the phase Data.
func ReadsFiles(engine string) bool {
	_, there := Params{}.phaseFile(engine, Data)
	return there
}

// phaseFile is the file of a phase.
func (p Params) phaseFile(engine string, phase Phase) (name string, there bool) {
	name = path.Join(p.workloadName(), engine, string(phase)+".sql")
	_, err := fs.Stat(files, name)
	return name, err == nil
}

// workloadName is the directory of the workload's SQL.
func (p Params) workloadName() string { return cmp.Or(p.Workload, "ds2") }

// SQL is the script of a phase as the engine's own command-line client would take it. An engine or
// a phase that there is no SQL for is an error.
func SQL(engine string, phase Phase, p Params) (string, error) {
	d, ok := dialects[engine]
	if !ok {
		known := strings.Join(Engines(), ", ")
		return "", fmt.Errorf("render schema: no engine %q; known: %s", engine, known)
	}
	name, there := p.phaseFile(engine, phase)
	if !there {
		return "", fmt.Errorf("render schema: workload %s on %s has no phase %q; known: %v and %v",
			p.workloadName(), engine, phase, Phases, Unasked)
	}
	t := template.Must(template.New(path.Base(name)).
		Funcs(template.FuncMap{"ident": d.ident}).
		Funcs(d.funcs).
		ParseFS(files, name, path.Join(engine, "kit.sql")))
	var b strings.Builder
	if err := t.Execute(&b, p); err != nil {
		return "", fmt.Errorf("render schema: %w", err)
	}
	return b.String(), nil
}

// Script is the SQL of several phases as one script for the engine's own command-line client: psql,
// sqlcmd.
func Script(engine string, phases []Phase, p Params) (string, error) {
	var b strings.Builder
	for i, phase := range phases {
		sql, err := SQL(engine, phase, p)
		if err != nil {
			return "", err
		}
		d := dialects[engine]
		fmt.Fprintf(&b, "-- phase: %s\n\n%s%s", phase, strings.TrimSpace(sql), d.separator)
		if phase == Database && i+1 < len(phases) {
			fmt.Fprintf(&b, "%s%s%s", d.connect, d.ident(p.Database), d.separator)
		}
	}
	return b.String(), nil
}

// Statements is the script of a phase cut into the statements that are to be run one by one. Where
// there is no phase Data, whose rows are always streamed, it has none.
func Statements(engine string, phase Phase, p Params) ([]Statement, error) {
	if _, there := p.phaseFile(engine, phase); phase == Data && !there {
		return nil, nil
	}
	script, err := SQL(engine, phase, p)
	if err != nil {
		return nil, err
	}
	statements, err := parseScript(script)
	if err != nil {
		return nil, fmt.Errorf("read the %s script of %s: %w", phase, engine, err)
	}
	return statements, nil
}

// Calls are what users of a workload call on an engine, by the names of its operations and in their
// order. Each is in the workload's file calls.sql, or the program is wrong.
func Calls(engine string, p Params, names ...string) (all []Statement) {
	found, err := Statements(engine, "calls", p)
	if err != nil {
		panic(err)
	}
	for _, name := range names {
		place := slices.IndexFunc(found, func(s Statement) bool { return s.Name == name })
		all = append(all, found[place])
	}
	return all
}

// ExpectedBytes is about how large a database of one of Engines is after a load of p's size,
// indexes included, files that are made larger in advance left out. PostgreSQL's was measured; SQL
// Server's is computed from the sizes of its rows.
func ExpectedBytes(engine string, p Params) int64 { return dialects[engine].bytes(p) }

// postgresBytes is pg_database_size after a load, from what it grew by per row of size M on
// PostgreSQL 15, indexes included. Size S comes out 4 % too small: a page of an index that is not
// full weighs more there.
func postgresBytes(p Params) int64 {
	const (
		empty    = 7_500_000 // a database without tables
		customer = 294.5
		order    = 111.5 + linesPerOrder*(74.6+54.8) // with its lines and their CUST_HIST
		product  = 140.9 + 75.0                      // with its INVENTORY
	)
	return empty + p.Bytes + int64(
		customer*float64(p.Customers)+order*float64(p.Orders())+product*float64(p.Products),
	)
}

// sqlServerBytes is the data of all filegroups.
func sqlServerBytes(p Params) int64 {
	customers, orders, misc, indexes := dataMB(p)
	return p.Bytes + (customers+orders+misc+indexes)<<20
}
