-- What tells this server from every other: clusters that were copied have one identifier, and were not started at one time.
SELECT (SELECT system_identifier FROM pg_control_system()) || ' since ' || extract(epoch FROM pg_postmaster_start_time())
