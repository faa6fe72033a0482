package sqlserver

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"ds2/internal/store"
	"ds2/schema"
)

// ds2Uses is what DS2 uses of a server.
var ds2Uses = schema.Features{
	Files:       true,
	Recovery:    true,
	Statistics:  true,
	Catalog:     true,
	ServerState: true,
	Owners:      true,
	FullText:    true,
}

func TestWhatServersLack(t *testing.T) {
	onBabelfish := ds2Uses
	onBabelfish.FullText = false
	onBabelfish.DelayedDurability = true
	onAzure := schema.Features{Files: true, Recovery: true, ServerState: true}
	for _, c := range []struct {
		name    string
		server  server
		placed  bool
		lacks   schema.Features
		leftOut int // that DS2 uses
	}{
		{
			"SQL Server 2022, new database",
			server{edition: 3, major: 16, fullText: true},
			true,
			schema.Features{},
			0,
		},
		{
			"SQL Server 2017, database without filegroups",
			server{edition: 2, major: 14, fullText: true},
			false,
			schema.Features{Files: true},
			1,
		},
		{
			"Azure SQL Managed Instance",
			server{edition: 8, major: 12, fullText: true},
			true,
			schema.Features{Files: true, Recovery: true},
			2,
		},
		{"Azure SQL Database", server{edition: 5, major: 12, fullText: true}, true, onAzure, 3},
		{
			"Babelfish, which gives itself out as a Standard Edition",
			server{edition: 2, major: 12, babelfish: true, fullText: true},
			true, onBabelfish, 6,
		},
	} {
		assert.NoError(t, c.server.checkUses(ds2Uses), c.name)
		assert.Equal(t, c.lacks, c.server.findLacking(c.placed), "%s lacks", c.name)
		lines := c.server.leftOut(schema.Layout{Uses: ds2Uses, Lacks: c.lacks, Password: "secret"})
		assert.Len(t, lines, c.leftOut, c.name)
		if c.server.edition == editionManagedInstance {
			assert.Contains(t, lines[0], "the size of a file decides its IOPS")
		}
	}
}

// TestWhatIsNotUsed: nothing is said of what a workload does not use, and it is not asked for.
func TestWhatIsNotUsed(t *testing.T) {
	babelfish := server{edition: 2, major: 12, babelfish: true}
	uses := schema.Features{Files: true, DelayedDurability: true}
	mailboxes := schema.Layout{Uses: uses, Lacks: babelfish.findLacking(true)}
	lines := strings.Join(babelfish.leftOut(mailboxes), "\n")
	assert.Contains(t, lines, "delayed durability, so no commit can be lazy")
	assert.NotContains(t, lines, "full-text")
	assert.NoError(t, server{edition: 3, major: 16}.checkUses(uses), "without full-text search")
}

func TestServersThatCannotServe(t *testing.T) {
	for _, c := range []struct {
		server server
		says   string
	}{
		{server{edition: 3, major: 12, fullText: true}, "use SQL Server 2016 or later"},
		{server{edition: 3, major: 16}, "full-text search is not installed"},
		{
			server{edition: 2, major: 12, babelfish: true},
			"EXEC sp_babelfish_configure 'escape_hatch_fulltext', 'ignore', 'server'",
		},
	} {
		err := c.server.checkUses(ds2Uses)
		assert.ErrorContains(t, err, c.says)
		assert.Equal(t, store.Config, store.Classify(err), "%+v", c.server)
	}
}

// TestDatabasesThatCannotBeLoaded has master say how the target's database stands.
func TestDatabasesThatCannotBeLoaded(t *testing.T) {
	const config = store.Config
	for _, c := range []struct {
		why      string
		database standing
		class    store.Class // empty: it can be loaded
		says     string
	}{
		{"not there", standing{}, "", ""},
		{"online", standing{"ONLINE", true, "SQL_Latin1_General_CP1_CI_AS"}, "", ""},
		{
			"after a restart",
			standing{State: "RECOVERING"},
			store.Connection,
			"wait until its state is ONLINE",
		},
		{
			"amid a restore",
			standing{State: "RESTORING"},
			config,
			"restore it with ds2 snapshot restore, or drop it",
		},
		{"offline", standing{State: "OFFLINE"}, config, "ALTER DATABASE [DS2] SET ONLINE"},
		{"suspect", standing{State: "SUSPECT"}, config, "look at the server's error log"},
		{
			"case-sensitive",
			standing{"ONLINE", true, "Latin1_General_CS_AS"},
			config,
			"is case-sensitive",
		},
		{"binary", standing{"ONLINE", true, "Latin1_General_BIN2"}, config, "is case-sensitive"},
	} {
		err := c.database.checkLoadable("DS2")
		if c.class == "" {
			assert.NoError(t, err, c.why)
			continue
		}
		assert.ErrorContains(t, err, c.says, c.why)
		assert.Equal(t, c.class, store.Classify(err), c.why)
	}
}
