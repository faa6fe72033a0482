-- The database, in the C locale: user names and titles are plain ASCII, and comparing them byte by byte keeps sorting
-- and index look-ups independent of the server's locale.
-- name: create database; unless: exists
CREATE DATABASE {{ident .Database}} TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'{{if .DataTablespace}} TABLESPACE {{ident .DataTablespace}}{{end}};
