package main

import (
	"ds2/internal/store"
	"ds2/internal/store/postgres"
)

func init() {
	store.Engines[postgres.Engine] = postgres.Open
}
