-- Whether the user may call the function $1, by which files are read, and the bytes of a file after which a relation goes on in
-- another.
SELECT has_function_privilege($1, 'EXECUTE'), pg_size_bytes(current_setting('segment_size'))
