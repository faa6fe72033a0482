-- The database. Its locale does not matter: no key is a text.
-- name: create database; unless: exists
CREATE DATABASE {{ident .Database}} TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'{{if .DataTablespace}} TABLESPACE {{ident .DataTablespace}}{{end}};
