package store

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
)

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

// Change is one thing that was not as it had been.
type Change struct {
	What   string `json:"what"`
	Before string `json:"before,omitempty"` // empty: it was not there
	After  string `json:"after,omitempty"`  // empty: it is not there any more
}

// Changes are the differences of one kind, in the order of names.
func (s Surroundings) Changes(kind Kind, after Surroundings) (all []Change) {
	names := maps.Clone(s[kind])
	if names == nil {
		names = map[string]string{}
	}
	maps.Copy(names, after[kind])
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if was, is := s[kind][name], after[kind][name]; was != is {
			all = append(all, Change{What: name, Before: was, After: is})
		}
	}
	return all
}

// infoSchema is the name in Info of the schema as the load left it.
const infoSchema = "schema"

// NoteSchema notes in a database, at the end of a load, the schema that it has made.
func NoteSchema(ctx context.Context, d Database) error {
	ask := d.Can().Surroundings
	if ask == nil {
		return nil
	}
	made, err := ask(ctx)
	if err != nil {
		return err
	}
	text, err := json.Marshal(made[OfSchema])
	if err != nil {
		return err
	}
	return d.Wrap("note the schema", SetInfo(ctx, d.DB(), infoSchema, string(text)))
}

// LoadedSchema is the schema as the load left it; none where that was not noted.
func (i Info) LoadedSchema() Surroundings {
	schema := map[string]string{}
	if json.Unmarshal([]byte(i[infoSchema]), &schema) != nil {
		return nil
	}
	return Surroundings{OfSchema: schema}
}
