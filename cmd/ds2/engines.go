package main

import (
	"ds2/internal/store"
	"ds2/internal/store/postgres"
	"ds2/internal/store/sqlserver"
)

func init() {
	store.Engines[postgres.Engine] = postgres.Open
	store.Engines[sqlserver.Engine] = sqlserver.Open
}
