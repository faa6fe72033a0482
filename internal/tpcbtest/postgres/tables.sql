{{- $t := ""}}{{if .DataTablespace}}{{$t = printf " TABLESPACE %s" (ident .DataTablespace)}}{{end -}}
{{template "notes" .}}

-- name: create table tpcb_branches; table: tpcb_branches
CREATE TABLE tpcb_branches (bid integer NOT NULL, number integer NOT NULL, balance bigint NOT NULL, filler char(80) NOT NULL) WITH (fillfactor = 50){{$t}};

-- name: create table tpcb_tellers; table: tpcb_tellers
CREATE TABLE tpcb_tellers (tid integer NOT NULL, bid integer NOT NULL, balance bigint NOT NULL, filler char(80) NOT NULL) WITH (fillfactor = 50){{$t}};

-- name: create table tpcb_accounts; table: tpcb_accounts
CREATE TABLE tpcb_accounts (aid integer NOT NULL, bid integer NOT NULL, balance bigint NOT NULL, filler char(80) NOT NULL){{$t}};

-- name: create table tpcb_history; table: tpcb_history
CREATE TABLE tpcb_history (tid integer NOT NULL, bid integer NOT NULL, aid integer NOT NULL, delta integer NOT NULL, at timestamptz NOT NULL){{$t}};
