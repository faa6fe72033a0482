{{/* What every workload's database has on SQL Server. The notes are given the clause that places them. */}}
{{- define "notes"}}
-- What the kit notes of a database: what was loaded, and whether it is whole.
-- name: create table ds2_info; table: ds2_info
CREATE TABLE ds2_info (
    name  varchar(50)  NOT NULL CONSTRAINT PK_DS2_INFO PRIMARY KEY CLUSTERED,
    value varchar(max) NOT NULL
){{.}};
GO
-- What an unfinished load has done, so that another can go on with it; dropped at its end.
-- name: create table ds2_steps; table: ds2_steps
CREATE TABLE ds2_steps (
    name   varchar(200) NOT NULL CONSTRAINT PK_DS2_STEPS PRIMARY KEY CLUSTERED,
    copied bigint       NOT NULL -- rows
){{.}};{{end}}

{{- define "options"}}
{{- if not .Layout.Lacks.Recovery}}
GO
-- step: from 2022 on a new database has it on, and it writes to the drives under test.
-- name: switch query store off; transaction: none
ALTER DATABASE {{ident .Database}} SET QUERY_STORE = OFF;
{{- with .Layout.TargetRecovery}}
GO
-- step: within which the server is to recover after a crash, by which pages are written out all the time; 0: by checkpoints.
-- name: set target recovery time; transaction: none
ALTER DATABASE {{ident $.Database}} SET TARGET_RECOVERY_TIME = {{.}} SECONDS;
{{- end}}
{{- end}}{{end}}

{{- define "login"}}
{{- $p := .Layout}}
{{- if $p.Password}}
GO
-- step: the driver's login. The password is checked against the server's policy.
-- name: create login
{{if $p.LoginThere}}ALTER{{else}}CREATE{{end}} LOGIN {{ident $p.Login}} WITH PASSWORD = {{str $p.Password}};
{{- if not $p.Lacks.ServerState}}
GO
-- step: so that a run can record the server's counters. Rights on the server are granted in master only.
-- name: grant view server state
USE master;
GRANT VIEW SERVER STATE TO {{ident $p.Login}};
{{- end}}
{{- end}}{{end}}

{{- define "user"}}
{{- if .Layout.Password}}
GO
-- The driver's user, which owns the database.
-- name: create user
IF USER_ID({{str .Layout.Login}}) IS NULL
    CREATE USER {{ident .Layout.Login}} FOR LOGIN {{ident .Layout.Login}};
{{- if not .Layout.Lacks.Owners}}
GO
-- step: it may have been made for a login of that name that is gone. Azure SQL Database takes this alone in its batch only.
-- name: map user
ALTER USER {{ident .Layout.Login}} WITH LOGIN = {{ident .Layout.Login}};
{{- end}}
GO
-- step: for the user.
-- name: grant to user
{{- if .Layout.Lacks.Owners}}
GRANT SELECT, INSERT, UPDATE, DELETE, EXECUTE ON SCHEMA::dbo TO {{ident .Layout.Login}};
{{- else}}
ALTER ROLE db_owner ADD MEMBER {{ident .Layout.Login}};
{{- end}}
{{- end}}{{end}}
