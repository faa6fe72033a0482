\set id random(1, :records)
\set flags random(1, 2000000000)
\startpipeline
SELECT set_config('synchronous_commit', 'off', true);
UPDATE messages_pgbench SET flags = :flags, crc = :flags, body = :body WHERE mailbox_id = 1 + :id % 20 AND folder_id = 1 AND message_id = :id RETURNING flags;
\endpipeline
