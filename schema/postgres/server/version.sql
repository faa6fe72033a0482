-- The major version, and what the server says of itself.
SELECT current_setting('server_version_num')::int / 10000, version()
