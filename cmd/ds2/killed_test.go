package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ds2/internal/localpg/pgtest"
)

// killed is the state of a database that commands are killed on.
type killed struct {
	*testing.T
	random *rand.Rand
	target string
	fresh  map[string]string        // contents after the load
	took   map[string]time.Duration // how long each command took the last time that it came to its end
}

// ds2 runs a command to its end, which must be a good one.
func (k *killed) ds2(args ...string) {
	k.Helper()
	start := time.Now()
	if code, stdout, stderr := execute(k.T, args...); code != exitDone {
		k.Fatalf("ds2 %s: exit %d\n%s\n%s", strings.Join(args, " "), code, stdout, stderr)
	}
	k.took[args[0]] = time.Since(start)
}

// kill runs a command in a process of its own and kills that at a random moment of the time that it takes.
func (k *killed) kill(args ...string) {
	k.Helper()
	p := startProgram(k.T, args...)
	wait := time.Duration(k.random.Float64() * 1.1 * float64(max(k.took[args[0]], 100*time.Millisecond)))
	p.start(k.T)
	select {
	case <-p.ended:
	case <-time.After(wait):
		p.Process.Kill()
		<-p.ended
	}
	k.Logf("ds2 %s: killed after %s, %s", args[0], wait.Round(time.Millisecond), p.ProcessState)
}

// same holds the database against the one that was loaded.
func (k *killed) same(after string) {
	k.Helper()
	if got := contents(k.T, k.target); !maps.Equal(got, k.fresh) {
		k.Errorf("after %s:\n%v\nafter the load:\n%v", after, got, k.fresh)
	}
}

// readable reads each record below a directory, whatever a kill left of it, and looks for files that nobody will clear.
func (k *killed) readable(dir string, finished bool) {
	k.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // it was killed before
		case err != nil:
			return err
		case finished && strings.HasSuffix(path, ".partial"):
			k.Errorf("%s is left over", path)
		case d.Name() == "summary.json":
			if code, stdout, stderr := execute(k.T, "report", filepath.Dir(path)); code != exitDone {
				k.Errorf("ds2 report %s: exit %d\n%s\n%s", path, code, stdout, stderr)
			}
		}
		return nil
	})
	if err != nil {
		k.Error(err)
	}
}

// databases are those of the server whose names begin with the target's.
func (k *killed) databases() []string {
	k.Helper()
	db, err := sql.Open("pgx", pgtest.Server(k.T).URL("postgres"))
	if err != nil {
		k.Fatal(err)
	}
	defer db.Close()
	u, _ := url.Parse(k.target)
	rows, err := db.QueryContext(context.Background(), "SELECT datname FROM pg_database WHERE starts_with(datname, $1) ORDER BY 1", u.Path[1:])
	if err != nil {
		k.Fatal(err)
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			k.Fatal(err)
		}
		names = append(names, strings.TrimPrefix(name, u.Path[1:]))
	}
	return names
}

// TestKilled kills ds2 itself with SIGKILL at random moments of its commands. Every record can be read, what is resumed or
// done again comes out exactly as if nothing had been, and nothing stays that the next command does not find.
// DS2_TEST_KILLS asks for another number of kills, DS2_TEST_SEED for other moments.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	kills, err := strconv.Atoi(os.Getenv("DS2_TEST_KILLS"))
	if err != nil {
		kills = 6
	}
	seed, _ := strconv.ParseUint(os.Getenv("DS2_TEST_SEED"), 10, 64)
	k := &killed{T: t, random: rand.New(rand.NewPCG(seed, 21)), target: pgtest.Server(t).URL(fmt.Sprintf("killed%d", seed)), took: map[string]time.Duration{}}
	load := func(more ...string) []string {
		return append([]string{"load", "--target", k.target, "--size", "1MB", "--parallel", "2", "--quiet"}, more...)
	}
	run := func(command, out string, more ...string) []string {
		return append([]string{command, "--target", k.target, "--threads", "2", "--ramp-rate", "100", "--warmup-time", "0", "--metrics-addr", "", "--quiet", "--out", out}, more...)
	}
	drive := func(out string) []string { return run("drive", out, "--run-time", "2s") }
	bench := func(out string) []string {
		return run("bench", out, "--run-time", "1s", "--runs", "2", "--settle", "0s", "--idle", "0s", "--cooldown", "0s", "--keep-marked")
	}
	one := func(args ...string) []string { return append(args, "--target", k.target) }
	k.ds2(load()...)
	defer func() {
		k.ds2(one("snapshot", "drop")...)
		db, err := sql.Open("pgx", pgtest.Server(t).URL("postgres"))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		u, _ := url.Parse(k.target)
		if _, err := db.Exec("DROP DATABASE " + u.Path[1:] + " WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	}()
	k.fresh = contents(t, k.target)
	dir := t.TempDir()
	for i := range kills {
		out := filepath.Join(dir, strconv.Itoa(i))
		switch command := []string{"load", "drive", "bench", "snapshot", "reset", "verify"}[i%6]; command {
		case "load":
			k.kill(load("--drop")...)
			// A load that was killed before it had dropped anything, or at its very end, leaves nothing to resume.
			if code, _, stderr := execute(t, load("--resume")...); code != exitDone && !strings.Contains(stderr, "there is nothing to resume") {
				t.Errorf("resume: exit %d, %s", code, stderr)
			}
		case "drive":
			k.ds2(drive(out)...)
			k.kill(drive(out + "-killed")...)
			k.readable(out+"-killed", false)
			k.ds2(one("reset")...)
		case "bench":
			k.ds2(bench(out)...)
			k.kill(bench(out + "-killed")...)
			k.readable(out+"-killed", false)
			k.ds2(bench(out + "-killed")...)
			k.readable(out+"-killed", true)
			k.ds2(one("reset")...)
		case "snapshot":
			k.ds2(one("snapshot", "create")...)
			k.kill(one("snapshot", "create")...)
			k.ds2(drive(out)...)
			k.ds2(one("snapshot", "restore")...) // the older copy or the new one: they hold the same
			k.same("a snapshot that was killed")
			k.ds2(one("snapshot", "create")...)
			if got := k.databases(); !slices.Equal(got, []string{"", "_ds2_snapshot"}) {
				t.Errorf("databases %q are there, want one and its copy", got)
			}
		case "reset":
			k.ds2(drive(out)...)
			k.kill(one("reset")...)
			k.ds2(one("reset")...)
		case "verify":
			k.kill(one("verify", "--quiet")...)
			k.ds2(one("verify", "--quiet")...)
		}
		k.same(fmt.Sprintf("kill %d", i+1))
		if t.Failed() {
			t.Fatalf("kill %d of seed %d", i+1, seed)
		}
	}
}
