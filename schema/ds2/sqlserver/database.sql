{{- $p := .Layout -}}
-- The database, laid out as in the storage report: customers, orders, the rest and the secondary indexes in filegroups
-- of their own, all files sized in advance with 40 % to spare, and the log apart, which grows by 64 MB: from 2022
-- on such a step is not filled with zeros. The collation is fixed so that a run
-- does not depend on the server's.
-- name: create database; unless: exists
CREATE DATABASE {{ident .Database}}
{{- if not $p.Lacks.Files}}
ON PRIMARY
    (NAME = primary_1, FILENAME = {{str (file $p.DataDir .Database "primary_1.mdf")}}, SIZE = 16MB, FILEGROWTH = 64MB)
{{- range filegroups .}},
FILEGROUP {{.Name}}
{{- $f := .}}{{range $i, $name := .Files}}{{if $i}},{{end}}
    (NAME = {{$name}}, FILENAME = {{str (file $p.DataDir $.Database (printf "%s.ndf" $name))}}, SIZE = {{$f.FileMB}}MB, FILEGROWTH = 64MB)
{{- end}}
{{- end}}
LOG ON
    (NAME = log_1, FILENAME = {{str (file $p.LogDir .Database "log_1.ldf")}}, SIZE = {{logMB .}}MB, FILEGROWTH = 64MB)
{{- end}}
COLLATE SQL_Latin1_General_CP1_CI_AS;
{{- if not $p.Lacks.Recovery}}
GO
-- step: bulk-logged while the data is loaded; the statistics phase sets full recovery again.
-- name: set recovery bulk-logged; transaction: none
ALTER DATABASE {{ident .Database}} SET RECOVERY BULK_LOGGED;
{{- end}}
{{- template "options" .}}
{{- template "login" .}}
