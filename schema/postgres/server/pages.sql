-- The server's name, whether its pages carry checksums, and its major version.
SELECT 'PostgreSQL ' || current_setting('server_version'), current_setting('data_checksums') = 'on',
	current_setting('server_version_num')::int / 10000
