-- The major version, and the server's hash of the text $1.
SELECT current_setting('server_version_num')::int / 10000, hashtextextended($1, 0)
