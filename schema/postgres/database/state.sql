-- What a run is made in besides the schema: kind, name and value. $1 are the processes of ds2's own sessions.
SELECT 'server', 'its start', pg_postmaster_start_time()::text
UNION ALL SELECT 'server', 'version', current_setting('server_version')
-- After a failover another server answers: a copy of the cluster, on the next timeline.
UNION ALL SELECT 'server', 'cluster', system_identifier::text FROM pg_control_system()
UNION ALL SELECT 'server', 'timeline', CASE WHEN pg_is_in_recovery() THEN timeline_id
        ELSE ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int END::text
    FROM pg_control_checkpoint()
UNION ALL SELECT 'server', 'recovery', pg_is_in_recovery()::text
UNION ALL SELECT 'server', 'synchronous standbys', count(*)::text FROM pg_stat_replication
    WHERE sync_state IN ('sync', 'quorum')
UNION ALL SELECT 'server', 'setting ' || name, setting FROM pg_settings
    WHERE name ~ '^(autovacuum|bgwriter_|checkpoint_|commit_|enable_|jit|max_wal|min_wal|wal_|vacuum_cost)'
        OR name IN ('data_directory', 'fsync', 'full_page_writes', 'shared_buffers', 'work_mem', 'maintenance_work_mem', 'huge_pages',
            'synchronous_commit', 'synchronous_standby_names', 'io_method', 'io_workers',
            'effective_io_concurrency', 'random_page_cost', 'effective_cache_size',
            'default_transaction_isolation', 'plan_cache_mode')
UNION ALL SELECT 'server', format('settings of role %s and database %s', coalesce(rolname, 'any'),
        coalesce(datname, 'any')), array_to_string(setconfig, ', ')
    FROM pg_db_role_setting LEFT JOIN pg_roles r ON r.oid = setrole LEFT JOIN pg_database d ON d.oid = setdatabase
    WHERE (setdatabase = 0 OR datname = current_database()) AND (setrole = 0 OR rolname = current_user)
UNION ALL SELECT 'commits', datname, xact_commit::text FROM pg_stat_database WHERE datname <> ''
UNION ALL SELECT 'session', format('%s of user %s on %s, process %s', coalesce(nullif(application_name, ''),
        'no name'), usename, datname, pid), state
    FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> ALL ($1) AND state = 'active'
        AND application_name NOT LIKE 'ds2%'
