package schema

import (
	"cmp"
	"fmt"
	"strings"
	"text/template"
)

// Layout is how a database is laid out on servers with separate files, and what the SQL depends on
// besides the size.
type Layout struct {
	// FilesPerFilegroup is the number of files of each of the four filegroups; 0 counts as 1. The
	// storage report used 8 on 24 cores.
	FilesPerFilegroup int

	// on the server's disks; empty: where SQL Server on Linux keeps its databases
	DataDir, LogDir string

	// that the driver connects with; no login is made where Password is empty
	Login, Password string
	LoginThere      bool // the login is there already; the server is asked in Adapt

	// TargetRecovery is the database's TARGET_RECOVERY_TIME in seconds; nil: as the server gives
	// it. 0 has checkpoints come as before 2016.
	TargetRecovery *int

	LogMB int64 // size of the log file; 0: a share of the data's

	FilesDir string       // the directory, as the server sees it, of
	Files    []ServerFile // the files that the phase Data has it read
	CRLF     bool         // their lines end in CR LF, not LF

	Uses  Features // of a server by the workload
	Lacks Features // of the server at hand; the zero value is a SQL Server that can do it all
}

// Features are what some servers of SQL Server's family cannot take of the layout and the tuning.
// The statements are then left out; but for full-text search, the benchmark can do without them.
type Features struct {
	Files       bool // filegroups and files to place
	Recovery    bool // recovery models to choose
	Statistics  bool // CREATE STATISTICS and UPDATE STATISTICS
	Catalog     bool // full-text catalogs, and options of full-text indexes
	ServerState bool // the right VIEW SERVER STATE, to read the server's counters
	// members in the role db_owner: the driver's user is then granted the tables and procedures
	Owners   bool
	FullText bool // full-text search

	DelayedDurability bool // commits that do not wait for the log
}

// ServerFile is a file of rows of one table.
type ServerFile struct {
	Name  string // without its directory
	Table string
	Rows  int64 // exactly: a file that turns out to hold another number is refused
}

// ClusteredKey holds the columns of the tables' clustered keys by the tables' names in lower case.
// The dataset's rows come in that order, and a bulk load that is told so need not sort them.
// CUST_HIST has no such key.
var ClusteredKey = map[string]string{
	"customers":  "CUSTOMERID",
	"orders":     "ORDERID",
	"orderlines": "ORDERID, ORDERLINEID",
	"products":   "PROD_ID",
	"inventory":  "PROD_ID",
	"messages":   "mailbox_id, folder_id, message_id",
}

// filegroup is one filegroup with its files.
type filegroup struct {
	Name   string
	Files  []string
	FileMB int64
}

// newFilegroup makes one of n files whose names begin alike.
func newFilegroup(name, file string, n int, fileMB int64) filegroup {
	g := filegroup{Name: name, FileMB: fileMB}
	for i := range n {
		g.Files = append(g.Files, fmt.Sprintf("%s_%d", file, i+1))
	}
	return g
}

// The bytes that a row takes in a page of SQL Server, its header, null bitmap and slot included, at
// 95 % full pages. Index bytes are those of all secondary indexes together, the full-text index
// among them.
const (
	customerBytes, customerIndexBytes = 200, 38
	orderBytes, orderIndexBytes       = 47, 15
	orderlineBytes                    = 27
	custHistBytes, custHistIndexBytes = 23, 42
	productBytes, productIndexBytes   = 75, 240
	inventoryBytes                    = 22

	linesPerOrder = 5  // on average
	catalogMB     = 16 // the server's own tables, and small ones
)

// The files are made larger than the data, so that nothing grows in a run: WORKLOAD.md section 1
// says about 40 %.
const (
	spare          = 1.4
	smallestFileMB = 4
	smallestLogMB  = 256
)

// dataMB is the expected size of each filegroup after the load.
func dataMB(p Params) (customers, orders, misc, indexes int64) {
	const mb = 1 << 20
	o := p.Orders()
	l := o * linesPerOrder
	customers = (p.Customers*customerBytes + l*custHistBytes) / mb
	orders = (o*orderBytes + l*orderlineBytes) / mb
	misc = catalogMB + p.Products*(productBytes+inventoryBytes)/mb
	rows := p.Customers*customerIndexBytes + o*orderIndexBytes +
		l*custHistIndexBytes + p.Products*productIndexBytes
	indexes = rows / mb
	return customers, orders, misc, indexes
}

