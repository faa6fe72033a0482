-- How many bytes the server reads of file $1 of its directory of data, at $2 and $3 at most; null: the file is gone.
SELECT length(pg_read_binary_file($1, $2, $3, true))
