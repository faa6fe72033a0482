\set id random(1, :records)
DELETE FROM messages_pgbench WHERE mailbox_id = 1 + :id % 20 AND folder_id = 1 AND message_id = :id RETURNING flags;
