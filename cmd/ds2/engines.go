package main

import (
	"net/url"
	"os"

	"ds2/internal/background"
	"ds2/internal/load"
	"ds2/internal/monitor"
	"ds2/internal/preflight"
	"ds2/internal/runs"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
	"ds2/internal/store/sqlserver"
	"ds2/internal/upkeep"
	"ds2/internal/workload/ds2/audit"
)

func engines() store.Engines {
	return store.Engines{
		postgres.Engine: postgres.Open,
		sqlserver.Engine: func(target *url.URL) (store.Database, error) {
			return sqlserver.Open(asSQLCmd(target))
		},
	}
}

// What an engine can do besides store.Database: the compiler holds it to that, or a method that
// changes would be taken for one that is missing.
var (
	_ interface {
		audit.BulkReader
		audit.ChangeCounter
		audit.Placer
		background.Scrubber
		load.Describer
		load.Resetter
		load.Sizer
		load.StatementProgress
		monitor.Adviser
		monitor.Locator
		passwordAsker
		preflight.Examiner
		runs.BufferCounter
		runs.Checkpointer
		upkeep.DeepChecker
		upkeep.Snapshotter
		waiter
	} = (*postgres.Store)(nil)
	_ interface {
		audit.Placer
		background.Scrubber
		load.Resetter
		load.Sizer
		load.StatementProgress
		load.TableLocker
		monitor.Adviser
		passwordAsker
		preflight.Examiner
		runs.CacheDropper
		runs.Checkpointer
		runs.FaultFinder
		upkeep.DeepChecker
		upkeep.LogKeeper
		upkeep.Snapshotter
	} = (*sqlserver.Store)(nil)
)

// proofs are what is yet to be proven of an engine, said wherever its figures show.
var proofs = map[string]string{sqlserver.Engine: sqlserver.Experimental}

// asSQLCmd is a target of SQL Server with the user and password that Microsoft's sqlcmd takes where
// the URL has none.
func asSQLCmd(target *url.URL) *url.URL {
	user := os.Getenv("SQLCMDUSER")
	if target.User != nil || user == "" {
		return target
	}
	with := *target
	with.User = url.UserPassword(user, os.Getenv("SQLCMDPASSWORD"))
	return &with
}
