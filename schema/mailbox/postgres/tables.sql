{{- $t := ""}}{{if .DataTablespace}}{{$t = printf " TABLESPACE %s" (ident .DataTablespace)}}{{end -}}
-- The table of records, without its key: that comes with the indexes, after the data. Autovacuum keeps away until the phase
-- statistics.

{{template "notes" .}}

-- A record fills a page: its body of 7,000 bytes lies in the row, and two do not fit.
-- name: create table messages; table: messages
CREATE TABLE messages (
    message_id bigint   NOT NULL,
    mailbox_id integer  NOT NULL,
    flags      integer  NOT NULL, -- drawn anew at each write
    crc        integer  NOT NULL, -- CRC-32C of key, flags and body
    folder_id  smallint NOT NULL,
    body       bytea    NOT NULL
) WITH (autovacuum_enabled = false){{$t}};

-- name: keep bodies in their rows; table: messages
ALTER TABLE messages ALTER COLUMN body SET STORAGE PLAIN;

-- No query asks what values there are, and a sample of 30,000 records would take 240 MB of the server's memory.
-- name: sample few records; table: messages
ALTER TABLE messages ALTER COLUMN message_id SET STATISTICS 1, ALTER COLUMN mailbox_id SET STATISTICS 1, ALTER COLUMN flags SET STATISTICS 1,
    ALTER COLUMN crc SET STATISTICS 1, ALTER COLUMN folder_id SET STATISTICS 1, ALTER COLUMN body SET STATISTICS 1;
