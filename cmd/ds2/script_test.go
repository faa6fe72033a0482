package main

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/sqlservertest"
	"ds2/internal/store/postgres"
)

func TestMain(m *testing.M) {
	os.Setenv("DS2_THINK_TIME", "20ms") // users leave the CPUs to the tests beside theirs
	testscript.Main(onDrive{m}, map[string]func(){"ds2": func() {
		cleanupTime = patience
		postgres.CancelTime = 10 * time.Second
		main()
	}})
}

// onDrive runs the tests with temporary files on a drive, whose I/Os some of them count; those of
// other packages may lie in memory.
type onDrive struct{ m *testing.M }

func (o onDrive) Run() int {
	os.Setenv("TMPDIR", "/var/tmp")
	return pgtest.Run(o.m)
}

// TestSQLServerScripts runs testdata/sqlserver/*.txtar on the server that sqlservertest gives.
// $TARGET is the URL of a database that does not exist yet; $HOST, $DATABASE, SQLCMDUSER and
// SQLCMDPASSWORD are what the storage report's own command line needs to find the same. The
// condition [babelfish] tells what server it is.
func TestSQLServerScripts(t *testing.T) {
	server := sqlservertest.Database(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/sqlserver",
		Setup: func(e *testscript.Env) error {
			target, err := url.Parse(
				sqlservertest.Database(e.T().(testing.TB)),
			) // the script's, and gone when it ends
			if err != nil {
				return err
			}
			password, _ := target.User.Password()
			e.Setenv("TARGET", target.String())
			e.Setenv("HOST", target.Host)
			e.Setenv("DATABASE", target.Query().Get("database"))
			e.Setenv("SQLCMDUSER", target.User.Username())
			e.Setenv("SQLCMDPASSWORD", password)
			return nil
		},
		Condition: func(condition string) (bool, error) {
			if condition != "babelfish" {
				return false, fmt.Errorf("no condition %q", condition)
			}
			return sqlservertest.IsBabelfish(t, server), nil
		},
	})
}

// TestScripts runs testdata/script/*.txtar. $TARGET is the URL of a PostgreSQL database that holds
// nothing yet, $BIN the directory of that server's programs.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			// The database is the script's: it goes when the script ends.
			tb := e.T().(testing.TB)
			e.Setenv("TARGET", pgtest.Database(tb))
			e.Setenv("BIN", pgtest.Server(tb).BinDir())
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"waitfor": waitFor},
	})
}

// waitFor waits until a file holds a text: waitfor FILE TEXT. The test's own time limit ends it.
func waitFor(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: waitfor FILE TEXT")
	}
	for {
		if content, err := os.ReadFile(ts.MkAbs(args[0])); err == nil &&
			strings.Contains(string(content), args[1]) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}
