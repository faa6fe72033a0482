-- Counters of every version: the database's transactions and pages, and what its sessions are doing just now. Reads are timed where
-- track_io_timing is on.
-- WALWrite and BufferIO are waits for a write or read that another session has under way.
SELECT c.name, c.value::float8
FROM pg_stat_database d, LATERAL (VALUES
    ('commits_total', d.xact_commit),
    ('rollbacks_total', d.xact_rollback),
    ('cache_hits_total', d.blks_hit),
    ('cache_lookups_total', d.blks_hit + d.blks_read),
    ('page_reads_total', d.blks_read),
    ('page_read_seconds_total', CASE WHEN current_setting('track_io_timing')::boolean THEN d.blk_read_time / 1000 END),
    ('temporary_bytes_total', d.temp_bytes),
    ('deadlocks_total', d.deadlocks),
    ('autovacuums_total', (SELECT coalesce(sum(pg_stat_get_autovacuum_count(oid) + pg_stat_get_autoanalyze_count(oid)), 0)::bigint
        FROM pg_class WHERE relkind = 'r' AND oid >= 16384)), -- as pg_stat_user_tables has it, for a third of its cost
    ('vacuums_running', (SELECT count(*) FROM pg_stat_progress_vacuum WHERE datid = d.datid)),
    ('size_bytes', pg_database_size(d.datid))
) c (name, value)
WHERE d.datname = current_database()
UNION ALL
SELECT c.name, c.value::float8
FROM (
    SELECT count(*) FILTER (WHERE doing = 'idle') AS idle,
           count(*) FILTER (WHERE doing = 'running') AS running,
           count(*) FILTER (WHERE doing = 'lock') AS lock,
           count(*) FILTER (WHERE doing = 'storage') AS storage,
           count(*) FILTER (WHERE doing = 'latch') AS latch,
           count(*) FILTER (WHERE doing = 'client') AS client,
           count(*) FILTER (WHERE doing = 'rest') AS rest
    FROM (
        SELECT CASE
            WHEN state IS DISTINCT FROM 'active' THEN 'idle'
            WHEN wait_event_type IS NULL THEN 'running'
            WHEN wait_event_type = 'Lock' THEN 'lock'
            WHEN wait_event_type = 'IO' OR lower(wait_event) IN ('walwrite', 'bufferio') THEN 'storage'
            WHEN wait_event_type = 'LWLock' THEN 'latch'
            WHEN wait_event_type = 'Client' THEN 'client'
            ELSE 'rest'
        END AS doing
        FROM pg_stat_activity
        WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
    ) sessions
) s, LATERAL (VALUES
    ('sessions_idle', s.idle),
    ('sessions_running', s.running),
    ('sessions_waiting_for_lock', s.lock),
    ('sessions_waiting_for_storage', s.storage),
    ('sessions_waiting_for_latch', s.latch),
    ('sessions_waiting_for_client', s.client),
    ('sessions_waiting_for_the_rest', s.rest)
) c (name, value)
{{if ge . 14}}
UNION ALL
-- What sessions_running and its like are samples of, measured: how long sessions were at work on statements.
SELECT 'sessions_active_seconds_total', active_time / 1000 FROM pg_stat_database WHERE datname = current_database()
{{end}}
