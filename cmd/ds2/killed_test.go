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
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/nightly"
)

// killed is the state of a database that commands are killed on.
type killed struct {
	*testing.T
	random *rand.Rand
	target string
	fresh  map[string]string        // contents after the load
	took   map[string]time.Duration // how long each command took that came to its end, in a process of its own
}

// ds2 runs a command to its end, which must be a good one.
func (k *killed) ds2(args ...string) {
	k.Helper()
	if code, stdout, stderr := execute(k.T, args...); code != exitDone {
		k.Fatalf("ds2 %s: exit %d\n%s\n%s", redact(strings.Join(args, " ")), code, stdout, stderr)
	}
}

// kill runs a command in a process of its own and kills that at a random moment of the time that it takes; false where it came
// to its end before.
func (k *killed) kill(name string, args ...string) bool {
	k.Helper()
	took, known := k.took[name]
	wait := time.Duration(k.random.Float64() * float64(took))
	p := startProgram(k.T, args...)
	start := time.Now()
	p.start(k.T)
	if known {
		select {
		case <-p.ended:
		case <-time.After(wait):
			p.Process.Kill()
		}
	}
	<-p.ended
	status := p.ProcessState.Sys().(syscall.WaitStatus)
	switch {
	case status.Signaled() && status.Signal() == syscall.SIGKILL:
		k.Logf("%s: killed after %s of %s", name, wait.Round(time.Millisecond), took.Round(time.Millisecond))
		return true
	case status.ExitStatus() != exitDone:
		k.Errorf("%s: %s", name, p.ProcessState)
	}
	k.took[name] = time.Since(start)
	return false
}

// same holds the database against the one that was loaded.
func (k *killed) same(after string) {
	k.Helper()
	if got := pgtest.Contents(k.T, k.target); !maps.Equal(got, k.fresh) {
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
// DS2_TEST_KILLS asks for another number of kills, DS2_TEST_SEED for other moments (`make kills`). Only a kill that a command did not
// forestall by its end counts.
func TestKilled(t *testing.T) {
	nightly.Only(t, "takes a minute")
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
	drive := func(out string) []string { return run("drive", out, "--run-time", "1s") }
	bench := func(out string) []string {
		return run("bench", out, "--run-time", "1s", "--runs", "2", "--settle", "0s", "--idle", "0s", "--cooldown", "0s", "--keep-faulty")
	}
	one := func(args ...string) []string { return append(args, "--target", k.target) }
	k.ds2(load()...)
	defer func() {
		k.ds2(one("snapshot", "drop")...)
		db, err := sql.Open("pgx", pgtest.Server(t).URL("postgres"))
		require.NoError(t, err)
		defer db.Close()
		u, _ := url.Parse(k.target)
		if _, err := db.Exec("DROP DATABASE " + u.Path[1:] + " WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	}()
	k.fresh = pgtest.Contents(t, k.target)
	dir := t.TempDir()
	commands := []string{"load", "drive", "bench", "snapshot", "reset", "verify"}
	hits := map[string]int{}
	// A command is left to come to its end at first, so that it is known how long it takes, and where it was quicker than then.
	hit := 0
	for try := 0; hit < kills && try < 2*kills+2*len(commands); try++ {
		out := filepath.Join(dir, strconv.Itoa(try))
		command, was := commands[hit%len(commands)], false
		switch command {
		case "load":
			was = k.kill(command, load("--drop")...)
			// A load that was killed before it had dropped anything, or at its very end, leaves nothing to resume.
			if code, _, stderr := execute(t, load("--resume")...); code != exitDone && !strings.Contains(stderr, "there is nothing to resume") {
				t.Errorf("resume: exit %d, %s", code, stderr)
			}
		case "drive":
			was = k.kill(command, drive(out)...)
			k.readable(out, false)
			k.ds2(one("reset")...)
		case "bench":
			was = k.kill(command, bench(out)...)
			k.readable(out, false)
			if was {
				k.ds2(bench(out)...)
			}
			k.readable(out, true)
			k.ds2(one("reset")...)
		case "snapshot":
			k.ds2(one("snapshot", "create")...)
			was = k.kill(command, one("snapshot", "create")...)
			k.ds2(drive(out)...)
			k.ds2(one("snapshot", "restore")...) // the older copy or the new one: they hold the same
			k.same("a snapshot that was killed")
			k.ds2(one("snapshot", "create")...)
			if got := k.databases(); !slices.Equal(got, []string{"", "_ds2_snapshot"}) {
				t.Errorf("databases %q are there, want one and its copy", got)
			}
		case "reset":
			k.ds2(drive(out)...)
			was = k.kill(command, one("reset")...)
			k.ds2(one("reset")...)
		case "verify":
			was = k.kill(command, one("verify", "--quiet")...)
			k.ds2(one("verify", "--quiet")...)
		}
		if was {
			hit++
			hits[command]++
		}
		k.same(fmt.Sprintf("kill %d", hit))
		require.False(t, t.Failed(), "kill %d of seed %d", hit, seed)
	}
	t.Logf("killed %v", hits)
	assert.GreaterOrEqual(t, hit, kills, "kills")
}
