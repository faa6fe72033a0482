package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
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

// kill runs a command in a process of its own and kills that at a random moment of the time that it takes; false where
// it came to its end before.
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
	got := pgtest.Contents(k.T, k.target)
	assert.True(k, maps.Equal(got, k.fresh), "after %s:\n%v\nafter the load:\n%v", after, got, k.fresh)
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
			must(k.T, "report", filepath.Dir(path))
		}
		return nil
	})
	assert.NoError(k, err)
}

// databases are what stands behind the target's name in the names of the server's databases that begin with it.
func (k *killed) databases() string {
	k.Helper()
	return pgtest.Value[string](k.T, openDB(k.T, pgtest.Server(k.T).URL("postgres")), fmt.Sprintf(
		`SELECT string_agg(substr(datname, length('%s') + 1), ' ' ORDER BY datname) FROM pg_database
		WHERE starts_with(datname, '%[1]s')`, mustParse(k.T, k.target).Path[1:]))
}

// TestKilled kills ds2 itself with SIGKILL at random moments of its commands. Every record can be read, what is resumed
// or done again comes out exactly as if nothing had been, and nothing stays that the next command does not find.
// DS2_TEST_KILLS asks for another number of kills, DS2_TEST_SEED for other moments (`make kills`). Only a kill that a
// command did not forestall by its end counts.
func TestKilled(t *testing.T) {
	nightly.Only(t, "takes a minute")
	kills, err := strconv.Atoi(os.Getenv("DS2_TEST_KILLS"))
	if err != nil {
		kills = 6
	}
	seed, _ := strconv.ParseUint(os.Getenv("DS2_TEST_SEED"), 10, 64)
	target := pgtest.Server(t).URL(fmt.Sprintf("killed%d", seed))
	k := &killed{T: t, random: rand.New(rand.NewPCG(seed, 21)), target: target, took: map[string]time.Duration{}}
	load := func(more string) []string {
		return words("load --target %s --size 1MB --parallel 2 --quiet %s", target, more)
	}
	drive := func(out string) []string { return quick("drive", target, "--run-time 1s --quiet --out %s", out) }
	bench := func(out string) []string {
		return quick("bench", target, "--run-time 1s --runs 2 --settle 0s --idle 0s --cooldown 0s "+
			"--quiet --out %s", out)
	}
	one := func(args ...string) []string { return append(args, "--target", target) }
	must(t, load("")...)
	defer func() {
		must(t, one("snapshot", "drop")...)
		database := mustParse(t, target).Path[1:]
		pgtest.Exec(t, openDB(t, pgtest.Server(t).URL("postgres")), "DROP DATABASE "+database+" WITH (FORCE)")
	}()
	k.fresh = pgtest.Contents(t, k.target)
	dir := t.TempDir()
	commands := []string{"load", "drive", "bench", "snapshot", "reset", "verify"}
	hits := map[string]int{}
	// A command is left to come to its end at first, so that it is known how long it takes, and where it was quicker
	// than then.
	hit := 0
	for try := 0; hit < kills && try < 2*kills+2*len(commands); try++ {
		out := filepath.Join(dir, strconv.Itoa(try))
		command, was := commands[hit%len(commands)], false
		switch command {
		case "load":
			was = k.kill(command, load("--drop")...)
			// A load that was killed before it had dropped anything, or at its very end, leaves nothing to resume.
			code, _, stderr := execute(t, load("--resume")...)
			assert.True(t, code == exitDone || strings.Contains(stderr, "there is nothing to resume"),
				"exit %d, %s", code, stderr)
		case "drive":
			was = k.kill(command, drive(out)...)
			k.readable(out, false)
			must(t, one("reset")...)
		case "bench":
			was = k.kill(command, bench(out)...)
			k.readable(out, false)
			if was {
				must(t, bench(out)...)
			}
			k.readable(out, true)
			must(t, one("reset")...)
		case "snapshot":
			must(t, one("snapshot", "create")...)
			was = k.kill(command, one("snapshot", "create")...)
			must(t, drive(out)...)
			must(t, one("snapshot", "restore")...) // the older copy or the new one: they hold the same
			k.same("a snapshot that was killed")
			must(t, one("snapshot", "create")...)
			assert.Equal(t, " _ds2_snapshot", k.databases(), "want one and its copy")
		case "reset":
			must(t, drive(out)...)
			was = k.kill(command, one("reset")...)
			must(t, one("reset")...)
		case "verify":
			was = k.kill(command, one("verify", "--quiet")...)
			must(t, one("verify", "--quiet")...)
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
