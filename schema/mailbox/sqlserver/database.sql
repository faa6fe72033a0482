{{- $p := .Layout -}}
-- The database: data files with a quarter to spare, and the log apart, which grows by 64 MB:
-- from 2022 on such a step is not filled with zeros. The collation does not matter: no key is a text.
-- name: create database; unless: exists
CREATE DATABASE {{ident .Database}}
{{- if not $p.Lacks.Files}}
{{- $f := mailboxFilegroup .}}
ON {{$f.Name}}
{{- range $i, $name := $f.Files}}{{$kind := "mdf"}}{{if $i}},{{$kind = "ndf"}}{{end}}
    (NAME = {{$name}}, FILENAME = {{str (file $p.DataDir $.Database (printf "%s.%s" $name $kind))}}, SIZE = {{$f.FileMB}}MB, FILEGROWTH = 64MB)
{{- end}}
LOG ON
    (NAME = log_1, FILENAME = {{str (file $p.LogDir .Database "log_1.ldf")}}, SIZE = {{mailboxLogMB .}}MB, FILEGROWTH = 64MB)
{{- end}}
COLLATE SQL_Latin1_General_CP1_CI_AS;
{{- if not $p.Lacks.Recovery}}
GO
-- step: the log is used again and again, as Jetstress's, and a load logs pages and not rows.
-- name: set recovery simple; transaction: none
ALTER DATABASE {{ident .Database}} SET RECOVERY SIMPLE;
{{- end}}
{{- if not $p.Lacks.DelayedDurability}}
GO
-- step: each commit says whether it waits for the log.
-- name: allow lazy commits; transaction: none
ALTER DATABASE {{ident .Database}} SET DELAYED_DURABILITY = ALLOWED;
{{- end}}
{{- if not $p.Lacks.Statistics}}
GO
-- step: an operation that is planned would else have the server read all records for statistics of a column.
-- name: make no statistics by itself; transaction: none
ALTER DATABASE {{ident .Database}} SET AUTO_CREATE_STATISTICS OFF;
{{- end}}
{{- template "options" .}}
{{- template "login" .}}
