\set n :n + 1
\set id 1000000 * (1 + :client_id) + :n
\set flags random(1, 2000000000)
\startpipeline
SELECT set_config('synchronous_commit', 'off', true);
INSERT INTO messages_pgbench (mailbox_id, folder_id, message_id, flags, crc, body) VALUES (1 + :id % 20, 1, :id, :flags, :flags, :body) ON CONFLICT DO NOTHING RETURNING flags;
\endpipeline
