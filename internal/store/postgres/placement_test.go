package postgres_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/load"
	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
	"ds2/internal/storetest"
	"ds2/internal/texttest"
	"ds2/schema"
)

// serverDirectory is an empty directory that the test server may make a tablespace in.
func serverDirectory(t *testing.T) string {
	t.Helper()
	directory, err := os.MkdirTemp("", "ds2-tablespace-")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(directory) })
	giveTo(t, pgtest.Server(t).DataDir(), directory)
	return directory
}

// giveTo gives a file to the owner of a reference, where root runs the test: the server is then
// another user's.
func giveTo(t *testing.T, reference, path string) {
	t.Helper()
	if os.Getuid() == 0 {
		out, err := exec.Command("chown", "--reference="+reference, path).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
}

func TestPlacement(t *testing.T) {
	t.Parallel()
	data := serverDirectory(t)
	indexes := serverDirectory(t)
	s := open(t, pgtest.Database(t))
	admin := open(t, pgtest.Server(t).URL("postgres"))
	options := storetest.Loading(t, small, 0)
	options.Schema = schema.Params{DataTablespace: data, IndexTablespace: indexes}
	t.Cleanup(func() {
		pgtest.Exec(t, admin.DB(), "DROP DATABASE "+s.Name()+" WITH (FORCE)",
			"DROP TABLESPACE "+spaceOf(data), "DROP TABLESPACE "+spaceOf(indexes))
	})
	for range 2 { // the second time the tablespaces are there
		_, err := load.Run(t.Context(), s, options)
		require.NoError(t, err)
		options.Drop = true
	}
	placed, err := s.Placement(t.Context())
	require.NoError(t, err)
	seen := map[string]bool{}
	for i, p := range placed {
		seen[p.Name] = true
		want := data
		if p.Kind == "index" {
			want = indexes
		}
		assert.Contains(t, p.Place, want, "%s %s lies", p.Kind, p.Name)
		assert.LessOrEqual(
			t,
			p.Bytes,
			placed[max(i-1, 0)].Bytes,
			"%s comes after a smaller one",
			p.Name,
		)
	}
	for _, name := range []string{"customers", "customers_pkey", "ix_prod_title", "inventory"} {
		assert.True(t, seen[name], "%s is not listed", name)
	}
}

// spaceOf is the name of the tablespace that is made of a directory.
func spaceOf(directory string) string {
	return "ds2" + strings.NewReplacer("/", "_", "-", "_").Replace(directory)
}

func TestPlacementErrors(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Database(t))
	for place, says := range map[string]string{
		"nosuch":            "CREATE TABLESPACE",
		"/nosuch/directory": "empty directory on the server",
		"/no'quote/fol;d":   "empty directory on the server",
	} {
		_, err := s.Adapt(t.Context(), &schema.Params{IndexTablespace: place})
		refused(t, err, store.Config, says)
	}
}

func TestAdvice(t *testing.T) {
	s := open(t, pgtest.Database(t)) // of a server with fsync off
	for _, test := range []struct {
		options string
		run     time.Duration
		memory  int64
		says    []string
		not     []string
	}{
		{
			"", 0, 0,
			[]string{"fits into the memory that the server counts on", "fsync is off"},
			[]string{"checkpoint_timeout", "synchronous_commit"},
		},
		{
			"-c synchronous_commit=off -c effective_cache_size=8kB", time.Minute, 0,
			[]string{
				"synchronous_commit is off", "checkpoint_timeout is 5min and the run lasts 60 s",
			},
			[]string{"full_page_writes"},
		},
		{"", time.Hour, 0, nil, []string{"checkpoint_timeout", "the server's default"}},
		{
			"-c default_transaction_isolation=serializable -c enable_indexscan=off -c jit_above_cost=0", time.Hour, 0,
			[]string{"default_transaction_isolation is serializable, enable_indexscan is off, " +
				"jit_above_cost is 0, which"},
			nil,
		},
		{
			"-c log_statement=all -c log_min_duration_statement=0 -c track_counts=off -c track_activities=off",
			time.Hour, 1e6,
			[]string{
				"log_min_duration_statement is 0, log_statement is all: the server writes a line",
				"track_counts is off", "track_activities is off",
			},
			nil,
		},
		{"", time.Hour, 64e9, []string{"fits into the 64.0 GB of memory"}, nil},
		{"", time.Hour, 1e6, nil, []string{"fits", "log_", "track_"}},
	} {
		options := strings.NewReplacer(" ", "%20", "=", "%3D").Replace(test.options)
		target := pgtest.Server(t).URL(s.Name()) + "?options=" + options
		reads, advice, err := open(t, target).Advise(t.Context(), test.run, test.memory)
		require.NoError(t, err)
		all := strings.Join(append(advice, reads), "\n")
		texttest.Contains(t, all, test.says...)
		for _, not := range test.not {
			assert.NotContains(
				t,
				all,
				not,
				"options %q, run %s: advice that",
				test.options,
				test.run,
			)
		}
	}
}

// TestAdviceDirect asks a server that reads past the kernel's cache, in which a database larger
// than its own does not fit.
func TestAdviceDirect(t *testing.T) {
	settings := map[string]string{
		"debug_io_direct": "data",
		"shared_buffers":  "1MB",
		"fsync":           "off",
	}
	server, err := localpg.Start(
		t.Context(),
		localpg.Options{Version: pgtest.Version(t), Settings: settings},
	)
	if err != nil && strings.Contains(err.Error(), "debug_io_direct") {
		t.Skip("versions before 16 have no direct I/O")
	}
	require.NoError(t, err)
	defer server.Stop()
	reads, _, err := open(t, server.URL("postgres")).Advise(t.Context(), time.Hour, 64e9)
	assert.NoError(t, err)
	assert.Empty(t, reads, "with direct I/O")
}
