package schema

import (
	"embed"
	"path"
	"strings"
	"text/template"
)

//go:embed notes.sql */audit.sql
var commonFiles embed.FS

// Question is the SQL of a question of a workload's audit, of that name in its file. It is there
// and takes the data, or the program is wrong.
func Question(workload, name string, data any) string {
	return fillStatement(path.Join(workload, "audit.sql"), name, data)
}

// Note is an SQL statement on what the kit notes of a database, of that name in notes.sql. It is
// there and takes the data, or the program is wrong.
func Note(name string, data any) string { return fillStatement("notes.sql", name, data) }

// Literal quotes a text for SQL as every engine reads it: placeholders differ from engine to
// engine.
func Literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

func fillStatement(file, name string, data any) string {
	list := func(items ...string) []string { return items }
	t := template.Must(template.New("").
		Funcs(template.FuncMap{"list": list, "quote": Literal}).
		ParseFS(commonFiles, file))
	var text strings.Builder
	if err := t.ExecuteTemplate(&text, name, data); err != nil {
		panic(err)
	}
	return text.String()
}
