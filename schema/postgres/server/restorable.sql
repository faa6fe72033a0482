-- Whether there is a database $1, a snapshot, and which logical replication slots would go with the database $2.
SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1), coalesce(string_agg(slot_name, ', '), '')
FROM pg_replication_slots WHERE database = $2
