package sqlserver

import (
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/progress"
	"ds2/internal/store"
	"ds2/internal/tdstest"
	"ds2/schema"
)

// These tests give answers in the words of Microsoft's pages, below learn.microsoft.com/sql.

// errorLog is of pages errors-events/mssqlserver-17053, -823, -825, -833-database-engine-error and
// of troubleshooting misaligned I/Os, between lines that tell of no fault.
const errorLog = `Server process ID is 36.
Starting up database 'SQLContoso'.
Error: 17053, Severity: 16, State: 1.
SQLServerLogMgr::LogWriter: Operating system error 1117(The request could not be performed because of an I/O device error.) encountered.
Write error during log flush.
Error: 9001, Severity: 21, State: 5.
The log for database 'SQLContoso' is not available. Check the operating system error log for related error messages.
Error: 823, Severity: 24, State: 2.
Error: 825, Severity: 10, State: 2.
SQL Server has encountered 1 occurrence(s) of I/O requests taking longer than 15 seconds to complete on file [E:\x.mdf] in database [DS2].
There have been 256 misaligned log IOs which required falling back to synchronous IO. The current IO is on file E:\x.ldf.
Error: 18456, Severity: 14, State: 8.
Log was backed up. Database: DS2`

// TestFaultsInErrorLog has a server search an error log as sp_readerrorlog does, by pieces of its
// lines: those of failed, slow and misaligned I/Os are found and no other.
func TestFaultsInErrorLog(t *testing.T) {
	pieces := regexp.MustCompile(`sp_readerrorlog @p2, 1, N'([^']*)'`)
	server := tdstest.Start(t, tdstest.Options{Request: func(payload []byte) []byte {
		var found [][]string
		for _, line := range strings.Split(errorLog, "\n") {
			for _, piece := range pieces.FindAllStringSubmatch(tdstest.Text(payload), -1) {
				if strings.Contains(line, piece[1]) {
					found = append(found, []string{line})
				}
			}
		}
		return named([]string{"said"}, found...)
	}})
	found, err := openURL(t, server.URL("DS2")).errorLines(t.Context(), time.Unix(0, 0))
	require.NoError(t, err)
	lines := strings.Split(errorLog, "\n")
	want := []string{lines[3], lines[5], lines[7], lines[8], lines[9], lines[10]}
	assert.Equal(t, append(want, want...), found, "of this log and of the one before")
}

// TestHints gives errors in the words of sys.messages, and wants what a user can do about each.
func TestHints(t *testing.T) {
	for _, c := range []struct {
		number   int32
		severity byte
		text     string
		class    store.Class
		hint     string
	}{
		{
			1803, 17, "The CREATE DATABASE statement failed. The primary file must be at least 8 MB " +
				"to accommodate a copy of the model database.", store.Config, "shrink model",
		},
		{
			33062, 16, "Password validation failed. The password does not meet SQL Server password policy " +
				"requirements because it is too short.", store.Config, "choose a password",
		},
		{
			33063, 16, "Password validation failed. … because it is too long.", store.Config,
			"choose a password",
		},
		{
			33064, 16, "Password validation failed. … because it is not complex enough.",
			store.Config, "choose a password",
		},
		{
			40630, 16, "Password validation failed. The password … is too short.", store.Config,
			"choose a password",
		},
		{
			40632, 16, "Password validation failed. The password … is not complex enough.",
			store.Config, "choose a password",
		},
		{5011, 14, "User does not have permission to alter database 'DS2'", store.Config, "login"},
		{15247, 16, "User does not have permission to perform this action.", store.Config, "login"},
		{
			15151, 16,
			"Cannot alter the login 'x', because it does not exist or you do not have permission.",
			store.Config, "login",
		},
		{
			15003, 16, "Only members of the sysadmin role can execute this stored procedure.",
			store.Config, "login",
		},
		{
			2557, 14, "User 'x' does not have permission to run DBCC checkdb for database 'DS2'.",
			store.Config, "login",
		},
		{
			40549, 16, "Session is terminated because you have a long-running transaction.",
			store.Resource, "service objective",
		},
		{
			40550, 16, "The session has been terminated because it has acquired too many locks.",
			store.Resource, "service objective",
		},
		{
			40552, 16, "The session has been terminated because of excessive transaction log space usage.",
			store.Resource, "service objective",
		},
		{
			3169, 16, "The database was backed up on a server running version 16.", store.Config,
			"of a newer server",
		},
		{
			3241, 16, "The media family on device 'x.bak' is incorrectly formed.", store.Config,
			"cannot be read",
		},
		{
			3203, 16, "Read on \"x.bak\" failed: 23(Data error (cyclic redundancy check).)",
			store.Config, "cannot be read",
		},
		{
			3271, 16, "A nonrecoverable I/O error occurred on file \"x.bak:\" 112.", store.Config,
			"cannot be read",
		},
	} {
		failed := tdstest.Failed(
			tdstest.Error(c.number, 1, c.severity, c.text),
			tdstest.Error(3013, 1, 16, "RESTORE DATABASE is terminating abnormally."),
		)
		s := answering(t, map[string][]byte{"CHECKPOINT": failed})
		err := s.Checkpoint(t.Context())
		require.ErrorContains(t, err, c.text)
		assert.Equal(t, c.class, store.Classify(err), c.text)
		_, hint, _ := strings.Cut(err.Error(), "; ")
		assert.Contains(t, hint, c.hint, c.text)
	}
}