// SQLServerFilegroup is one of the filegroups, by which it is known whether a database has them.
const SQLServerFilegroup = "DS_CUST_FG"

// layOutFilegroups lays the files out.
func layOutFilegroups(p Params) []filegroup {
	customers, orders, misc, indexes := dataMB(p)
	n := max(p.Layout.FilesPerFilegroup, 1)
	group := func(name, file string, mb int64) filegroup {
		return newFilegroup(name, file, n, max(int64(float64(mb)*spare)/int64(n)+1, smallestFileMB))
	}
	return []filegroup{
		group(SQLServerFilegroup, "cust", customers),
		group("DS_ORDERS_FG", "orders", orders),
		group("DS_MISC_FG", "misc", misc),
		group("DS_IND_FG", "ind", indexes),
	}
}

// logMB sizes the log as the files' spare room, at least smallestLogMB: what a run adds to the one
// it writes to the other.
func logMB(p Params) int64 {
	customers, orders, misc, indexes := dataMB(p)
	share := int64(float64(customers+orders+misc+indexes) * (spare - 1))
	return cmp.Or(p.Layout.LogMB, max(share, smallestLogMB))
}

// What a mailbox database grows by in a run has room, as Jetstress keeps it: mailbox/WORKLOAD.md
// section 1.
const (
	mailboxSpare    = 1.25
	mailboxLogShare = 0.1
	// MB: under simple recovery it holds what was written since the last checkpoint
	largestMailboxLog = 16 << 10
)

// mailboxFilegroup has the data files of a mailbox database; the first also holds the server's own
// tables.
func mailboxFilegroup(p Params) filegroup {
	n := max(p.Layout.FilesPerFilegroup, 1)
	fileMB := catalogMB + int64(float64(p.Bytes)/(1<<20)*mailboxSpare)/int64(n)
	return newFilegroup("PRIMARY", "mail", n, fileMB)
}

// mailboxLogMB is the size of its log.
func mailboxLogMB(p Params) int64 {
	share := int64(float64(p.Bytes) / (1 << 20) * mailboxLogShare)
	return cmp.Or(p.Layout.LogMB, min(max(share, smallestLogMB), largestMailboxLog))
}

// filePath is the path on the server of one of a database's files.
func filePath(dir, database, file string) string {
	return joinServerPath(cmp.Or(dir, "/var/opt/mssql/data"), database+"_"+file)
}

// joinServerPath is the path of a file in a directory on the server, with the server's own kind of
// slash.
func joinServerPath(dir, file string) string {
	slash := "/"
	if strings.Contains(dir, `\`) || strings.HasSuffix(dir, ":") {
		slash = `\`
	}
	return strings.TrimRight(dir, `/\`) + slash + file
}

// quoteName quotes a name and quoteText a text for SQL Server.
func quoteName(name string) string { return "[" + strings.ReplaceAll(name, "]", "]]") + "]" }
func quoteText(text string) string { return "N'" + strings.ReplaceAll(text, "'", "''") + "'" }

// onFilegroup is the clause that places a table or an index, empty where the server has no
// filegroups.
func onFilegroup(p Params, name string) string {
	if p.Layout.Lacks.Files {
		return ""
	}
	return " ON " + name
}

var sqlserver = dialect{
	separator: "\nGO\n", connect: "USE ", ident: quoteName, bytes: sqlServerBytes,
	funcs: template.FuncMap{
		"str":              quoteText,
		"file":             filePath,
		"filegroups":       layOutFilegroups,
		"logMB":            logMB,
		"on":               onFilegroup,
		"join":             joinServerPath,
		"upper":            strings.ToUpper,
		"mailboxFilegroup": mailboxFilegroup,
		"mailboxLogMB":     mailboxLogMB,
		// empty where it has none
		"clusteredKey": func(table string) string { return ClusteredKey[table] },
	},
}
