package schema

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

//go:embed */server/*.sql
var serverFiles embed.FS

// Server is what a benchmark asks of a server besides its orders. Each gives one result.
type Server struct {
	// Version gives one row: the major version as a number, and a line of text with all that the server says of itself.
	Version string
	// Files gives the directories or files that hold the database, one a row, as the server's machine names them.
	Files string
	// Clock gives one row: the server's time, in seconds since 1970.
	Clock string
	// Process gives one row: the number of the process that serves this session, as the server's own container has it, and
	// the name of its program; a null number where the server does not tell.
	Process string
	// Settings give names and values, without any that may hold a secret. Of several queries some may fail: they ask for what
	// only some versions have.
	Settings []string
	// FileCounters gives what the server itself counted of each of the database's files: the file, and reads, writes, bytes
	// read and written, seconds of reads and of writes so far. It is empty where the engine does not count that.
	FileCounters string

	engine string
}

// ServerQueries gives the queries of an engine.
func ServerQueries(engine string) (Server, error) {
	s := Server{engine: engine}
	var settings string
	for name, query := range map[string]*string{"version": &s.Version, "files": &s.Files, "settings": &settings, "file-counters": &s.FileCounters, "process": &s.Process, "clock": &s.Clock} {
		text, err := serverFiles.ReadFile(path.Join(engine, "server", name+".sql"))
		if err != nil && !(query == &s.FileCounters && errors.Is(err, fs.ErrNotExist)) {
			return s, fmt.Errorf("find the server queries of engine %q: %w", engine, err)
		}
		*query = string(text)
	}
	s.Settings = strings.Split(settings, "\nGO\n")
	return s, nil
}

// Counters gives the query for the server's counters: rows of a name, as package host knows it, and a number. It is made
// of all files counters.sql, counters-from-N.sql, counters-until-N.sql and counters-from-N-until-M.sql that fit the server's
// major version.
func (s Server) Counters(version int) (string, error) {
	files, err := fs.Glob(serverFiles, path.Join(s.engine, "server", "counters*.sql"))
	if err != nil {
		return "", err
	}
	var parts []string
	for _, file := range files {
		fits := true
		bounds := strings.Split(strings.TrimSuffix(path.Base(file), ".sql"), "-")[1:]
		for kind := range slices.Chunk(bounds, 2) {
			n, err := strconv.Atoi(kind[len(kind)-1])
			if err != nil {
				return "", fmt.Errorf("read the name of %s: %w", file, err)
			}
			fits = fits && !(kind[0] == "from" && version < n || kind[0] == "until" && version > n)
		}
		if !fits {
			continue
		}
		text, err := serverFiles.ReadFile(file)
		if err != nil {
			return "", err
		}
		parts = append(parts, string(text))
	}
	return strings.Join(parts, "\nUNION ALL\n"), nil
}
