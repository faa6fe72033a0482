-- What sessions_running and its like are samples of, measured: how long sessions were at work on statements.
SELECT 'sessions_active_seconds_total', active_time / 1000 FROM pg_stat_database WHERE datname = current_database()
