package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/promtest"
	"ds2/internal/store"
	"ds2/internal/texttest"
)

// found is what a line is about, and how it is.
var found = regexp.MustCompile(`(?m)^\w+ +[^:]+`)

// TestPreflight has things go wrong one by one, and asks before the run.
func TestPreflight(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, localpg.Options{Settings: map[string]string{"fsync": "off"}}) // whose slots nobody else takes
	target, empty, larger := server.URL("ds2"), server.URL("postgres"), server.URL("larger")
	must(t, "load", "--target", target, "--size", "1MB", "--quiet")
	must(t, "load", "--target", larger, "--size", "2MB", "--quiet")
	db := openDB(t, target)
	pgtest.Exec(t, db, "CREATE ROLE few LOGIN PASSWORD 'x' CONNECTION LIMIT 5", "CREATE ROLE poor LOGIN PASSWORD 'x'",
		"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO few", "GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO few",
		"GRANT SELECT ON ds2_info TO poor")
	few, poor := pgtest.As(t, target, "few", "x"), pgtest.As(t, target, "poor", "x")
	exporter := "http://" + promtest.StartNodeExporter(t) + "/metrics"
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	full := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(full, "summary.json"), []byte("{}"), 0o644))
	out := filepath.Join(t.TempDir(), "out")
	fine := []string{"--metrics-addr", "", "--out", out}

	log := filepath.Join(t.TempDir(), "server.log")
	require.NoError(t, os.WriteFile(log, nil, 0o644))
	replay := append([]string{"--replay", "10MB", "--server-log", log, "--kill-command", "false", "--start-command", "false"}, fine...)

	for _, c := range []struct {
		why  string
		args []string
		code int
		want []string // lines begin so, and hold what follows
	}{
		{"nothing is wrong", append([]string{"--target", target, "--threads", "4", "--power", "echo 250", "--exporter", exporter}, fine...), exitDone, []string{
			"ok       database: |size 1MB, loaded to the end", "ok       memory: |of tables and indexes against", "ok       lock: no other ds2", "ok       version of |PostgreSQL", "ok       writable of ",
			"ok       connections of |6 are needed", "ok       rights of ", "ok       --power: answers", "ok       --exporter: |answers", "ok       counters: of the database machine",
			"ok       room on |MB are free", "ok       record: goes into " + out, "ok       open files: ", "warning  settings: |fsync is off",
		}},
		{"too few connections", append([]string{"--target", few, "--threads", "4"}, fine...), exitVerdict, []string{
			"FAILURE  connections of |the user may have 5|ALTER ROLE … CONNECTION LIMIT", "warning  counters of |pg_monitor|GRANT pg_monitor TO"}},
		{"more than the server has", append([]string{"--target", target, "--threads", "1000"}, fine...), exitVerdict, []string{"FAILURE  connections of |raise max_connections by "}},
		{"no rights", append([]string{"--target", poor, "--checkpoint-first"}, fine...), exitVerdict, []string{
			"FAILURE  rights of |may not read categories, cust_hist|GRANT SELECT", "FAILURE  --checkpoint-first: |GRANT pg_checkpoint TO"}},
		{"what reads beside the users and works after them", append([]string{"--target", target, "--scrub-rate", "1MB/s", "--copies", "2", "--debt", "--verify", "deep"}, fine...), exitDone, []string{
			"ok       --scrub-rate: the user may read the server's files of ", "ok       --copies: the user may read the log of ", "ok       --debt: ",
			"ok       --verify deep: the user may check every page of "}},
		{"no rights to that", append([]string{"--target", few, "--scrub-rate", "1MB/s", "--copies", "2", "--debt", "--verify", "deep"}, fine...), exitVerdict, []string{
			"FAILURE  --scrub-rate: |GRANT EXECUTE ON FUNCTION pg_read_binary_file", "FAILURE  --copies: |ALTER ROLE \"few\" REPLICATION", "FAILURE  --debt: |may not run a checkpoint",
			"FAILURE  --verify deep: |permission denied to create extension"}},
		{"a replay test", append([]string{"--target", target}, replay...), exitDone, []string{"ok       --replay: the user may delay the checkpoints of "}},
		{"no rights to that", append([]string{"--target", few}, replay...), exitVerdict, []string{"FAILURE  --replay: |superuser"}},
		{"more copies than slots", append([]string{"--target", target, "--copies", "11"}, fine...), exitVerdict, []string{"FAILURE  --copies: |10, and 10 are in use; raise max_"}},
		{"nothing loaded", append([]string{"--target", empty}, fine...), exitVerdict, []string{"FAILURE  database: |ds2 load"}},
		{"another size", append([]string{"--target", target, "--size", "W"}, fine...), exitVerdict, []string{"FAILURE  database: |not W"}},
		{"two sizes", append([]string{"--target", target + ";" + larger, "--threads", "2"}, fine...), exitVerdict, []string{
			"FAILURE  database: |must be alike"}},
		{"no server", append([]string{"--target", "postgres://127.0.0.1:1/ds2"}, fine...), exitVerdict, []string{
			"FAILURE  database: ", "skipped  checks of 127.0.0.1:1/ds2: lock, |rights, connections",
			"failed 1, warnings 0, passed 1, not checked 9, which take what failed"}},
		{"nobody answers, and there is no place", []string{"--target", target, "--exporter", "http://127.0.0.1:1/metrics", "--power", "exit 3", "--devices", "nosuch",
			"--pushgateway", "http://127.0.0.1:1", "--metrics-addr", taken.Addr().String(), "--out", full}, exitVerdict, []string{
			"FAILURE  --exporter: |refused", "FAILURE  --power: |exit status 3", "FAILURE  --devices: |nosuch", "FAILURE  --pushgateway: ", "FAILURE  port: |--metrics-addr", "FAILURE  record: |is not empty"}},
		{"a flag that makes no run", append([]string{"--target", target, "--threads", "0"}, fine...), exitUsage, nil},
	} {
		code, stdout, stderr := execute(t, append([]string{"preflight"}, c.args...)...)
		if code != c.code {
			t.Errorf("%s: exit %d, want %d\n%s%s", c.why, code, c.code, stdout, stderr)
			continue
		}
		for _, want := range c.want {
			parts := strings.Split(want, "|")
			seen := false
			for line := range strings.SplitSeq(stdout, "\n") {
				all := strings.HasPrefix(line, parts[0])
				for _, part := range parts[1:] {
					all = all && strings.Contains(line, part)
				}
				seen = seen || all
			}
			assert.True(t, seen, "%s: no line %q in\n%s", c.why, want, stdout)
		}
	}
	if _, err := os.Stat(out); !os.IsNotExist(err) {
		t.Errorf("the preflight made the directory of the record: %v", err)
	}

	// What cannot be observed for one reason is told once.
	for why, c := range map[string]struct {
		args []string
		want string
	}{
		"a missing right":                     {[]string{"--target", few}, `on which drives and with how much room, nor what other sessions do; GRANT pg_monitor TO "few"`},
		"a missing right, beside an exporter": {[]string{"--target", few, "--exporter", exporter}, "pg_monitor"},
		"an exporter that knows no files":     {[]string{"--target", target, "--exporter", exporter}, "which drives hold the data and the log, of "},
	} {
		_, stdout, _ := execute(t, slices.Concat([]string{"preflight", "--threads", "2"}, c.args, fine)...)
		lines := regexp.MustCompile(`(?m)^warning  (counters|room).*$`).FindAllString(stdout, -1)
		if len(lines) != 1 || !strings.Contains(lines[0], c.want) {
			t.Errorf("%s: %q, want one line with %q", why, lines, c.want)
		}
	}

	findings := decoded[[]store.Finding](t, "preflight", "--target", target, "--metrics-addr", "", "--out", out, "--output", "json")
	if len(findings) < 8 || findings[0].What != "database" || findings[0].State != store.OK {
		t.Errorf("as JSON: %+v", findings)
	}

	// A run's own check is the same, and makes no run.
	alike := append([]string{"--target", target, "--threads", "4"}, fine...)
	preflight := found.FindAllString(must(t, append([]string{"preflight"}, alike...)...), -1)
	assert.Equal(t, preflight, found.FindAllString(must(t, append([]string{"drive", "--check"}, alike...)...), -1))

	// So is that of an experiment, of each configuration; what they have in common is told once.
	file := filepath.Join(t.TempDir(), "arrays.yaml")
	text := fmt.Sprintf("metrics-addr: ''\nthreads: 4\nconfigurations:\n  good: {target: '%s'}\n  bad: {target: '%s'}\n  worse: {target: '%s', exporter: 'http://127.0.0.1:1/metrics'}\n", target, empty, target)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	code, stdout, stderr := execute(t, "preflight", file)
	if code != exitVerdict || strings.Count(stdout, "ok       version of ") != 1 || !strings.Contains(stdout, "FAILURE  database: ") || !strings.Contains(stdout, "FAILURE  --exporter: ") {
		t.Errorf("a file: exit %d\n%s%s", code, stdout, stderr)
	}

	// The run itself says it too.
	_, _, stderr = execute(t, "drive", "--target", few, "--threads", "4", "--ramp-rate", "1000", "--warmup-time", "0", "--run-time", "1s", "--max-retries", "1", "--verify", "none",
		"--metrics-addr", "", "--out", out)
	texttest.Contains(t, stderr, "warning: connections of ", "CONNECTION LIMIT")

	// What cannot be done after it is refused before it.
	out = filepath.Join(t.TempDir(), "deep")
	code, _, stderr = execute(t, "drive", "--target", few, "--run-time", "1s", "--warmup-time", "0", "--verify", "deep", "--metrics-addr", "", "--out", out)
	if _, err := os.Stat(out); code != exitFailed || !strings.Contains(stderr, "permission denied to create extension") || !os.IsNotExist(err) {
		t.Errorf("ds2 drive --verify deep: exit %d, record %v\n%s", code, err, stderr)
	}

	pgtest.Exec(t, db, "ALTER DATABASE ds2 SET default_transaction_read_only = on")
	code, stdout, stderr = execute(t, append([]string{"preflight", "--target", target}, fine...)...)
	if code != exitVerdict || !strings.Contains(stdout, "FAILURE  writable of ") {
		t.Errorf("read-only: exit %d\n%s%s", code, stdout, stderr)
	}
}
