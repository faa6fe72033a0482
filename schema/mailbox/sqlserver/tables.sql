{{template "notes" ""}}
GO
-- The table of records. A record fills a page: its body of 7,000 bytes lies in the row, and two do not fit. The
-- clustered key comes with the table, and the rows in its order. Each lookup is by the whole key, so nothing is gained
-- by statistics, and making them would read pages in a run.
-- name: create table messages; table: messages
CREATE TABLE messages (
    message_id bigint          NOT NULL,
    mailbox_id int             NOT NULL,
    flags      int             NOT NULL, -- drawn anew at each write
    crc        int             NOT NULL, -- CRC-32C of key, flags and body
    folder_id  smallint        NOT NULL,
    body       varbinary(7000) NOT NULL,
    CONSTRAINT messages_pkey PRIMARY KEY CLUSTERED (mailbox_id, folder_id, message_id)
{{- if not .Layout.Lacks.Statistics}} WITH (STATISTICS_NORECOMPUTE = ON){{end}}
);
{{- template "user" .}}
