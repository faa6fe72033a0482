package schema

import (
	"embed"
	"path"
	"strings"
	"text/template"
)

//go:embed */server/*.sql */database/*.sql
var serverFiles embed.FS

// Server is what a benchmark asks of a server and of a database of it besides its orders. Each
// gives one result. What all databases of a server share is asked of the server, once however many
// of them are under test.
type Server struct {
	// gives one row: a text that no other server has, and the same of each of its databases
	Identity string
	// gives one row: the major version, and a line with all that the server says of itself
	Version string
	// Process gives one row: the number of the process that serves this session, as the server's
	// own container has it, the name of its program, its age in seconds, and the port on which it
	// listens; null for the one of number and port that the server does not know.
	Process string

	// Files gives the directories or files that hold the database, its log and its temporary files,
	// a role and a path each, as the server's machine names them.
	Files string
	// Settings give names and values, without any that may hold a secret. Of several queries some
	// may fail: they ask for what only some versions have.
	Settings []string
	// OtherSettings gives those of the server besides that are not at their defaults; empty: the
	// engine's Settings are all.
	OtherSettings string
	// FileCounters gives what the server itself counted of each of the database's files: the file,
	// and reads, writes, bytes read and written, seconds of reads and of writes so far. It is empty
	// where the engine does not count that.
	FileCounters string

	engine string
}

// ServerQueries reads the queries of an engine's directories server and database. An engine that
// has none is not one of Engines, and the program is wrong.
func ServerQueries(engine string) Server {
	find := func(name string) string {
		text, _ := serverFiles.ReadFile(path.Join(engine, name+".sql")) // none: it does not tell
		return string(text)
	}
	return Server{
		Identity:      Query(engine, "server/identity"),
		Version:       find("server/version"),
		Process:       find("server/process"),
		Files:         find("database/files"),
		Settings:      strings.Split(find("database/settings"), "\nGO\n"),
		OtherSettings: find("server/other-settings"),
		FileCounters:  find("database/file-counters"),
		engine:        engine,
	}
}

// Query is what an engine asks a server or a database besides, by the name of its file, such as
// "database/schema". It is there, or the program is wrong.
func Query(engine, name string) string {
	text, err := serverFiles.ReadFile(path.Join(engine, name+".sql"))
	if err != nil {
		panic(err)
	}
	return string(text)
}

// Check is one of the statements of a file of Query that stand by themselves, each with a header
// that names it.
func Check(engine, file, name string) string {
	statements, err := parseScript(Query(engine, file))
	if err != nil {
		panic(err)
	}
	for _, statement := range statements {
		if statement.Name == name {
			return statement.SQL
		}
	}
	panic(file + " has no statement " + name)
}

// Counters gives the query for what a server of a major version counts for all its databases
// together, of "server", or for each apart, of "database": rows of a name, as package monitor knows
// it, and a number. Its file is a template of the version, which leaves out what only others count.
func (s Server) Counters(of string, version int) (string, error) {
	t, err := template.ParseFS(serverFiles, path.Join(s.engine, of, "counters.sql"))
	if err != nil {
		return "", err
	}
	var query strings.Builder
	err = t.Execute(&query, version)
	return query.String(), err
}