// TestResourceGovernor: a governor that is on is warned of, and so is not knowing: the views are
// closed to who may not see the server's state.
func TestResourceGovernor(t *testing.T) {
	for want, answer := range map[string][]byte{
		"the Resource Governor is on":             cells("server resource governor", "1"),
		"whether the Resource Governor limits":    denied,
		"the recovery model is SIMPLE; DVD Store": cells("server resource governor", "0"),
	} {
		_, advice, err := answering(t, map[string][]byte{
			askWhat:                       sqlServer2022,
			"'') FROM sys.configurations": cells("database recovery model", "SIMPLE"),
			"dm_resource_governor":        answer,
		}).Advise(t.Context(), time.Hour, 0)
		require.NoError(t, err)
		assert.Contains(t, advice[len(advice)-1], want)
	}
	onAzure := settings{"service objective": "GP_Gen5_2", "database read committed snapshot": "1"}
	_, advice := judgeSettings(onAzure, time.Hour, 0)
	assert.Empty(t, advice, "Azure always governs, and has read committed snapshot on")
}

// TestMailboxStatistics: a server that makes statistics of its own would read all records for them,
// whatever the table's own option says; it is told so of a database that is there already, too.
func TestMailboxStatistics(t *testing.T) {
	var mu sync.Mutex
	var sent []string
	server := tdstest.Start(t, tdstest.Options{Request: func(payload []byte) []byte {
		mu.Lock()
		defer mu.Unlock()
		sent = append(sent, tdstest.Text(payload))
		if strings.Contains(sent[len(sent)-1], "state_desc") {
			return cells("ONLINE", "1", "SQL_Latin1_General_CP1_CI_AS")
		}
		return tdstest.Done(tdstest.DoneFinal)
	}})
	p := schema.Params{Workload: "mailbox", Database: "MAIL", Bytes: 1 << 30}
	statements, err := schema.Statements(Engine, schema.Database, p)
	require.NoError(t, err)
	require.NoError(t, openURL(t, server.URL("MAIL")).CreateDatabase(t.Context(), statements))
	all := strings.Join(sent, "\n")
	assert.Contains(t, all, "ALTER DATABASE [MAIL] SET AUTO_CREATE_STATISTICS OFF")
	assert.NotContains(t, all, "CREATE DATABASE [MAIL]")
}

// TestCollidingNames makes and restores the snapshots of two databases, the name of one of which is
// that of the other with a number, on one server that keeps its backups as files: each gets its
// own.
func TestCollidingNames(t *testing.T) {
	var mu sync.Mutex
	files := map[string]string{} // the database by the file's name
	restored := map[string]string{}
	at := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	times := map[string]time.Time{}
	name := regexp.MustCompile(
		`(BACKUP DATABASE|RESTORE DATABASE|HEADERONLY)(?: \[(\w+)\])? (?:TO|FROM) DISK = N'([^']*)'`,
	)
	server := tdstest.Start(t, tdstest.Options{Request: func(payload []byte) []byte {
		mu.Lock()
		defer mu.Unlock()
		text := tdstest.Text(payload)
		m := name.FindStringSubmatch(text)
		switch {
		case strings.Contains(text, askWhat):
			return sqlServer2022
		case strings.Contains(text, "family_guid"):
			return named([]string{"ServerName"}, []string{"HERE"})
		case strings.Contains(text, "state_desc"):
			return cells("ONLINE", "1", "SQL_Latin1_General_CP1_CI_AS")
		case strings.Contains(text, "FILELISTONLY"):
			return named([]string{"LogicalName"})
		case m == nil:
			return tdstest.Done(tdstest.DoneFinal)
		case m[1] == "BACKUP DATABASE":
			at = at.Add(time.Minute)
			assert.True(
				t,
				files[m[3]] == "" || files[m[3]] == m[2],
				"%s writes over %s",
				m[2],
				files[m[3]],
			)
			files[m[3]] = m[2]
			times[m[3]] = at
		case m[1] == "RESTORE DATABASE":
			restored[m[2]] = files[m[3]]
		case files[m[3]] == "":
			return tdstest.Failed(
				tdstest.Error(3201, 2, 16, "Cannot open backup device '"+m[3]+"'."),
			)
		default:
			return named([]string{"BackupFinishDate", "DatabaseName", "ServerName"},
				[]string{times[m[3]].Format(time.RFC3339Nano), files[m[3]], "HERE"})
		}
		return tdstest.Done(tdstest.DoneFinal)
	}})
	how := store.Copying{Tell: progress.Ignore, Warn: func(string) {}}
	databases := []string{"DS2", "DS2_2", "DS2_1", "1_of_DS2"}
	for range 3 {
		for _, database := range databases {
			require.NoError(t, openURL(t, server.URL(database)).CreateSnapshot(t.Context(), how))
		}
	}
	for _, database := range databases {
		require.NoError(t, openURL(t, server.URL(database)).RestoreSnapshot(t.Context(), how))
		assert.Equal(t, database, restored[database])
	}
	assert.Len(t, files, 2*len(databases))
}
