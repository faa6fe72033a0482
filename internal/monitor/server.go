package monitor

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"ds2/schema"
)

// Server is what a reader of a result must know of the database server.
type Server struct {
	Version  string            `json:"version"` // as the server says it
	Settings map[string]string `json:"settings,omitempty"`

	Container *Container `json:"container,omitempty"` // what it may use of its machine, where that is less than all

	Major int    `json:"-"` // major version
	Files []File `json:"-"` // of the database, data before log
}

// ReadServer asks the server. What it refuses to tell (PostgreSQL's data directory is for members of pg_read_all_settings)
// is missing from the answer and named in the error.
func ReadServer(ctx context.Context, db *sql.DB, q schema.Server) (Server, error) {
	s := Server{Settings: map[string]string{}}
	if err := db.QueryRowContext(ctx, q.Version).Scan(&s.Major, &s.Version); err != nil {
		return s, fmt.Errorf("ask the server for its version: %w", err)
	}
	var errs error
	settings, err := ReadSettings(ctx, db, q.Settings)
	s.Settings = settings
	if err != nil {
		errs = fmt.Errorf("ask the server for its settings: %w", err)
	}
	if err := each(ctx, db, q.Files, func(rows *sql.Rows) error {
		var file File
		err := rows.Scan(&file.Role, &file.Path)
		s.Files = append(s.Files, file)
		return err
	}); err != nil {
		s.Files = nil
		errs = errors.Join(errs, fmt.Errorf("ask the server where its files are: %w", err))
	}
	return s, errs
}

// ReadSettings asks the server for names and values. It is an error where none of the queries gives anything.
func ReadSettings(ctx context.Context, db *sql.DB, queries []string) (map[string]string, error) {
	settings := map[string]string{}
	var errs error
	for _, query := range queries {
		errs = errors.Join(errs, each(ctx, db, query, func(rows *sql.Rows) error {
			var name, value string
			err := rows.Scan(&name, &value)
			settings[name] = value
			return err
		}))
	}
	if len(settings) > 0 && len(queries) > 1 {
		errs = nil
	}
	return settings, errs
}

func each(ctx context.Context, db *sql.DB, query string, scan func(*sql.Rows) error) error {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
