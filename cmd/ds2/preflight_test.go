package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/preflight"
	"ds2/internal/promtest"
	"ds2/internal/result"
	"ds2/internal/texttest"
)

// found is what a line is about, and how it is.
var found = regexp.MustCompile(`(?m)^\w+ +[^:]+`)

// TestPreflight has things go wrong one by one, and asks before the run.
func TestPreflight(t *testing.T) {
	t.Parallel()
	// Whose slots no one else takes.
	server := pgtest.Start(t, localpg.Options{Settings: map[string]string{
		"fsync": "off", "wal_level": "logical", "max_prepared_transactions": "2",
	}})
	target := server.URL("ds2")
	empty := server.URL("postgres")
	larger := server.URL("larger")
	must(t, "load", "--target", target, "--size", "1MB", "--quiet")
	must(t, "load", "--target", larger, "--size", "2MB", "--quiet")
	db := pgtest.DB(t, target)
	ofLibpq := strings.Replace(
		target,
		"postgres://",
		"postgresql://",
		1,
	) + "?gssencmode=disable&keepalives_idle=9"
	second := strings.Replace(target, "127.0.0.1", "localhost", 1)
	pgtest.Exec(
		t,
		db,
		"CREATE ROLE few LOGIN PASSWORD 'x' CONNECTION LIMIT 5",
		"CREATE ROLE poor LOGIN PASSWORD 'x'",
		"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO few",
		"GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO few",
		"GRANT SELECT ON ds2_info TO poor",
		"CREATE ROLE other",
		"GRANT CREATE ON SCHEMA public TO other",
		"CREATE TABLE others (x int)",
		"CREATE FUNCTION others() RETURNS int LANGUAGE sql AS 'SELECT 1'",
		"ALTER TABLE others OWNER TO other",
		"ALTER FUNCTION others() OWNER TO other",
		"REVOKE EXECUTE ON FUNCTION others() FROM PUBLIC",
	)
	few := pgtest.As(t, target, "few", "x")
	poor := pgtest.As(t, target, "poor", "x")
	exporter := "http://" + promtest.StartNodeExporter(t) + "/metrics"
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	full := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(full, "summary.json"), []byte("{}"), 0o644))
	out := filepath.Join(t.TempDir(), "out")
	fine := " --details --metrics-addr '' --out " + out
	const beside = " --scrub-rate 1MB/s --verify deep"

	for _, c := range []struct {
		why  string
		args string // of which the first is the target
		code int
		want []string // lines begin so, and hold what follows
	}{
		{
			"nothing is wrong", ofLibpq + " --threads 4 --power 'echo 250' --exporter " + exporter + fine, exitDone,
			[]string{
				"ok       database: |size 1MB, completely loaded", "warning  reads: |fits into|--server-memory",
				"ok       lock: no other ds2", "ok       version of |PostgreSQL", "ok       writable of ",
				"ok       connections of |6 needed", "ok       rights of ", "ok       --power: answers",
				"ok       --exporter: |answers", "ok       counters: database host",
				"ok       room on |B are free",
				"ok       record: goes into " + out, "ok       open files: ", "warning  settings: |fsync is off",
			},
		},
		{
			"just enough connections, and a table that is none of the workload's", few + " --threads 3" + fine, exitDone,
			[]string{"ok       connections of |5 needed, 5 free", "ok       rights of "},
		},
		{"too few connections", few + " --threads 4" + fine, exitVerdict, []string{
			"FAILURE  connections of |the user may have 5|ALTER ROLE … CONNECTION LIMIT",
			"warning  counters of |pg_monitor|GRANT pg_monitor TO",
		}},
		{"more than the server has", target + " --threads 1000" + fine, exitVerdict, []string{
			"FAILURE  connections of |raise max_connections by ",
		}},
		{"no rights", poor + " --checkpoint-first" + fine, exitVerdict, []string{
			"FAILURE  rights of |may not read categories, cust_hist|GRANT SELECT",
			"FAILURE  --checkpoint-first: |GRANT pg_checkpoint TO",
		}},
		{"what reads beside the users and after them", target + beside + fine, exitDone, []string{
			"ok       --scrub-rate: the user may read the server's files of ",
			"ok       --verify deep: the user may check every page of ",
		}},
		{"no rights to that", few + beside + fine, exitVerdict, []string{
			"FAILURE  --scrub-rate: |GRANT EXECUTE ON FUNCTION pg_read_binary_file",
			"FAILURE  --verify deep: |CREATE EXTENSION amcheck",
		}},
		{"nothing loaded", empty + fine, exitVerdict, []string{"FAILURE  database: |ds2 load"}},
		{
			"another size", target + " --size W" + fine, exitVerdict,
			[]string{"FAILURE  database: |not W"},
		},
		{
			"two sizes", target + ";" + larger + " --threads 2" + fine, exitVerdict,
			[]string{"FAILURE  database: |must be alike"},
		},
		{"one database twice", target + ";" + second + fine, exitUsage, nil},
		{"no server", "postgres://127.0.0.1:1/ds2" + fine, exitVerdict, []string{
			"FAILURE  database: ", "skipped  checks of 127.0.0.1:1/ds2: lock, |rights, connections",
			"1 failure, 0 warnings, 1 check passed, 8 skipped that depend on what failed",
		}},
		{
			"nothing answers, and there is no place", target + " --exporter http://127.0.0.1:1/metrics --power 'exit 3' " +
				"--devices nosuch --pushgateway http://127.0.0.1:1 --metrics-addr " + taken.Addr().String() + " --out " +
				full,
			exitVerdict,
			[]string{
				"FAILURE  --exporter: |refused", "FAILURE  --power: |exit status 3",
				"FAILURE  --devices: |nosuch", "FAILURE  --pushgateway: ", "FAILURE  port: |--metrics-addr",
				"FAILURE  record: |is not empty",
			},
		},
		{"a flag that makes no run", target + " --threads 0" + fine, exitUsage, nil},
	} {
		stdout, _ := ends(t, c.code, words("preflight --target %s", c.args)...)
		for _, want := range c.want {
			line := "(?m)^" + strings.ReplaceAll(regexp.QuoteMeta(want), `\|`, ".*")
			assert.Regexp(t, line, stdout, c.why)
		}
	}
	assert.NoDirExists(t, out, "the preflight made the directory of the record")

	// What cannot be observed for one reason is told once.
	for why, c := range map[string]struct{ args, want string }{
		"a missing right": {
			few,
			`free space and other sessions are hidden; GRANT pg_monitor TO "few"`,
		},
		"a missing right, beside an exporter": {few + " --exporter " + exporter, "pg_monitor"},
		"an exporter that knows no files": {
			target + " --exporter " + exporter,
			"which drives hold the data and the log, of ",
		},
	} {
		_, stdout, _ := execute(t, words("preflight --threads 2 --target %s%s", c.args, fine)...)
		lines := regexp.MustCompile(`(?m)^warning  (counters|room).*$`).FindAllString(stdout, -1)
		assert.True(t, len(lines) == 1 && strings.Contains(lines[0], c.want),
			"%s: %q, want one line with %q", why, lines, c.want)
	}

	findings := decoded[[]preflight.Finding](
		t, words("preflight --target %s --output json%s", target, fine)...)
	kinds := map[preflight.Kind]preflight.State{}
	for _, f := range findings {
		kinds[f.Kind] = f.State
	}
	assert.Equal(t, preflight.OK, kinds[preflight.Loaded], "as JSON: %+v", findings)
	for kind, state := range map[preflight.Kind]preflight.State{
		"version": preflight.OK, "connections": preflight.OK, "rights": preflight.OK,
		"schema changed": preflight.Warning, "distorted": preflight.Warning,
	} {
		assert.Equal(t, state, kinds[kind], "as JSON: %s of %+v", kind, findings)
	}
	assert.NotContains(t, kinds, preflight.Kind(""), "as JSON: %+v", findings)

	// A run's own check is the same, and makes no run.
	asked := func(command string) []string {
		return found.FindAllString(
			must(t, words("%s --target %s --threads 4%s", command, target, fine)...),
			-1,
		)
	}
	assert.Equal(t, asked("preflight"), asked("drive --check"))

	// So is that of an experiment, of each configuration; what they have in common is told once.
	stdout, _ := ends(
		t,
		exitVerdict,
		"preflight",
		"--details",
		textFile(t, "arrays.yaml", fmt.Sprintf(`
metrics-addr: ''
threads: 4
configurations:
  good: {target: %q}
  bad: {target: %q}
  worse: {target: %[1]q, exporter: 'http://127.0.0.1:1/metrics'}
`, target, empty)),
	)
	assert.Equal(t, 1, strings.Count(stdout, "ok       version of "), stdout)
	texttest.Contains(t, stdout, "FAILURE  database: ", "FAILURE  --exporter: ")

	// What stands in the way is told, or ends the run before its first user.
	none := filepath.Join(t.TempDir(), "none")
	db.SetMaxOpenConns(1)
	for _, c := range []struct {
		why, begin, end string
		target          string
		failure         bool
		says            string
	}{
		{"too few connections", "", "", few, true, "connections of "},
		{
			"a server that takes no changes", "ALTER DATABASE ds2 SET default_transaction_read_only = on",
			"ALTER DATABASE ds2 RESET default_transaction_read_only", target, true, "writable of ",
		},
		{
			"no standby", "ALTER DATABASE ds2 SET synchronous_commit = on; " +
				"ALTER SYSTEM SET synchronous_standby_names = '*'; SELECT pg_reload_conf()",
			"ALTER SYSTEM RESET synchronous_standby_names; SELECT pg_reload_conf()", target, true,
			"no standby is connected",
		},
		{
			"hidden rows", "ALTER TABLE customers ENABLE ROW LEVEL SECURITY",
			"ALTER TABLE customers DISABLE ROW LEVEL SECURITY",
			few, true, "row security of ",
		},
		{
			"a prepared transaction", "BEGIN;LOCK TABLE products IN SHARE MODE;PREPARE TRANSACTION 'forgotten'",
			"ROLLBACK PREPARED 'forgotten'", target, false, "'forgotten' of ",
		},
		{
			"a publication", "CREATE PUBLICATION all_of_it FOR ALL TABLES", "DROP PUBLICATION all_of_it", target, false,
			"have no replica identity",
		},
		{
			"no triggers", "ALTER DATABASE ds2 SET session_replication_role = replica",
			"ALTER DATABASE ds2 RESET session_replication_role", target, true,
			"session_replication_role is replica",
		},
		{
			"a disabled trigger", "ALTER TABLE inventory DISABLE TRIGGER ds2_restock",
			"ALTER TABLE inventory ENABLE TRIGGER ds2_restock", target, false,
			"trigger ds2_restock of inventory is ",
		},
		{
			"a time limit", "ALTER DATABASE ds2 SET lock_timeout = '1h'",
			"ALTER DATABASE ds2 RESET lock_timeout", target, false, "lock_timeout is 3600000 ms",
		},
		{
			"an earlier run", "INSERT INTO orders SELECT orderid + 1000, orderdate, customerid, netamount, tax, " +
				"totalamount FROM orders WHERE orderid > 1000", "DELETE FROM orders WHERE orderid > 1200", target, false,
			"orders beyond the load; ds2 reset removes them",
		},
		{
			"a slot", "SELECT pg_create_logical_replication_slot('reader', 'pgoutput')",
			"SELECT pg_drop_replication_slot('reader')", target, false, "logical slots of this database",
		},
	} {
		pgtest.Exec(t, db, strings.Split(c.begin, "; ")...)
		if c.failure {
			fails(
				t,
				exitFailed,
				c.says,
				quick("drive", c.target, "--threads 4 --run-time 1s --out %s", none)...)
			assert.NoDirExists(t, none, c.why)
		}
		stdout, _ := ends(t, map[bool]int{true: exitVerdict, false: exitDone}[c.failure],
			words("preflight --target %s --threads 4%s", c.target, fine)...)
		assert.Contains(t, stdout, c.says, c.why)
		pgtest.Exec(t, db, strings.Split(c.end, "; ")...)
	}

	// What cannot be done after it is refused before it.
	out = filepath.Join(t.TempDir(), "deep")
	fails(
		t,
		exitFailed,
		"CREATE EXTENSION amcheck",
		words(
			"drive --target %s --run-time 1s --warmup-time 0 --verify deep --metrics-addr '' --out %s",
			few,
			out,
		)...)
	assert.NoDirExists(t, out)
}

