{{- $i := ""}}{{if .IndexTablespace}}{{$i = printf " USING INDEX TABLESPACE %s" (ident .IndexTablespace)}}{{end -}}
-- name: create primary key of tpcb_branches; table: tpcb_branches; progress: index
ALTER TABLE tpcb_branches ADD PRIMARY KEY (bid){{$i}};

-- name: create primary key of tpcb_tellers; table: tpcb_tellers; progress: index
ALTER TABLE tpcb_tellers ADD PRIMARY KEY (tid){{$i}};

-- name: create primary key of tpcb_accounts; table: tpcb_accounts; progress: index
ALTER TABLE tpcb_accounts ADD PRIMARY KEY (aid){{$i}};
