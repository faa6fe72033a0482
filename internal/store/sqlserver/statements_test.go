package sqlserver

import (
	"flag"
	"net/url"
	"os"
	"strings"
	"testing"
)

var statementsFile = flag.String("statements", "", "file to which TestStatements writes the statements that no file of package schema has, to be parsed as T-SQL; without BACKUP LOG, which that parser does not know")

// TestStatements names the database in each statement that changes it or backs it up as T-SQL wants a name.
func TestStatements(t *testing.T) {
	open := func(database string) *Store {
		s, err := Open(&url.URL{Scheme: "sqlserver", User: url.User("sa"), Host: "localhost", RawQuery: url.Values{"database": {database}}.Encode()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s.(*Store)
	}
	s := open("it's]here")
	for _, statement := range []string{s.backUpLog(false), s.backUpLog(true), s.setTarget(longestRecovery)} {
		if !strings.Contains(statement, " [it's]]here] ") {
			t.Error(statement)
		}
	}
	if *statementsFile == "" {
		return
	}
	all := []string{open("MAIL").setTarget(longestRecovery), logChain, keptLogBackup, lastLogBackup, logFileReads, maySettle, ghostRecords, checkpointing,
		forgetReplay, noteReplay, askReplay, logStanding, recoveries, fileReads, askOptions}
	if err := os.WriteFile(*statementsFile, []byte(strings.Join(all, "\nGO\n")+"\nGO\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}
