package main

import (
	"net/url"
	"os"

	"ds2/internal/store"
	"ds2/internal/store/postgres"
	"ds2/internal/store/sqlserver"
)

// engines are the databases that ds2 knows.
func engines() store.Engines {
	return store.Engines{
		postgres.Engine:  postgres.Open,
		sqlserver.Engine: func(target *url.URL) (store.Database, error) { return sqlserver.Open(asSQLCmd(target)) },
	}
}

// proofs are what is yet to be proven of an engine, said wherever its figures show.
var proofs = map[string]string{sqlserver.Engine: sqlserver.Experimental}

// asSQLCmd is a target of SQL Server with the user and password that Microsoft's sqlcmd takes where the URL has none.
func asSQLCmd(target *url.URL) *url.URL {
	user := os.Getenv("SQLCMDUSER")
	if target.User != nil || user == "" {
		return target
	}
	with := *target
	with.User = url.UserPassword(user, os.Getenv("SQLCMDPASSWORD"))
	return &with
}
