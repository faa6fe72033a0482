package schema

import (
	"embed"
	"path"
	"strings"
	"text/template"
)

//go:embed */audit.sql
var auditFiles embed.FS

// Question is the SQL of a question of a workload's audit, of that name in its file. It is there
// and takes the data, or the program is wrong.
func Question(workload, name string, data any) string {
	list := func(items ...string) []string { return items }
	t := template.Must(template.New("").Funcs(template.FuncMap{"list": list}).
		ParseFS(auditFiles, path.Join(workload, "audit.sql")))
	var text strings.Builder
	if err := t.ExecuteTemplate(&text, name, data); err != nil {
		panic(err)
	}
	return text.String()
}
