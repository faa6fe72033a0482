package schema

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/texttest"
)

// The database of the storage report: 20 GB, eight files a filegroup, log elsewhere.
func TestSQLServerLayout(t *testing.T) {
	p := Params{
		Database:       "DS2]1",
		Customers:      40_000_000,
		OrdersPerMonth: 2_000_000,
		Products:       200_000,
		Layout: Layout{
			FilesPerFilegroup: 8,
			DataDir:           `E:\it's`,
			LogDir:            `F:\log\`,
			Login:             "ds2user",
			Password:          "it's",
		},
	}
	script, err := SQL("sqlserver", Database, p)
	require.NoError(t, err)
	texttest.Contains(t, script,
		"CREATE DATABASE [DS2]]1]\n",
		`(NAME = cust_8, FILENAME = N'E:\it''s\DS2]1_cust_8.ndf', SIZE = `,
		`(NAME = log_1, FILENAME = N'F:\log\DS2]1_log_1.ldf', SIZE = `,
		"CREATE LOGIN [ds2user] WITH PASSWORD = N'it''s';",
		"SET RECOVERY BULK_LOGGED;",
	)
	p.Layout.LoginThere = true // of another database, or of a load before
	again, err := SQL("sqlserver", Database, p)
	require.NoError(t, err)
	require.Equal(t, strings.Replace(script, "CREATE LOGIN", "ALTER LOGIN", 1), again)
	assert.Equal(t, 4*8, strings.Count(script, ".ndf'"), "data files: 8 in each of 4 filegroups")
	var files int64
	for _, g := range layOutFilegroups(p) {
		files += g.FileMB * int64(len(g.Files))
	}
	customers, orders, misc, indexes := dataMB(p)
	data := customers + orders + misc + indexes
	assert.InDelta(t, 1.405, float64(files)/float64(data), 0.005, "40 %% to spare")
}

// without renders phases, none of which may have some words.
func without(t *testing.T, p Params, phases []Phase, words ...string) {
	t.Helper()
	for _, phase := range phases {
		statements, err := Statements("sqlserver", phase, p)
		require.NoError(t, err)
		for _, s := range statements {
			for _, not := range words {
				assert.NotContains(t, s.SQL, not, phase)
			}
		}
	}
}

// What a server lacks leaves no trace in the SQL.
func TestSQLServerLacks(t *testing.T) {
	lacks := Features{
		Files:       true,
		Recovery:    true,
		Statistics:  true,
		Catalog:     true,
		ServerState: true,
		Owners:      true,
	}
	p := Params{Database: "DS2", Layout: Layout{Login: "ds2user", Password: "secret", Lacks: lacks}}
	without(
		t,
		p,
		Phases,
		"_FG",
		"FILENAME",
		"RECOVERY",
		"STATISTICS",
		"CATALOG",
		"LANGUAGE",
		"db_owner",
		"SERVER STATE",
	)
}

// A mailbox database has two files that grow no more in a run, and lets each commit say whether it
// waits for the log; a server that lacks this is sent none of it.
func TestMailboxesOnSQLServer(t *testing.T) {
	layout := Layout{FilesPerFilegroup: 2, DataDir: `E:\MAIL`, LogDir: `F:\MAIL`}
	p := Params{Workload: "mailbox", Database: "MAIL", Bytes: 100 << 30, Layout: layout}
	script, err := SQL("sqlserver", Database, p)
	require.NoError(t, err)
	texttest.Contains(
		t,
		script,
		`(NAME = mail_1, FILENAME = N'E:\MAIL\MAIL_mail_1.mdf', SIZE = 64016MB, FILEGROWTH = 64MB),`,
		`(NAME = mail_2, FILENAME = N'E:\MAIL\MAIL_mail_2.ndf', SIZE = 64016MB, FILEGROWTH = 64MB)`+"\nLOG ON",
		`(NAME = log_1, FILENAME = N'F:\MAIL\MAIL_log_1.ldf', SIZE = 10240MB, FILEGROWTH = 64MB)`,
		"ALTER DATABASE [MAIL] SET RECOVERY SIMPLE;",
		"ALTER DATABASE [MAIL] SET DELAYED_DURABILITY = ALLOWED;",
	)
	p.Layout.Lacks = Features{
		Files:             true,
		Recovery:          true,
		Statistics:        true,
		DelayedDurability: true,
	}
	without(
		t,
		p,
		append([]Phase{Drop}, Phases...),
		"FILENAME",
		"RECOVERY",
		"STATISTICS",
		"DURABILITY",
	)
}

// The server reads each file in a separate transaction, with what its table needs and no more.
func TestSQLServerReadsFiles(t *testing.T) {
	p := Params{Database: "DS2", Layout: Layout{
		FilesDir: `\\files\Tom's data\`, CRLF: true,
		Files: []ServerFile{
			{"jan_orderlines.csv", "orderlines", 497},
			{"row_cust.csv", "customers", 1000},
			{"jan_cust_hist.csv", "cust_hist", 497},
		},
	}}
	statements, err := Statements("sqlserver", Data, p)
	require.NoError(t, err)
	require.Len(
		t,
		statements,
		len(p.Layout.Files),
		"%d statements for %d files",
		len(statements),
		len(p.Layout.Files),
	)
	const golden = `SET DATEFORMAT ymd; -- whatever the login's language: dates stand as 2009/12/31
SET XACT_ABORT ON;
BEGIN TRANSACTION;
BULK INSERT CUSTOMERS
FROM N'\\files\Tom''s data\row_cust.csv'
WITH (
    FIELDTERMINATOR = ',', ROWTERMINATOR = '0x0d0a', KEEPIDENTITY, KEEPNULLS, MAXERRORS = 0,
    TABLOCK, ROWS_PER_BATCH = 1000, ORDER (CUSTOMERID)
);
IF @@ROWCOUNT <> 1000 THROW 50002, N'row_cust.csv does not hold the 1000 rows of its manifest', 1;
COMMIT TRANSACTION;`
	assert.Equal(t, golden, statements[1].SQL)
	const lines = "ROWS_PER_BATCH = 497, ORDER (ORDERID, ORDERLINEID)\n"
	for i, want := range []string{lines, "", "ROWS_PER_BATCH = 497\n"} {
		assert.Contains(t, statements[i].SQL, want)
		assert.Equal(
			t,
			i == 1,
			strings.Contains(statements[i].SQL, "KEEPIDENTITY"),
			statements[i].SQL,
		)
	}
	// files of Linux on Linux
	p.Layout.CRLF = false
	p.Layout.FilesDir = "/mnt/data"
	script, err := SQL("sqlserver", Data, p)
	require.NoError(t, err)
	assert.Contains(t, script, "FROM N'/mnt/data/row_cust.csv'")
	assert.NotContains(t, script, "0x0d")
	assert.True(
		t,
		!ReadsFiles("postgres") && ReadsFiles("sqlserver"),
		"SQL Server alone reads files",
	)
}

// TestSQLServerOfOtherKinds: the server's collation may be another than the database's, and names
// of both stand in one column only under one. Azure SQL Database has two numbers for a database,
// and shows no other, not even tempdb.
func TestSQLServerOfOtherKinds(t *testing.T) {
	server := ServerQueries("sqlserver")
	require.Regexp(t, `physical_name COLLATE DATABASE_DEFAULT, file_id FROM tempdb\.`, server.Files)
	require.NotRegexp(t, `\n *FROM sys\.databases WHERE name = 'tempdb'`, server.Identity)
	counters, err := server.Counters("database", 12)
	require.NoError(t, err)
	ofServer, err := server.Counters("server", 12)
	require.NoError(t, err)
	for _, query := range append(server.Settings, counters, ofServer, server.Identity) {
		require.NotRegexp(t, `sys\.databases [^(]*database_id = DB_ID\(\)`, query)
		require.NotRegexp(t, `'EngineEdition'\) = 5`, query, "12 is one in Fabric")
	}
}

// TestSQLServerUnits: what the server counts in kB is given in bytes. Names are compared by =,
// since the blanks that fill them count for LIKE.
func TestSQLServerUnits(t *testing.T) {
	server := ServerQueries("sqlserver")
	kilobytes := 0
	for _, of := range []string{"server", "database"} {
		text, err := server.Counters(of, 16)
		require.NoError(t, err)
		require.NotContains(t, text, "counter_name LIKE")
		for _, m := range regexp.MustCompile(`'([^']*)', '(\w+)', ([0-9.]+)\)`).FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "(KB)") {
				kilobytes++
				require.Equal(t, "1024", m[3], m[2])
			}
		}
	}
	require.Equal(t, 3, kilobytes)
}
