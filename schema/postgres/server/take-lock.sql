-- Takes the advisory lock $2 of a database and, where $3, the lock $4 of a run, while $1 lets no other session do so until the
-- end of the transaction. They are taken first and looked for then, in all databases: of two sessions that take them in different
-- ones, at least one sees the other.
SELECT pg_advisory_xact_lock($1), CASE WHEN $3 THEN pg_advisory_lock_shared($4) END, pg_advisory_lock_shared($2)
