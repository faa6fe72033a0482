package main

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"ds2/internal/result"
	"ds2/internal/store/sqlserver/servertest"
)

// TestSQLServerCycles kills the server that servertest gives several times, by DS2_TEST_SQLSERVER_KILL, and starts it again by
// DS2_TEST_SQLSERVER_START: command lines of the shell. Nothing is lost; an order that then is taken away is missed by its number.
func TestSQLServerCycles(t *testing.T) {
	kill, start := os.Getenv("DS2_TEST_SQLSERVER_KILL"), os.Getenv("DS2_TEST_SQLSERVER_START")
	if kill == "" || start == "" {
		t.Skip("no SQL Server to kill: set DS2_TEST_SQLSERVER_URL, and DS2_TEST_SQLSERVER_KILL and DS2_TEST_SQLSERVER_START to commands that kill it and start it again")
	}
	cycles := 3
	if n, err := strconv.Atoi(os.Getenv("DS2_TEST_KILLS")); err == nil {
		cycles = n
	}
	target := servertest.Database(t)
	babelfish, err := servertest.IsBabelfish(target)
	if err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := execute(t, "load", "--target", target, "--size", "1MB", "--quiet"); code != exitDone {
		t.Fatalf("load: exit %d, %s", code, stderr)
	}
	out := filepath.Join(t.TempDir(), "record")
	args := []string{"drive", "--target", target, "--threads", "4", "--ramp-rate", "100", "--warmup-time", "1s", "--crash-cycles", fmt.Sprint(cycles), "--crash-after", "20s",
		"--recovery-timeout", "5m", "--kill-command", kill, "--start-command", start, "--seed", "5", "--metrics-addr", "", "--quiet", "--out", out}
	if !babelfish { // which has no DBCC
		args = append(args, "--deep-every", fmt.Sprint(cycles))
	}
	code, stdout, stderr := execute(t, args...)
	if code != exitDone {
		t.Fatalf("exit %d\n%s\n%s", code, stdout, stderr)
	}
	record, err := result.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	c := record.Cuts
	if c == nil || len(c.Cuts) != cycles || c.Lost != 0 || c.Lossy != 0 || c.Acknowledged == 0 || !record.Audit.Passed {
		t.Fatalf("cuts %+v, audit %+v\n%s", c, record.Audit, stdout)
	}
	for i, cut := range c.Cuts {
		if cut.Acknowledged == 0 || cut.Recovery <= 0 || cut.Kept > cut.InDoubt {
			t.Errorf("cut %d: %+v", i+1, cut)
		}
	}
	t.Logf("%d cuts, %d acknowledged, %d lost", len(c.Cuts), c.Acknowledged, c.Lost)
	db, err := sql.Open("sqlserver", target)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var order int64
	if err := db.QueryRow("SELECT MAX(ORDERID) FROM ORDERS").Scan(&order); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"CUST_HIST", "ORDERLINES", "ORDERS"} {
		if _, err := db.Exec(fmt.Sprintf("DELETE FROM %s WHERE ORDERID = %d", table, order)); err != nil {
			t.Fatal(err)
		}
	}
	code, stdout, stderr = execute(t, "verify", "--target", target, "--quiet", "--record", out)
	missed := regexp.MustCompile(fmt.Sprintf(`FAILED  acknowledged purchases that were lost: expected 0, found 1: order\w* %d`, order))
	if code != exitVerdict || !missed.MatchString(stdout) {
		t.Errorf("order %d was taken away: exit %d\n%s\n%s", order, code, stdout, stderr)
	}
}
