package main

import (
	"database/sql"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"ds2/internal/localpg/pgtest"
)

// contents are sums of all rows of DS2's tables.
func contents(t *testing.T, target string) map[string]string {
	t.Helper()
	db, err := sql.Open("pgx", target)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	sums := map[string]string{}
	for _, table := range []string{"customers", "orders", "orderlines", "cust_hist", "products", "inventory", "reorder", "categories"} {
		var sum string
		err := db.QueryRow("SELECT count(*) || ' rows, ' || coalesce(md5(string_agg(t::text, '|' ORDER BY t::text)), '') FROM " + table + " t").Scan(&sum)
		if err != nil {
			t.Fatal(err)
		}
		sums[table] = sum
	}
	return sums
}

// TestResetAndRestore takes a database back to where it was: every row, and nothing but what was there.
func TestResetAndRestore(t *testing.T) {
	t.Parallel()
	target := pgtest.Database(t)
	ds2 := func(stdout string, args ...string) {
		t.Helper()
		code, out, stderr := execute(t, append(args, "--target", target)...)
		if code != exitDone || !regexp.MustCompile(stdout).MatchString(out) {
			t.Fatalf("ds2 %s: exit %d, %q, want %s\n%s", strings.Join(args, " "), code, out, stdout, stderr)
		}
	}
	run := func() map[string]string {
		t.Helper()
		ds2("", "drive", "--threads", "2", "--ramp-rate", "100", "--warmup-time", "0", "--run-time", "2s", "--metrics-addr", "", "--quiet", "--out", filepath.Join(t.TempDir(), "run"))
		return contents(t, target)
	}
	database := `127\.0\.0\.1:\d+/test\d+ in [\d.]+m?s\n$`
	ds2("^loaded size 1MB into ", "load", "--size", "1MB", "--quiet")
	loaded := contents(t, target)
	if changed := run(); maps.Equal(loaded, changed) {
		t.Fatal("the run changed nothing")
	}
	ds2("^reset "+database, "reset")
	if got := contents(t, target); !maps.Equal(got, loaded) {
		t.Errorf("after reset %v\nwant %v", got, loaded)
	}
	ds2("audit passed", "verify", "--quiet")

	worn := run() // a copy keeps what runs have done, too
	ds2("^copied "+database, "snapshot", "create")
	if further := run(); maps.Equal(worn, further) {
		t.Fatal("the run changed nothing")
	}
	ds2("^restored "+database, "snapshot", "restore")
	if got := contents(t, target); !maps.Equal(got, worn) {
		t.Errorf("after restore %v\nwant %v", got, worn)
	}
	code, _, stderr := execute(t, "bench", "--target", target, "--restore", "snapshot", "--runs", "1", "--settle", "0s", "--idle", "0s", "--cooldown", "0s", "--threads", "2",
		"--ramp-rate", "100", "--warmup-time", "0", "--run-time", "2s", "--metrics-addr", "", "--quiet", "--out", filepath.Join(t.TempDir(), "bench"))
	if code != exitDone || !strings.Contains(stderr, "snapshot: a copy takes ") {
		t.Errorf("bench that restores the copy: exit %d, %s", code, stderr)
	}
	ds2("^dropped the copy of "+database, "snapshot", "drop")
	code, _, stderr = execute(t, "snapshot", "restore", "--target", target)
	if code != exitFailed || !strings.Contains(stderr, "there is no snapshot") {
		t.Errorf("restore without a copy: exit %d, %s", code, stderr)
	}
	ds2("audit passed", "verify", "--quiet") // the database is still there
}

// TestDemoKeep has the database of a demo stay until Ctrl-C.
func TestDemoKeep(t *testing.T) {
	t.Parallel()
	p := startProgram(t, "demo", "--keep", "--size", "1MB", "--threads", "2", "--warmup-time", "0", "--run-time", "1s", "--quiet", "--out", "out")
	stdout, err := os.Create(filepath.Join(p.Dir, "stdout"))
	if err != nil {
		t.Fatal(err)
	}
	defer stdout.Close()
	p.Stdout = stdout
	p.start(t)
	p.await(t, "URL", p.holds("stdout", "\npostgres://"))
	text, err := os.ReadFile(stdout.Name())
	if err != nil {
		t.Fatal(err)
	}
	target := lastLine(string(text))
	if orders := contents(t, target)["orders"]; orders == "" {
		t.Error("no orders")
	}
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	p.Process.Signal(syscall.SIGINT)
	if !p.endsWithin(time.Minute) {
		t.Fatal("the demo did not end")
	}
	if code := p.ProcessState.ExitCode(); code != exitDone {
		t.Errorf("exit %d, %s", code, p.stderr.String())
	}
	if db, err := sql.Open("pgx", fmt.Sprintf("postgres://%s:%s/ds2?connect_timeout=1", u.Hostname(), u.Port())); err == nil {
		defer db.Close()
		if err := db.Ping(); err == nil || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("after the demo its server says %v", err)
		}
	}
}

// TestSnapshotOfUnfinishedLoad refuses to copy what a load has left half done.
func TestSnapshotOfUnfinishedLoad(t *testing.T) {
	t.Parallel()
	target := pgtest.Database(t)
	if code, _, stderr := execute(t, "load", "--size", "1MB", "--quiet", "--target", target); code != exitDone {
		t.Fatal(stderr)
	}
	db, err := sql.Open("pgx", target)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("UPDATE ds2_info SET value = 'loading' WHERE name = 'state'"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	code, _, stderr := execute(t, "snapshot", "create", "--target", target)
	if code != exitFailed || !strings.Contains(stderr, "load was not finished") {
		t.Errorf("exit %d, %s", code, stderr)
	}
}
