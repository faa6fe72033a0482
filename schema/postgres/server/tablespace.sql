-- The tablespace of name $1, or in the directory $1.
SELECT spcname FROM pg_tablespace WHERE $1::text IN (spcname, pg_tablespace_location(oid))
