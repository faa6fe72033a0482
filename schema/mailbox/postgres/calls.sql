{{define "its key"}}mailbox_id = $1 AND folder_id = $2 AND message_id = $3{{end -}}
-- What a user calls, by the names of the operations. A write gives a row where it found its record, or inserted it.

-- name: read
SELECT flags, crc, body FROM messages WHERE {{template "its key"}}

-- A record that is inserted again, because it is unknown whether it was before, stays as it is.
-- name: insert
INSERT INTO messages (mailbox_id, folder_id, message_id, flags, crc, body) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING RETURNING flags

-- name: replace
UPDATE messages SET flags = $4, crc = $5, body = $6 WHERE {{template "its key"}} RETURNING flags

-- name: delete
DELETE FROM messages WHERE {{template "its key"}} RETURNING flags

-- Has the transaction that it is the first call of commit without waiting for its log. It is sent with the others, and ends with the
-- transaction: the server's own settings stay as they are.
-- name: lazily
SELECT set_config('synchronous_commit', 'off', true)
