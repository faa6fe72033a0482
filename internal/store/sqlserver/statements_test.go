package sqlserver

import (
	"cmp"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var statementsFile = flag.String(
	"statements",
	"",
	"file to which TestStatements writes the statements that no file "+
		"of package schema has, to be parsed as T-SQL",
)

// TestStatements writes them.
func TestStatements(t *testing.T) {
	if *statementsFile == "" {
		return
	}
	values := map[string]string{
		"compatibility_level":             "160",
		"recovery_model_desc":             "FULL",
		"page_verify_option_desc":         "CHECKSUM",
		"delayed_durability_desc":         "ALLOWED",
		"target_recovery_time_in_seconds": "60",
		"containment_desc":                "NONE",
		"owner":                           "sa",
	}
	all := []string{}
	for _, o := range databaseOptions {
		all = append(all, o.statement("MAIL", cmp.Or(values[o.column], "true")))
	}
	all = append(
		all,
		askOptions,
		mayCheckpoint,
		ghostRecords,
		"DECLARE @p1 datetime, @p2 int;\n"+askErrorLines,
		"DECLARE @p1 datetime;\n"+askSuspectPages,
	)
	require.NoError(
		t,
		os.WriteFile(*statementsFile, []byte(strings.Join(all, "\nGO\n")+"\nGO\n"), 0o600),
	)
}
