{{define "its key"}}mailbox_id = @p1 AND folder_id = @p2 AND message_id = @p3{{end -}}
{{$begin := ""}}{{$commit := ""}}{{if .Layout.Uses.DelayedDurability -}}
{{$begin = "SET XACT_ABORT ON; BEGIN TRANSACTION; "}}{{$commit = "; COMMIT TRANSACTION WITH (DELAYED_DURABILITY = ON);"}}{{end -}}
-- What a user calls, by the names of the operations: a statement alone is a transaction, and commits in full; with delayed durability
-- it commits lazily. A write gives a row where it found its record, or inserted it.

-- name: read
{{$begin}}SELECT flags, crc, body FROM messages WHERE {{template "its key"}}{{$commit}}

-- The lock of an insert has it wait for a first try that is still under way, also where readers see versions.
-- name: insert
{{$begin}}INSERT INTO messages (mailbox_id, folder_id, message_id, flags, crc, body) OUTPUT 1 SELECT @p1, @p2, @p3, @p4, @p5, @p6 WHERE NOT EXISTS (SELECT 1 FROM messages WITH (UPDLOCK) WHERE {{template "its key"}}){{$commit}}

-- name: replace
{{$begin}}UPDATE messages SET flags = @p4, crc = @p5, body = @p6 OUTPUT 1 WHERE {{template "its key"}}{{$commit}}

-- name: delete
{{$begin}}DELETE FROM messages OUTPUT 1 WHERE {{template "its key"}}{{$commit}}
