package schema

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Statement is one statement or batch that is sent to the server as a whole. Everything but its SQL
// stands in its header, the comment before it:
//
//	-- name: create index ix_cust_username; table: customers; progress: index
//	CREATE UNIQUE INDEX ix_cust_username ON customers (username);
//
// Nothing depends on the text of the SQL: it can be reworded and reformatted, and blank lines and
// comments can stand anywhere.
type Statement struct {
	// what it does; no two of an engine's phases have the same: an unfinished load is resumed by
	// them
	Name  string
	Table string // that it works on, in lower case; empty where there is none, or several
	Rows  int64  // that it brings into Table, where it has the server read a file

	// the server refuses it in a transaction; it does no harm when it is run twice
	NoTransaction bool
	Unless        Condition // it is left out where that holds; empty: it is always run
	// in the phase Reset: it makes Table for rows of the dataset, which are copied into it next
	ThenCopy bool

	Progress Progress // by which the server reports how far the statement is; empty: by none

	// Step counts from 0. Statements of one step may run concurrently; a step begins when the one
	// before it has ended.
	Step int

	SQL string
}

// Condition is one under which a statement is left out. The SQL names it, and whoever runs the
// statements finds out whether it holds: only the server of the moment knows.
type Condition string

// The conditions.
const (
	UnlessExists    Condition = "exists"    // in the phase Database: the database is there
	UnlessUntouched Condition = "untouched" // in the phase Reset: it changed nothing in Table
	UnlessAnalyzed  Condition = "analyzed"  // in the phase Reset: Table has the statistics noted
)

// ByTable puts the statements of a table together, in their order; one that works on none, or on
// several, is alone.
func ByTable(statements []Statement) (groups [][]Statement) {
	of := map[string]int{} // index into groups
	for _, s := range statements {
		i, ok := of[s.Table]
		if !ok || s.Table == "" {
			i = len(groups)
			of[s.Table] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], s)
	}
	return groups
}

// Progress is a means by which a server reports how far a statement is.
type Progress string

// What a server reports the progress of while a statement runs.
const (
	IndexProgress    Progress = "index"     // building an index
	VacuumProgress   Progress = "vacuum"    // vacuuming a table
	AnalyzeProgress  Progress = "analyze"   // sampling a table for the planner
	ScanProgress     Progress = "scan"      // reading a whole table, which no server reports on
	FullTextProgress Progress = "full-text" // filling a full-text index in the background
)

const (
	headerPrefix = "-- name:" // begins a statement's header
	stepPrefix   = "-- step:" // begins the comment that stands between two steps
	// alone on a line, ends a batch for SQL Server's own clients, and no statement for others
	batchEnd = "GO"
)

// parseScript cuts a script into its statements: each goes from its header to the next one, to a
// step or to the end of its batch.
func parseScript(script string) ([]Statement, error) {
	var statements []Statement
	var current *Statement // nil between a statement's end and the next header
	// since the last line of SQL: they are part of it where more of it follows
	comments := ""
	step := 0
	for line := range strings.Lines(script) {
		word := strings.TrimSpace(line)
		header, isHeader := strings.CutPrefix(word, headerPrefix)
		isStep := strings.HasPrefix(word, stepPrefix)
		isComment := word == "" || strings.HasPrefix(word, "--")
		switch {
		case isHeader:
			s, err := parseHeader(header)
			if err != nil {
				return nil, fmt.Errorf("header %q: %w", word, err)
			}
			s.Step = step
			statements = append(statements, s)
			current = &statements[len(statements)-1]
		case isStep || word == batchEnd:
			current = nil
			if isStep && len(statements) > 0 {
				step = statements[len(statements)-1].Step + 1
			}
		case isComment:
			comments += line
		case current == nil:
			return nil, fmt.Errorf("%q is outside any statement: it needs a header", word)
		default:
			if current.SQL == "" {
				comments = "" // of the header: they are for those who read the file
			}
			current.SQL += comments + line
			comments = ""
		}
	}
	for i := range statements {
		s := &statements[i]
		if s.SQL = strings.TrimSpace(s.SQL); s.SQL == "" {
			return nil, fmt.Errorf("statement %q has no SQL", s.Name)
		}
	}
	return statements, nil
}

// parseHeader reads what stands behind "-- name:". A field that is unknown is an error: a slip in
// one would have a statement run when it must not be.
func parseHeader(text string) (Statement, error) {
	fields := strings.Split(text, ";")
	s := Statement{Name: strings.TrimSpace(fields[0])}
	if s.Name == "" {
		return s, errors.New("the name is empty")
	}
	var err error
	for _, field := range fields[1:] {
		field = strings.TrimSpace(field)
		key, value, _ := strings.Cut(field, ": ")
		switch {
		case field == "transaction: none":
			s.NoTransaction = true
		case field == "then: copy":
			s.ThenCopy = true
		case key == "unless":
			s.Unless = Condition(value)
		case key == "rows":
			s.Rows, err = strconv.ParseInt(value, 10, 64)
		case key == "table":
			s.Table = value
		case key == "progress":
			s.Progress = Progress(value)
		default:
			err = fmt.Errorf("unknown field %q", field)
		}
		if err != nil {
			return s, err
		}
	}
	return s, nil
}
