-- The value that is noted under the name $1.
SELECT value FROM ds2_info WHERE name = $1