{{/* What every workload's database has on PostgreSQL. */}}
{{- define "notes"}}
{{- $t := ""}}{{if .DataTablespace}}{{$t = printf " TABLESPACE %s" (ident .DataTablespace)}}{{end}}
{{- $i := ""}}{{if .IndexTablespace}}{{$i = printf " USING INDEX TABLESPACE %s" (ident .IndexTablespace)}}{{end -}}
-- What the kit notes of a database: what was loaded, and whether it is whole.
-- name: create table ds2_info; table: ds2_info
CREATE TABLE ds2_info (
    name  text PRIMARY KEY{{$i}},
    value text NOT NULL
){{$t}};

-- What an unfinished load has done, so that another can go on with it; dropped at its end.
-- name: create table ds2_steps; table: ds2_steps
CREATE TABLE ds2_steps (
    name   text PRIMARY KEY{{$i}},
    copied bigint NOT NULL -- rows
){{$t}};{{end}}
