package main

import (
	"errors"
	"fmt"
	"io/fs"
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

// killed is a test that kills commands.
type killed struct {
	*testing.T
	random *rand.Rand
	// how long each command took that came to its end, in a separate process
	took map[string]time.Duration
}

// kill runs a command in a separate process and kills that at a random moment of the time that it
// takes; false where it came to its end before.
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
		k.Logf(
			"%s: killed after %s of %s",
			name,
			wait.Round(time.Millisecond),
			took.Round(time.Millisecond),
		)
		return true
	case status.ExitStatus() != exitDone:
		k.Errorf("%s: %s", name, p.ProcessState)
	}
	k.took[name] = time.Since(start)
	return false
}

// readable reads each record below a directory, whatever a kill left of it, and looks for files
// that are never removed.
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

// TestKilled kills ds2 itself with SIGKILL at random moments of its commands. Every record can be
// read, what is resumed or done again comes out exactly as if nothing had been, and nothing stays
// that the next command does not find. DS2_TEST_KILLS asks for another number of kills,
// DS2_TEST_SEED for other moments (`make kills`). Only a kill that a command did not forestall by
// its end counts.
func TestKilled(t *testing.T) {
	nightly.Only(t, "takes a minute")
	kills, err := strconv.Atoi(os.Getenv("DS2_TEST_KILLS"))
	if err != nil {
		kills = 6
	}
	seed, _ := strconv.ParseUint(os.Getenv("DS2_TEST_SEED"), 10, 64)
	database := fmt.Sprintf("killed%d", seed)
	target := pgtest.Server(t).URL(database)
	admin := pgtest.DB(t, pgtest.Server(t).URL("postgres"))
	k := &killed{T: t, random: rand.New(rand.NewPCG(seed, 21)), took: map[string]time.Duration{}}
	const (
		load  = "load --size 1MB --parallel 2"
		run   = " --threads 2 --ramp-rate 100 --warmup-time 0 --metrics-addr '' --run-time 1s --out OUT"
		drive = "drive" + run
		bench = "bench --runs 2 --settle 0s --idle 0s --cooldown 0s" + run
	)
	line := func(text, out string) []string {
		return words("%s --quiet --target %s", strings.ReplaceAll(text, "OUT", out), target)
	}
	must(t, line(load, "")...)
	defer func() {
		must(t, line("snapshot drop", "")...)
		pgtest.Exec(t, admin, "DROP DATABASE "+database+" WITH (FORCE)")
	}()
	fresh := pgtest.Contents(t, target)
	dir := t.TempDir()
	commands := []struct {
		name, killed  string
		before, after []string
	}{
		{"load", load + " --drop", nil, nil},
		{"drive", drive, nil, []string{"reset"}},
		{"bench", bench, nil, []string{bench, "reset"}},
		// What is restored is the older copy or the new one: they hold the same.
		{
			"snapshot", "snapshot create",
			[]string{"snapshot create"},
			[]string{drive, "snapshot restore", "snapshot create"},
		},
		{"reset", "reset", []string{drive}, []string{"reset"}},
		{"verify", "verify", nil, []string{"verify"}},
	}
	hits := map[string]int{}
	// A command is left to come to its end at first, so that it is known how long it takes, and
	// where it was quicker than then.
	hit := 0
	for try := 0; hit < kills && try < 2*kills+2*len(commands); try++ {
		out := filepath.Join(dir, strconv.Itoa(try))
		c := commands[hit%len(commands)]
		for _, text := range c.before {
			must(t, line(text, out+"-before")...)
		}
		if k.kill(c.name, line(c.killed, out)...) {
			hit++
			hits[c.name]++
		}
		k.readable(out, false)
		if c.name == "load" {
			// One that was killed before it had dropped anything, or at its very end, leaves
			// nothing to resume.
			code, _, stderr := execute(t, line(load+" --resume", out)...)
			assert.True(
				t,
				code == exitDone || strings.Contains(stderr, "there is nothing to resume"),
				"exit %d, %s",
				code,
				stderr,
			)
		}
		for _, text := range c.after {
			must(t, line(text, out)...)
		}
		k.readable(out, c.name == "bench")
		if c.name == "snapshot" {
			names := pgtest.Value[string](
				t,
				admin,
				fmt.Sprintf(`SELECT string_agg(datname, ' ' ORDER BY datname)
				FROM pg_database WHERE starts_with(datname, '%s')`, database),
			)
			assert.Equal(t, database+" "+database+"_ds2_snapshot", names, "want one and its copy")
		}
		assert.Equal(t, fresh, pgtest.Contents(t, target), "kill %d of %s", hit, c.name)
		require.False(t, t.Failed(), "kill %d of seed %d", hit, seed)
	}
	t.Logf("killed %v", hits)
	assert.GreaterOrEqual(t, hit, kills, "kills")
}