// TestPooler has a pooler between a run and its server.
func TestPooler(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		t.Skip("pgbouncer is not installed")
	}
	target := mustParse(t, loaded(t))
	for mode, want := range map[string]string{
		"transaction": "FAILURE .*pooler",
		"session":     `(?s)FAILURE  users of \S+: \d of 12 connected at once; allow.*warning  pooler of `,
	} {
		pooled := *target
		// A port that no system gives away by itself: see localpg.
		pooled.Host = fmt.Sprintf("127.0.0.1:%d", 15000+rand.IntN(17000))
		password, _ := target.User.Password()
		users := textFile(t, "users.txt", fmt.Sprintf("%q %q\n", target.User.Username(), password))
		config := textFile(
			t,
			"pgbouncer.ini",
			fmt.Sprintf("[databases]\n* = host=%s port=%s\n[pgbouncer]\n"+
				"listen_addr = 127.0.0.1\nlisten_port = %s\nauth_type = plain\nauth_file = %s\npool_mode = %s\n"+
				"unix_socket_dir =\ndefault_pool_size = 8\n", target.Hostname(), target.Port(), pooled.Port(), users, mode),
		)
		c := exec.Command(program, "--user=nobody", config)
		if os.Geteuid() != 0 {
			c = exec.Command(program, config)
		}
		for _, file := range []string{config, users} {
			dir := filepath.Dir(file)
			require.NoError(t, errors.Join(os.Chmod(dir, 0o755), os.Chmod(filepath.Dir(dir), 0o755),
				os.Chmod(file, 0o644)))
		}
		require.NoError(t, c.Start())
		t.Cleanup(func() { c.Process.Kill(); c.Wait() })
		await(t, "pgbouncer", func() bool {
			conn, err := net.Dial("tcp", pooled.Host)
			if err == nil {
				conn.Close()
			}
			return err == nil
		})
		_, stdout, stderr := execute(
			t,
			words(
				"preflight --target %s --threads 12 --metrics-addr '' --out none",
				pooled.String(),
			)...)
		assert.Regexp(t, want, stdout, "%s: %s", mode, stderr)
	}
}

// TestWarningsOfStart: what a run warns of at its start, its record has as findings, in the same
// words and with their kinds.
func TestWarningsOfStart(t *testing.T) {
	t.Parallel()
	target := loaded(t)
	more := "--run-time 1s --verify none --output json --out %s"
	out := filepath.Join(t.TempDir(), "out")
	stdout, stderr := ends(t, exitDone, quick("drive", target, more, out)...)
	var s result.Summary
	require.NoError(t, json.Unmarshal([]byte(stdout), &s))
	kinds := map[result.FindingKind]bool{}
	for _, f := range s.Cautions {
		kinds[f.Kind] = true
		assert.Contains(t, stderr, "warning: "+f.Words()+"\n")
		assert.Equal(t, s.Targets[0], f.Of)
	}
	assert.True(t, kinds[result.MemoryHoldsIt] && kinds[result.Distorted], "%+v", s.Cautions)
}
