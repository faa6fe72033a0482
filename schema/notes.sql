{{- /* What the kit notes of a database, in SQL that every engine takes. Placeholders differ from engine to engine, so that values
stand in the text. */ -}}

{{define "notes"}}SELECT name, value FROM ds2_info{{end}}

{{define "forget"}}DELETE FROM ds2_info WHERE name = {{quote .Name}}{{end}}

{{define "note"}}INSERT INTO ds2_info (name, value) VALUES ({{quote .Name}}, {{quote .Value}}){{end}}

{{define "note again"}}UPDATE ds2_info SET value = {{quote .Value}} WHERE name = {{quote .Name}}{{end}}

{{define "steps"}}SELECT name, copied FROM ds2_steps{{end}}

{{define "drop steps"}}DROP TABLE IF EXISTS ds2_steps{{end}}

{{/* The columns of the tables of these names, in the schema in which a load makes its own. */}}
{{define "columns"}}SELECT LOWER(table_name), LOWER(column_name) FROM information_schema.columns
WHERE table_schema = {{.Schema}} AND LOWER(table_name) IN ({{range $i, $table := .Tables}}{{if $i}}, {{end}}{{quote $table}}{{end}}){{end}}
