-- step: what the planner goes by.

-- name: analyze messages; table: messages; progress: analyze
ANALYZE messages;

-- step: from now on autovacuum is welcome. It comes sooner than by default, as every dead row keeps a page from being used again.

-- name: allow autovacuum of messages; table: messages
ALTER TABLE messages SET (autovacuum_enabled = true, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
