{{- $i := ""}}{{if .IndexTablespace}}{{$i = printf " USING INDEX TABLESPACE %s" (ident .IndexTablespace)}}{{end -}}
-- step: freeze the rows. Each page would else be written a second time when it is first read in a run.

-- name: freeze messages; table: messages; transaction: none; progress: vacuum
VACUUM FREEZE messages;

-- step: the key.

-- name: create primary key of messages; table: messages; progress: index
ALTER TABLE messages ADD CONSTRAINT messages_pkey PRIMARY KEY (mailbox_id, folder_id, message_id){{$i}};
