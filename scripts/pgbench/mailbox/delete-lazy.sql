\set d least(:d + 1, :n)
\set id 1000000 * (1 + :client_id) + :d
\startpipeline
SELECT set_config('synchronous_commit', 'off', true);
DELETE FROM messages_pgbench WHERE mailbox_id = 1 + :id % 20 AND folder_id = 1 AND message_id = :id RETURNING flags;
\endpipeline
