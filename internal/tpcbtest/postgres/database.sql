-- name: create database; unless: exists
CREATE DATABASE {{ident .Database}}{{if .DataTablespace}} TABLESPACE {{ident .DataTablespace}}{{end}};
