-- How often the log was synced, which is once for each commit that waited, or for several at once.
SELECT 'log_syncs_total', sum(fsyncs)::float8 FROM pg_stat_io WHERE object = 'wal'
