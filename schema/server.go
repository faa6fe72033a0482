package schema

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

//go:embed */server/*.sql
var serverFiles embed.FS

// Server is what a benchmark asks of a server besides its orders. Each gives one result.
type Server struct {
	// Version gives one row: the major version as a number, and a line of text with all that the server says of itself.
	Version string
	// Files gives the folders or files that hold the database, one a row, as the server's machine names them.
	Files string
	// Settings gives names and values, without any that may hold a secret.
	Settings string

	engine string
}

// ServerQueries gives the queries of an engine.
func ServerQueries(engine string) (Server, error) {
	s := Server{engine: engine}
	for name, query := range map[string]*string{"version": &s.Version, "files": &s.Files, "settings": &s.Settings} {
		text, err := serverFiles.ReadFile(path.Join(engine, "server", name+".sql"))
		if err != nil {
			return s, fmt.Errorf("find the server queries of engine %q: %w", engine, err)
		}
		*query = string(text)
	}
	return s, nil
}

// Counters gives the query for the server's counters: rows of a name, as package host knows it, and a number. It is made
// of all files counters.sql, counters-from-N.sql and counters-until-N.sql that fit the server's major version.
func (s Server) Counters(version int) (string, error) {
	files, err := fs.Glob(serverFiles, path.Join(s.engine, "server", "counters*.sql"))
	if err != nil {
		return "", err
	}
	var parts []string
	for _, file := range files {
		_, bound, _ := strings.Cut(strings.TrimSuffix(path.Base(file), ".sql"), "-")
		if kind, number, ok := strings.Cut(bound, "-"); ok {
			n, err := strconv.Atoi(number)
			if err != nil {
				return "", fmt.Errorf("read the name of %s: %w", file, err)
			}
			if kind == "from" && version < n || kind == "until" && version > n {
				continue
			}
		}
		text, err := serverFiles.ReadFile(file)
		if err != nil {
			return "", err
		}
		parts = append(parts, string(text))
	}
	return strings.Join(parts, "\nUNION ALL\n"), nil
}
