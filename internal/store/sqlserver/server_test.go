package sqlserver

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"ds2/internal/store"
	"ds2/schema"
)

// ds2Uses is what DS2 uses of a server.
var ds2Uses = schema.Features{Files: true, Recovery: true, Statistics: true, Catalog: true, ServerState: true, Owners: true, FullText: true}

func TestWhatServersLack(t *testing.T) {
	for _, c := range []struct {
		name   string
		server server
		placed bool
		lacks  schema.Features
	}{
		{"SQL Server 2022, new database", server{edition: 3, major: 16, fullText: true}, true, schema.Features{}},
		{"SQL Server 2017, database without filegroups", server{edition: 2, major: 14, fullText: true}, false, schema.Features{Files: true}},
		{"Azure SQL Managed Instance", server{edition: 8, major: 12, fullText: true}, true, schema.Features{Files: true, Recovery: true}},
		{"Azure SQL Database", server{edition: 5, major: 12, fullText: true}, true,
			schema.Features{Files: true, Recovery: true, ServerState: true}},
		{"Babelfish, which gives itself out as a Standard Edition", server{edition: 2, major: 12, babelfish: true, fullText: true}, true,
			schema.Features{Files: true, Recovery: true, Statistics: true, Catalog: true, Owners: true, ServerState: true, DelayedDurability: true}},
	} {
		assert.NoError(t, c.server.check(ds2Uses), c.name)
		assert.Equal(t, c.lacks, c.server.lacks(c.placed), "%s lacks", c.name)
		lines := c.server.leftOut(schema.Layout{Uses: ds2Uses, Lacks: c.lacks, Password: "secret"})
		lacking := 0
		for _, lacks := range []bool{c.lacks.Files, c.lacks.Recovery, c.lacks.Statistics, c.lacks.Catalog, c.lacks.Owners, c.lacks.ServerState} {
			if lacks {
				lacking++
			}
		}
		if c.server.edition == editionManagedInstance && !strings.Contains(lines[0], "the size of a file decides its IOPS") {
			t.Errorf("%s: %s", c.name, lines[0])
		}
		if len(lines) != lacking {
			t.Errorf("%s: %d lines for %d things left out:\n%s", c.name, len(lines), lacking, strings.Join(lines, "\n"))
		}
	}
}

// TestWhatIsNotUsed: nothing is said of what a workload does not use, and it is not asked for.
func TestWhatIsNotUsed(t *testing.T) {
	babelfish := server{edition: 2, major: 12, babelfish: true}
	mailboxes := schema.Layout{Uses: schema.Features{Files: true, DelayedDurability: true}, Lacks: babelfish.lacks(true)}
	lines := strings.Join(babelfish.leftOut(mailboxes), "\n")
	if !strings.Contains(lines, "delayed durability, so no commit can be lazy") || strings.Contains(lines, "full-text") {
		t.Errorf("of a mailbox store on Babelfish it is said: %s", lines)
	}
	if err := (server{edition: 3, major: 16}).check(mailboxes.Uses); err != nil {
		t.Errorf("full-text search is asked for where nobody searches: %v", err)
	}
}

func TestServersThatCannotServe(t *testing.T) {
	for _, c := range []struct {
		server server
		says   string
	}{
		{server{edition: 3, major: 12, fullText: true}, "use SQL Server 2016 or later"},
		{server{edition: 3, major: 16}, "full-text search is not installed"},
		{server{edition: 2, major: 12, babelfish: true}, "EXEC sp_babelfish_configure 'escape_hatch_fulltext', 'ignore', 'server'"},
	} {
		err := c.server.check(ds2Uses)
		if store.Classify(err) != store.Config || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: got error %v, want one of class %s that says %q", c.server, err, store.Config, c.says)
		}
	}
}

// TestDatabasesThatCannotBeLoaded has master say how the target's database stands.
func TestDatabasesThatCannotBeLoaded(t *testing.T) {
	for _, c := range []struct {
		why      string
		database standing
		class    store.Class // empty: it can be loaded
		says     string
	}{
		{"not there", standing{}, "", ""},
		{"online", standing{state: "ONLINE", access: true, collation: "SQL_Latin1_General_CP1_CI_AS"}, "", ""},
		{"recovering after a restart", standing{state: "RECOVERING"}, store.Connection, "wait until its state is ONLINE"},
		{"amid a restore", standing{state: "RESTORING"}, store.Config, "restore it with ds2 snapshot restore, or drop it"},
		{"offline", standing{state: "OFFLINE"}, store.Config, "ALTER DATABASE [DS2] SET ONLINE"},
		{"suspect", standing{state: "SUSPECT"}, store.Config, "look at the server's error log"},
		{"case-sensitive", standing{state: "ONLINE", access: true, collation: "Latin1_General_CS_AS"}, store.Config, "tells upper from lower case"},
		{"binary", standing{state: "ONLINE", access: true, collation: "Latin1_General_BIN2"}, store.Config, "tells upper from lower case"},
	} {
		err := c.database.check("DS2")
		if (err != nil) != (c.class != "") || err != nil && (store.Classify(err) != c.class || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: got %v of class %s, want class %q and %q", c.why, err, store.Classify(err), c.class, c.says)
		}
	}
}
