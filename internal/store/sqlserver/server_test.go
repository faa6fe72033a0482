package sqlserver

import (
	"strings"
	"testing"

	"ds2/internal/store"
	"ds2/schema"
)

func TestWhatServersLack(t *testing.T) {
	for _, c := range []struct {
		name   string
		server server
		placed bool
		lacks  schema.SQLServerLacks
	}{
		{"SQL Server 2022, new database", server{edition: 3, major: 16, fullText: true}, true, schema.SQLServerLacks{}},
		{"SQL Server 2017, database without filegroups", server{edition: 2, major: 14, fullText: true}, false, schema.SQLServerLacks{Files: true}},
		{"Azure SQL Managed Instance", server{edition: 8, major: 12, fullText: true}, true, schema.SQLServerLacks{Files: true, Recovery: true}},
		{"Azure SQL Database", server{edition: 5, major: 12, fullText: true}, true,
			schema.SQLServerLacks{Files: true, Recovery: true, ServerState: true}},
		{"Babelfish, which gives itself out as a Standard Edition", server{edition: 2, major: 12, babelfish: true}, true,
			schema.SQLServerLacks{Files: true, Recovery: true, Statistics: true, Catalog: true, Owners: true, ServerState: true}},
	} {
		if err := c.server.check(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := c.server.lacks(c.placed); got != c.lacks {
			t.Errorf("%s lacks %+v, want %+v", c.name, got, c.lacks)
		}
		lines := c.server.leftOut(schema.SQLServer{Lacks: c.lacks, Password: "secret"})
		lacking := 0
		for _, lacks := range []bool{c.lacks.Files, c.lacks.Recovery, c.lacks.Statistics, c.lacks.Catalog, c.lacks.Owners, c.lacks.ServerState} {
			if lacks {
				lacking++
			}
		}
		if len(lines) != lacking {
			t.Errorf("%s: %d lines for %d things left out:\n%s", c.name, len(lines), lacking, strings.Join(lines, "\n"))
		}
	}
}

func TestServersThatCannotServe(t *testing.T) {
	for _, c := range []struct {
		server server
		says   string
	}{
		{server{edition: 3, major: 12, fullText: true}, "use SQL Server 2016 or later"},
		{server{edition: 3, major: 16}, "full-text search is not installed"},
	} {
		err := c.server.check()
		if store.Classify(err) != store.Config || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: got error %v, want one of class %s that says %q", c.server, err, store.Config, c.says)
		}
	}
}
